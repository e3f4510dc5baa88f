// ci: args demo 10
//! Stored commands that many processes send: the outbox pattern on PostgreSQL.
//!
//! Workers share the work through the database and nothing else. Each claims a command with a lease and a token, sends it,
//! and settles it by that token. Commands of one lane, here the deliveries of one van, are sent one after another.
//!
//! ```text
//! bash .ci/postgres cargo run --example outbox_fleet   # kills workers and the database, and counts
//!
//! outbox_fleet schema                     # makes the tables, once
//! outbox_fleet worker [SECONDS]           # works off what OUTBOX_DATABASE holds, with leases of so many seconds
//! outbox_fleet status | parked            # for whoever operates it
//! outbox_fleet retry ID | drop ID | purge SECONDS
//! outbox_fleet demo KILLS                 # as above, with more or fewer kills
//! outbox_fleet measure WAITING LANES [WORKERS] [snapshot]
//! ```
//!
//! The SQL is `sdk-core/docs/outbox_postgres.sql`, which the guide shows. `store.rs` runs it, `worker.rs` sends. What kills
//! them is `demo.rs`.

mod demo;
mod measure;
mod store;
mod worker;

#[path = "../support/mod.rs"]
mod support;

use std::process::ExitCode;
use std::time::Duration;

use sdk_calendar::Client;
use sdk_core::{PreparedCommand, Suite};
use tokio_postgres::Config;

use stop::Stop;
use store::{Address, Store};
use support::{line, out, stop};

const USAGE: &str = "usage: outbox_fleet [demo KILLS | schema | worker [SECONDS] | status | parked | retry ID | drop ID | \
                     purge SECONDS | measure WAITING LANES [WORKERS] [snapshot]]";

/// Anything that ends the program early.
type Failure = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = run(&arguments).await;
    out::finish(done.map_err(|error| format!("outbox_fleet: {}", told(&error))))
}

async fn run(arguments: &[&str]) -> Result<ExitCode, Failure> {
    let mut stop = Stop::listen()?;
    let address = address()?;
    match arguments {
        [] => return demo::run(address, 40, &stop).await,
        ["demo", kills] => return demo::run(address, kills.parse()?, &stop).await,
        ["measure", waiting, lanes, rest @ ..] => {
            let held = rest.last() == Some(&"snapshot");
            let workers = rest.first().and_then(|number| number.parse().ok());
            let table = (waiting.parse()?, lanes.parse()?);
            measure::run(address, table, workers.unwrap_or(1), held).await?;
        }
        ["worker", rest @ ..] => {
            let seconds = rest.first().map_or(Ok(40), |seconds| seconds.parse())?;
            let calendar = Client::new(&Suite::from_env()?)?;
            worker::run(&address, &calendar, Duration::from_secs(seconds), &mut stop).await?;
        }
        ["schema"] => Store::install(&address).await?,
        [what, rest @ ..] => operate(&mut Store::connect(&address).await?, what, rest).await?,
    }
    Ok(ExitCode::SUCCESS)
}

/// An error of the database has what it is about in its source.
fn told(error: &Failure) -> String {
    error
        .source()
        .map_or(error.to_string(), |source| format!("{error}: {source}"))
}

/// What a person does.
async fn operate(store: &mut Store, what: &str, rest: &[&str]) -> Result<(), Failure> {
    match (what, rest) {
        ("status", []) => {
            for (state, commands, oldest, attempts) in store.status().await? {
                out::put!(
                    "{state:<8}{commands:>9}, the oldest {oldest:.0} s old, {attempts} attempts"
                );
            }
        }
        ("parked", []) => {
            for (id, why, command) in store.parked().await? {
                let command: Result<PreparedCommand, _> = serde_json::from_str(&command);
                let operation = command.as_ref().map_or("?", PreparedCommand::operation);
                out::put!("{id:>8}  {operation}  {}", line::line(why));
            }
        }
        ("retry", [id]) => store.retry(id.parse()?).await?,
        ("drop", [id]) => store.drop(id.parse()?).await?,
        ("purge", [seconds]) => out::put!(
            "{} deleted",
            store.purge(seconds.parse::<u32>()?.into()).await?
        ),
        _ => return Err(USAGE.into()),
    }
    Ok(())
}

/// The database that the environment names.
fn address() -> Result<Address, Failure> {
    let address = std::env::var("OUTBOX_DATABASE").map_err(|_| {
        "OUTBOX_DATABASE is not set, such as to `host=/run/postgresql user=me dbname=orders`; \
         `bash .ci/postgres COMMAND` starts a database for a command"
    })?;
    let mut config: Config = address.parse()?;
    config.application_name("outbox_fleet");
    let schema = std::env::var("OUTBOX_SCHEMA").unwrap_or_else(|_| "public".to_owned());
    Ok(Address { config, schema })
}
