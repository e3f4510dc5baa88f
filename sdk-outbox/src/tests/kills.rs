//! Kills or stops worker processes at every step, and counts the commits of the server.
//!
//! A worker process is this test binary, which runs the test `worker_process` with the variables that [`run`] sets.
//! Each of the two tests does 15 runs, and 300 with `LONG_TESTS`.

mod arena;
mod run;

use std::collections::BTreeSet;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock};
use std::thread;
use std::time::Duration;

use sdk_core::{Backoff, RetryPolicy, Suite};

use super::TestStore;
use crate::postgres::Postgres;
use crate::sqlite::Sqlite;
use crate::{StoredRule, Worker};
use arena::Arena;
use run::run;

/// The shortest lease that a worker accepts.
const LEASE: Duration = Duration::from_secs(1);

/// The installations of the commands. Each failure in a row doubles the pause of its installation.
const INSTALLATIONS: [&str; 6] = ["north", "east", "south", "west", "inland", "abroad"];

const CONCURRENT: usize = 8;

/// The step at which this process stops, and the number of times that it still has to reach the step.
static STOP: OnceLock<(String, AtomicU32)> = OnceLock::new();

/// Records that the worker reached this step. At the step of [`STOP`], stops this process.
pub(crate) fn reached(step: &str) {
    if let Some((stop, left)) = STOP.get()
        && stop == step
        && left.fetch_sub(1, Ordering::Relaxed) == 1
    {
        let script = ["-c", "kill -STOP $PPID && echo stopped"];
        assert!(Command::new("sh").args(script).status().unwrap().success());
    }
}

#[test]
fn worker_process() {
    let Ok(place) = std::env::var("KILLS_PLACE") else {
        return;
    };
    thread::spawn(|| {
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        // Standard input is closed, so the test that started this process has ended.
        std::process::exit(0);
    });
    if let Ok(stop) = std::env::var("KILLS_STOP") {
        let (left, step) = stop.split_once(' ').unwrap();
        let left = AtomicU32::new(left.parse().unwrap());
        STOP.set((step.to_owned(), left)).unwrap();
    }
    match std::env::var("KILLS_STORE").unwrap().as_str() {
        Sqlite::NAME => work::<Sqlite>(&place),
        _ => work::<Postgres>(&place),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn work<S: Arena>(place: &str) {
    let place = S::at(place).unwrap();
    let outbox = loop {
        match S::try_open(&place).await {
            Ok(outbox) => break S::with_receipts(outbox),
            // The database is restarting, or a stopped worker holds a transaction.
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    };
    let backoff = Backoff::new(Duration::from_millis(100), Duration::from_millis(500));
    let mut worker = Worker::new(outbox)
        .lease(LEASE)
        .poll(Duration::from_millis(50))
        .rule(StoredRule::default().with_backoff(backoff));
    for installation in INSTALLATIONS {
        // The client doesn't retry, so that the worker handles every fault.
        let suite = Suite::builder().environment().retry(RetryPolicy::none());
        let suite = suite.label(installation).build().unwrap();
        worker = worker.sender(sdk_calendar::Client::new(&suite).unwrap());
    }
    worker.run(std::future::pending()).await.unwrap();
}

#[derive(Default)]
struct Tally {
    commands: usize,
    lost: usize,
    duplicated: usize,
    disordered: usize,
    stuck: usize,
    later: usize,
    leases: usize,
    parked: usize,
    databases_killed: usize,
    connections_ended: usize,
    steps: BTreeSet<&'static str>,
    broken: Vec<String>,
}

#[test]
fn workers_killed_or_stopped_at_any_step_lose_and_repeat_nothing_on_sqlite() {
    all_runs::<Sqlite>();
}

#[test]
fn workers_killed_or_stopped_at_any_step_lose_and_repeat_nothing_on_postgres() {
    if Postgres::place().is_some() {
        all_runs::<Postgres>();
    }
}

/// Runs all runs, several at a time, and asserts the guarantees of an outbox.
fn all_runs<S: Arena>() {
    let is_long = std::env::var_os("LONG_TESTS").is_some();
    let runs = if is_long { 300 } else { S::steps().count() };
    let tally = Mutex::new(Tally::default());
    thread::scope(|scope| {
        for first in 0..CONCURRENT {
            let (numbers, tally) = ((first..runs).step_by(CONCURRENT), &tally);
            scope.spawn(move || numbers.for_each(|number| run::<S>(number, tally)));
        }
    });
    let it = tally.into_inner().unwrap();
    println!(
        "{}: {runs} runs, {} commands: {} lost, {} duplicated, {} out of order, {} stuck; {} sent later, {} leases expired, \
         {} parked and decided, {} times the database killed, {} connections ended",
        S::NAME,
        it.commands,
        it.lost,
        it.duplicated,
        it.disordered,
        it.stuck,
        it.later,
        it.leases,
        it.parked,
        it.databases_killed,
        it.connections_ended
    );
    assert!(it.broken.is_empty(), "{}", it.broken.join("\n"));
    assert!(it.later > 0 && it.leases > 0 && it.parked > 0);
    for step in S::steps() {
        assert!(it.steps.contains(step), "no worker stopped at: {step}");
    }
}
