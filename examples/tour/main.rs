//! The first program to run: all four applications in a few seconds.
//!
//! ```text
//! cargo run --example tour
//! ```
//!
//! Without a suite in the environment it starts the reference server inside this process. With one
//! (`SUITE_CRM_URL` and the other variables), it talks to that.

mod print;
mod stops;

#[path = "../support/mod.rs"]
mod support;

use std::process::ExitCode;

use sdk_core::Error;
use support::{line, out};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let done = tour().await.map(|()| ExitCode::SUCCESS);
    out::finish(done.map_err(|error| format!("\nThe tour ended early: {error}")))
}

async fn tour() -> Result<(), Error> {
    let server = support::server(|demo| demo).await;
    let suite = support::connect(server.as_ref(), "suite-tour")?;
    stops::all(&suite).await?;

    print::heading("What it cost");
    let stats = suite.stats();
    print::fact("calls", stats.calls);
    print::fact("attempts", stats.attempts);
    print::fact("token exchanges", stats.token_exchanges);
    Ok(())
}
