//! Exports a list of the CRM to a file, and goes on where it was stopped.
//!
//! ```text
//! cargo run --example export -- people --out people.csv
//! ```
// ci: args people --out -
//!
//! It can be stopped at any time, with Ctrl-C, with `kill -9` or by a power cut: the same command goes on where the last
//! checkpoint is, and the finished file is the one that an undisturbed run would have written. `target.rs` says how.
//!
//! A CSV file is safe to open with a spreadsheet: text that would be a formula there has an apostrophe in front. Lines of
//! JSON are as they came.
//!
//! Without a suite in the environment it starts the reference server inside this process.

mod cell;
mod encode;
mod job;
mod lists;
mod options;
mod progress;
mod target;

#[path = "../support/line.rs"]
mod line;
#[path = "../support/private.rs"]
mod private;
#[path = "../support/mod.rs"]
mod support;

use std::io::Write as _;
use std::process::ExitCode;

use sdk_core::{Pages, Record};

use encode::Encoder;
use job::{Ended, Job};
use options::{Destination, Options};

type Failure = Box<dyn std::error::Error>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(message) => {
            eprintln!("{message}\n\n{}", options::USAGE);
            return ExitCode::from(2);
        }
    };
    match export(&options).await {
        Ok(Ended::Complete) => ExitCode::SUCCESS,
        // As a shell reports a program that Ctrl-C ended.
        Ok(Ended::Interrupted) => ExitCode::from(130),
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}

async fn export(options: &Options) -> Result<Ended, Failure> {
    let server = support::server(|demo| demo.people(10_000)).await;
    let suite = support::connect(server.as_ref(), "suite-export")?;
    let crm = sdk_crm::Client::new(&suite)?;
    // The next page is on its way while this one is written.
    let pages = lists::pages(&crm, options).read_ahead(true);
    match &options.destination {
        Destination::Stdout => to_stdout(pages).await,
        Destination::File(file) => match Job::open(file, pages, options)? {
            Some(job) => job.run().await,
            None => Ok(Ended::Complete),
        },
    }
}

/// Lines to standard output, without checkpoints: what a pipe has swallowed cannot be taken back.
async fn to_stdout(mut pages: Pages<Record>) -> Result<Ended, Failure> {
    let mut encoder = Encoder::Ndjson;
    while let Some(page) = pages.try_next().await? {
        let lines = encoder.encode(&page.into_inner().try_into_items()?)?;
        if std::io::stdout().write_all(&lines).is_err() {
            // Whoever reads has seen enough (`| head`).
            break;
        }
    }
    Ok(Ended::Complete)
}
