//! One export to a file: pages in, bytes and checkpoints out.

use std::path::Path;
use std::process::ExitCode;

use sdk_core::{ErrorKind, Page, Pages, Record};

use crate::Failure;
use crate::encode::Encoder;
use crate::options::Options;
use crate::out::note;
use crate::progress::Progress;
use crate::stop::Stop;
use crate::target::{self, Found, Place, Target};

const GO_ON: &str = "the same command goes on from here";

pub(crate) struct Job {
    pages: Pages<Record>,
    encoder: Encoder,
    target: Target,
    progress: Progress,
    /// Pages from one checkpoint to the next.
    save_every: u32,
}

impl Job {
    /// An export that begins, or goes on where an earlier one stopped; `None` if that one was complete.
    pub(crate) fn open(
        file: &Path,
        pages: Pages<Record>,
        options: &Options,
    ) -> Result<Option<Self>, Failure> {
        let place = Place::claim(file)?;
        let found = if options.restart {
            Found::Nothing
        } else {
            place.look()?
        };
        let columns = options.columns.as_deref();
        let (pages, encoder, target) = match found {
            Found::Complete(saved) => {
                target::forget(file)?;
                let records = saved.checkpoint.delivered();
                note!("{} was complete: {records} records", file.display());
                return Ok(None);
            }
            Found::Interrupted(saved) => {
                let encoder = Encoder::for_file(file, columns, saved.columns.clone())?;
                let target = place.go_on(&saved)?;
                let pages = pages.resume(saved.checkpoint);
                note!("Going on after {} records.", pages.checkpoint().delivered());
                (pages, encoder, target)
            }
            Found::Nothing => {
                let encoder = Encoder::for_file(file, columns, None)?;
                (pages, encoder, place.begin()?)
            }
        };
        Ok(Some(Self {
            progress: Progress::new(options.list.name(), pages.checkpoint().delivered()),
            pages,
            encoder,
            target,
            save_every: options.save_every,
        }))
    }

    /// Runs to the end, or until it is to stop. The exit status says which.
    pub(crate) async fn run(mut self, mut stop: Stop) -> Result<ExitCode, Failure> {
        let mut unsaved = 0;
        loop {
            // A walk may be cancelled between two of its pages: what it has under way is fetched again.
            let next = tokio::select! {
                biased;
                () = stop.heard() => {
                    self.save()?;
                    self.progress.stopped(GO_ON);
                    return Ok(stop.status());
                }
                next = self.pages.try_next() => next,
            };
            match next {
                Ok(Some(page)) => self.write(page.into_inner())?,
                Ok(None) => return self.complete(),
                Err(error) => {
                    self.save()?;
                    // A cursor that the service no longer takes will not do tomorrow either, nor a place in another list.
                    let next = match (error.status(), error.kind()) {
                        (Some(400), _) | (_, ErrorKind::Pagination) => "--restart begins anew",
                        _ => GO_ON,
                    };
                    self.progress.stopped(next);
                    return Err(error.into());
                }
            }
            unsaved += 1;
            if unsaved >= self.save_every {
                self.save()?;
                unsaved = 0;
            }
        }
    }

    fn write(&mut self, page: Page<Record>) -> Result<(), Failure> {
        let bytes = self.encoder.encode(&page.into_items()?)?;
        self.target.append(&bytes)?;
        self.progress.at(self.pages.checkpoint().delivered());
        Ok(())
    }

    /// Everything that was delivered is in the file, and this is where to go on.
    fn save(&mut self) -> Result<(), Failure> {
        let columns = self.encoder.columns();
        Ok(self.target.save(self.pages.checkpoint(), columns)?)
    }

    fn complete(mut self) -> Result<ExitCode, Failure> {
        self.save()?;
        let (file, bytes) = self.target.publish()?;
        self.progress.complete(&file, bytes);
        if let Some(names) = self.encoder.left_out() {
            note!("Members without a column, left out: {names}");
        }
        Ok(ExitCode::SUCCESS)
    }
}
