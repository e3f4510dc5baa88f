//! `suite export` writes a list of the CRM to a file or to standard output.
//!
//! Ctrl-C, SIGTERM, `kill -9` or a power cut can interrupt the export at any time. `--resume` continues at the last
//! checkpoint, and the finished file is identical to the file of an uninterrupted run. `target.rs` explains how this
//! works.

mod args;
mod encode;
mod job;
mod target;

use std::process::ExitCode;

use sdk_core::{Pages, Record};
use sdk_crm::Client;

use crate::context::Context;
use crate::output::{self, Failure, note};
use crate::stop::Stop;
pub(crate) use args::Args;
use encode::Encoder;
use job::Job;

pub(crate) async fn run(context: &Context, args: Args) -> Result<ExitCode, Failure> {
    args.check()?;
    let stop = Stop::listen()?;
    let crm = Client::new(&context.suite()?)?;
    // The next page is fetched while the current page is written.
    let pages = args.pages(&crm).read_ahead();
    match args.file() {
        None => to_stdout(pages, &args, stop).await,
        Some(file) => {
            let client = context.variables().get("SUITE_CLIENT_ID");
            let client = client.map_or("", String::as_str);
            Job::open(file, pages, &args, client)?.run(stop).await
        }
    }
}

/// Writes rows to standard output without checkpoints, because rows in a pipe can't be removed.
async fn to_stdout(
    mut pages: Pages<Record>,
    args: &Args,
    mut stop: Stop,
) -> Result<ExitCode, Failure> {
    let mut encoder = Encoder::new(args.format(), args.columns.clone());
    while !output::is_lost() {
        let next = tokio::select! {
            biased;
            () = stop.heard() => {
                let records = pages.checkpoint().delivered();
                note(format_args!("Stopped after {records} records. Run the same command to start over."));
                return Ok(stop.status());
            }
            next = pages.try_next() => next?,
        };
        let Some(page) = next else { break };
        let rows = encoder.encode(&page.into_inner().into_items()?)?;
        output::write(&output::shown(&rows));
    }
    encoder.note_left_out();
    Ok(ExitCode::SUCCESS)
}
