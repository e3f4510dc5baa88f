//! Commands that outlive the process that sends them: the outbox pattern, on SQLite.
//!
//! A service that writes to its own database and then calls another one can die in between, and nobody knows which of
//! the two happened. So it writes what it is going to send into its own database, in the transaction of the business
//! row, and a worker sends it from there: once or more, committed once.
//!
//! ```text
//! cargo run --example outbox                 # kills the service at every one of its steps, and starts it again
//! cargo run --example outbox -- --kill-at 7  # at that one only
//! ```
//!
//! `store.rs` is the database, `worker.rs` sends, `service.rs` is the service made of both. What kills it is `demo.rs`.

mod demo;
mod service;
mod steps;
mod store;
mod worker;

#[path = "../support/mod.rs"]
mod support;

use std::process::ExitCode;

use steps::Steps;
use stop::Stop;
use support::{out, private, stop};

const USAGE: &str =
    "usage: outbox [--kill-at STEP] | outbox service DATABASE ORDERS [--stop-at STEP]";

/// Anything that ends the program early.
type Failure = Box<dyn std::error::Error>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = run(&arguments).await;
    out::finish(done.map_err(|error| format!("outbox: {error}")))
}

async fn run(arguments: &[&str]) -> Result<ExitCode, Failure> {
    let mut stop = Stop::listen()?;
    match arguments {
        [] => demo::run(None, &stop).await,
        ["--kill-at", number] => demo::run(Some(number.parse()?), &stop).await,
        // The service itself, against the suite that the environment names.
        ["service", database, orders, rest @ ..] => {
            let steps = match rest {
                [] => Steps::until(None),
                ["--stop-at", number] => Steps::until(Some(number.parse()?)),
                _ => return Err(USAGE.into()),
            };
            service::run(database.as_ref(), orders.parse()?, &steps, &mut stop).await
        }
        _ => Err(USAGE.into()),
    }
}
