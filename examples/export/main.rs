//! Exports a list of the CRM to a file, and goes on where it was stopped.
//!
//! ```text
//! cargo run --example export -- people --out people.csv
//! ```
// ci: args people --out -
//!
//! It can be stopped at any time, with Ctrl-C or SIGTERM, with `kill -9` or by a power cut: the same command goes on where
//! the last checkpoint is, and the finished file is the one that an undisturbed run would have written. `target.rs` says
//! how.
//!
//! A CSV file is safe to open with a spreadsheet: text that would be a formula there has an apostrophe in front. Lines of
//! JSON are as they came; on standard output, characters that steer a terminal are escaped, which is the same JSON.
//!
//! Without a suite in the environment it starts the reference server inside this process.

mod cell;
mod encode;
mod job;
mod lists;
mod options;
mod progress;
mod target;

#[path = "../support/mod.rs"]
mod support;

use std::process::ExitCode;

use sdk_core::{Pages, Record};

use encode::Encoder;
use job::Job;
use options::{Destination, Options};
use out::note;
use stop::Stop;
use support::{line, out, private, stop};

type Failure = Box<dyn std::error::Error>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(message) => {
            note!("{message}\n\n{}", options::USAGE);
            return ExitCode::from(2);
        }
    };
    out::finish(export(&options).await)
}

async fn export(options: &Options) -> Result<ExitCode, Failure> {
    let stop = Stop::listen()?;
    let server = support::server(|demo| demo.people(10_000)).await;
    let suite = support::connect(server.as_ref(), "suite-export")?;
    let crm = sdk_crm::Client::new(&suite)?;
    // The next page is on its way while this one is written.
    let pages = lists::pages(&crm, options).read_ahead();
    match &options.destination {
        Destination::Stdout => to_stdout(pages, stop).await,
        Destination::File(file) => match Job::open(file, pages, options)? {
            Some(job) => job.run(stop).await,
            None => Ok(ExitCode::SUCCESS),
        },
    }
}

/// Lines to standard output, which may be a terminal, without checkpoints: what a pipe has swallowed cannot be taken back.
async fn to_stdout(mut pages: Pages<Record>, mut stop: Stop) -> Result<ExitCode, Failure> {
    let mut encoder = Encoder::Ndjson;
    loop {
        let next = tokio::select! {
            biased;
            () = stop.heard() => {
                let records = pages.checkpoint().delivered();
                note!("Stopped after {records} records; the same command begins anew.");
                return Ok(stop.status());
            }
            next = pages.try_next() => next?,
        };
        let Some(page) = next else { break };
        let lines = encoder.encode(&page.into_inner().into_items()?)?;
        out::write(&encode::escaped(std::str::from_utf8(&lines)?));
        if out::is_lost() {
            break;
        }
    }
    Ok(ExitCode::SUCCESS)
}
