//! First contact: what a suite is, beside what the SDK assumes of it.
//!
//! ```text
//! cargo run --example doctor             text for people
//! cargo run --example doctor -- --json   the same for programs
//! ```
//!
//! It only reads. It asks the suite that the environment names, or else a reference server inside this process. The exit
//! status is 0 if all is well, 1 if something is to be set or known, and 2 if the SDK does not work as it is set up.

mod contact;
mod examination;
mod exchange;
mod reads;
mod register;
mod report;
mod shape;
mod token;

#[path = "../support/mod.rs"]
mod support;

use std::process::ExitCode;
use std::time::Instant;

use contact::{MOST, Meter};
use examination::examine;
use exchange::Variables;
use out::{note, put};
use sdk_reference_server::Builder;
use support::{line, out};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let mut as_json = false;
    for word in std::env::args_os().skip(1) {
        if word != "--json" {
            note!(
                "unknown argument {}\nUsage: doctor [--json]",
                line::line(word.to_string_lossy())
            );
            return ExitCode::from(2);
        }
        as_json = true;
    }
    note!("Reads only: at most {MOST} requests, token exchanges included, each once.");
    let server = support::server(Builder::wall_clock).await;
    let variables = match &server {
        Some(server) => server.environment().into_iter().collect(),
        None => own_variables(),
    };
    let (began, meter) = (Instant::now(), Meter::default());
    let report = examine(variables, server.is_none(), meter.clone()).await;
    let (sent, took) = (meter.sent(), began.elapsed());
    if as_json {
        out::write(&report.json(sent, MOST, took));
    } else {
        put!("{}", report.text(sent, took).trim_end());
    }
    out::end(ExitCode::from(report.status()))
}

/// Those of the process that are set, and UTF-8; the SDK says which are not.
fn own_variables() -> Variables {
    let all = std::env::vars_os();
    let all =
        all.filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    all.filter(|(name, value)| name.starts_with("SUITE_") && !value.is_empty())
        .collect()
}
