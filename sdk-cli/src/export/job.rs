//! Exports a list to a file: reads pages, and writes rows and checkpoints.

use std::fmt::Display;
use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use indicatif::{HumanBytes, HumanCount, HumanDuration, ProgressBar, ProgressState, ProgressStyle};
use sdk_core::{Error, ErrorKind, Pages, Record};

use super::args::Args;
use super::encode::Encoder;
use super::target::{Saved, Target};
use crate::output::{self, Exit, Failure, note};
use crate::stop::Stop;

const RESTART: &str = "run the same command with --restart to start over";
const RESUME: &str = "run the same command with --resume to continue";

pub(crate) struct Job {
    pages: Pages<Record>,
    encoder: Encoder,
    target: Target,
    progress: Progress,
    save_every: u32,
}

impl Job {
    pub(crate) fn open(
        file: &Path,
        mut pages: Pages<Record>,
        args: &Args,
        client: &str,
    ) -> Result<Self, Failure> {
        let mut target = Target::claim(file, client)?;
        let interrupted = if args.restart {
            Ok(None)
        } else {
            target.interrupted()
        };
        let encoder = match interrupted.map_err(|error| Failure::from(error).with_hint(RESTART))? {
            None => {
                target.begin()?;
                Encoder::new(args.format(), args.columns.clone())
            }
            Some(saved) => {
                check(file, args, client, &saved)?;
                target.resume(saved.bytes)?;
                let records = HumanCount(saved.checkpoint.delivered());
                note(format_args!("Resuming after {records} records."));
                pages = pages.resume(saved.checkpoint);
                saved.encoder
            }
        };
        Ok(Self {
            progress: Progress::new(file, pages.checkpoint().delivered()),
            pages,
            encoder,
            target,
            save_every: args.save_every,
        })
    }

    /// Runs until the list ends or a signal arrives.
    pub(crate) async fn run(mut self, mut stop: Stop) -> Result<ExitCode, Failure> {
        let mut unsaved = 0;
        loop {
            // A cancelled fetch loses no records, because a resumed export fetches the page again.
            let next = tokio::select! {
                biased;
                () = stop.heard() => {
                    self.leave()?;
                    note(RESUME);
                    return Ok(stop.status());
                }
                next = self.pages.try_next() => next,
            };
            match next {
                Ok(Some(page)) => {
                    let rows = page.into_inner().into_items()?;
                    let rows = self.encoder.encode(&rows)?;
                    let appended = self.target.append(rows.as_bytes());
                    appended.map_err(resumable)?;
                    self.progress.at(self.pages.checkpoint().delivered());
                }
                Ok(None) => return self.complete(),
                Err(error) => {
                    let hint = self.hint(&error);
                    self.leave()?;
                    let mut failure = Failure::from(error);
                    failure.hint = hint;
                    return Err(failure);
                }
            }
            unsaved += 1;
            if unsaved >= self.save_every {
                self.save()?;
                unsaved = 0;
            }
        }
    }

    /// Saves a checkpoint, so that all rows so far count.
    fn save(&mut self) -> Result<(), Failure> {
        let checkpoint = self.pages.checkpoint();
        let saved = self.target.save(&checkpoint, &self.encoder);
        saved.map_err(resumable)
    }

    /// Ends early. An export without records leaves no files.
    fn leave(&mut self) -> Result<(), Failure> {
        if self.pages.checkpoint().delivered() == 0 {
            self.target.discard()?;
        } else {
            self.save()?;
        }
        self.progress.end(", stopped");
        Ok(())
    }

    fn hint(&self, error: &Error) -> Option<String> {
        let has_cursor = self.pages.checkpoint().cursor().is_some();
        match (error.status(), error.kind()) {
            // A resumed export would fail again, because the cursor or the checkpoint is rejected.
            (_, ErrorKind::Pagination) => Some(RESTART.to_owned()),
            (Some(400), _) if has_cursor => Some(RESTART.to_owned()),
            (Some(400), _) | (_, ErrorKind::InvalidInput) => None,
            _ if self.pages.checkpoint().delivered() == 0 => None,
            _ => Some(RESUME.to_owned()),
        }
    }

    fn complete(mut self) -> Result<ExitCode, Failure> {
        self.save()?;
        let bytes = HumanBytes(self.target.publish()?);
        let time = HumanDuration(self.progress.bar.elapsed());
        self.progress.end(format_args!(", {bytes}, in {time}"));
        self.encoder.note_left_out();
        Ok(ExitCode::SUCCESS)
    }
}

/// Checks that an interrupted export can continue with these arguments. The SDK checks the list and its filters.
fn check(file: &Path, args: &Args, client: &str, saved: &Saved) -> Result<(), Failure> {
    let encoder = &saved.encoder;
    let has_other_columns = args.columns.is_some() && args.columns != encoder.columns;
    let (message, hint) = if !args.resume {
        let records = HumanCount(saved.checkpoint.delivered());
        let message = format!("an earlier export was interrupted after {records} records");
        let hint = "use --resume to continue, or --restart to start over";
        (message, hint)
    } else if has_other_columns || encoder.format != args.format() {
        let message = "the interrupted export has a different format or columns".to_owned();
        (message, RESTART)
    } else if saved.client != client {
        // Another client may have access to other records.
        let message = "the interrupted export has a different client ID".to_owned();
        (message, RESTART)
    } else {
        return Ok(());
    };
    let message = format!("{}: {message}", file.display());
    Err(Failure::new(Exit::Failed, "file", message).with_hint(hint))
}

/// Converts a write error, for example of a full disk. The last checkpoint is still valid.
fn resumable(error: io::Error) -> Failure {
    Failure::from(error).with_hint(RESUME)
}

/// Shows progress as a spinner on a terminal, and as lines elsewhere.
struct Progress {
    /// A spinner, because the length of a list is unknown. It is hidden unless standard error is a terminal.
    bar: ProgressBar,
    last_line: Instant,
}

/// The time between progress lines in a log.
const PAUSE: Duration = Duration::from_secs(5);

impl Progress {
    fn new(file: &Path, records: u64) -> Self {
        let bar = if output::is_quiet() {
            ProgressBar::hidden()
        } else {
            ProgressBar::new_spinner()
        };
        let bar = bar.with_message(file.display().to_string());
        let bar = bar.with_position(records);
        let template = "{spinner} {msg}: {human_pos} records, {rate} per second, {elapsed}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            let rate = |state: &ProgressState, text: &mut dyn std::fmt::Write| {
                let _ = write!(text, "{:.0}", state.per_sec());
            };
            bar.set_style(style.with_key("rate", rate));
        }
        if !bar.is_hidden() {
            bar.enable_steady_tick(Duration::from_millis(100));
        }
        Self {
            bar,
            last_line: Instant::now(),
        }
    }

    fn at(&mut self, records: u64) {
        self.bar.set_position(records);
        if self.bar.is_hidden() && self.last_line.elapsed() >= PAUSE {
            self.last_line = Instant::now();
            self.line(" so far");
        }
    }

    fn end(&self, how: impl Display) {
        self.bar.finish_and_clear();
        self.line(how);
    }

    fn line(&self, rest: impl Display) {
        let (file, records) = (self.bar.message(), HumanCount(self.bar.position()));
        note(format_args!("{file}: {records} records{rest}"));
    }
}
