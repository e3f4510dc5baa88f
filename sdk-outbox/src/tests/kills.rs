//! Worker processes that are killed or stopped at every step, while the test counts what the server commits.
//!
//! A worker process is this test binary, which runs the test `worker_process` with the variables that [`run`] sets. Each of the
//! two tests does 15 runs, and 300 with `LONG_TESTS`.

mod arena;
mod check;
mod process;
mod run;

use std::io::{BufRead, Write, stdin};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, mpsc};
use std::thread;
use std::time::Duration;

use sdk_core::{Backoff, RetryPolicy, Suite};

use super::TestStore;
use crate::postgres::Postgres;
use crate::sqlite::Sqlite;
use crate::{StoredRule, Worker};
use arena::{Arena, STEPS};
use run::{Tally, run};

/// The shortest that a worker takes.
const LEASE: Duration = Duration::from_secs(1);

/// The installations of the commands. Each failure in a row doubles the pause of its installation.
const INSTALLATIONS: [&str; 6] = ["north", "east", "south", "west", "inland", "abroad"];

/// How many runs go on at the same time.
const CONCURRENT: usize = 8;

/// What this process does as a worker; nothing in other tests.
static WORKER: OnceLock<Standing> = OnceLock::new();

/// Where a worker process stands still.
struct Standing {
    /// The step and its number, as in `claimed#2`.
    at: Option<(String, u32)>,
    reached: AtomicU32,
    /// Gives a line of the standard input.
    lines: Mutex<mpsc::Receiver<String>>,
}

/// The worker has come so far: a worker process says so, and stands still if this is its step.
pub(crate) fn reached(step: &str) {
    let Some(worker) = WORKER.get() else { return };
    say(step);
    if let Some((name, number)) = &worker.at
        && name == step
        && worker.reached.fetch_add(1, Ordering::Relaxed) + 1 == *number
    {
        say("stands");
        drop(worker.lines.lock().unwrap().recv());
    }
}

fn say(step: &str) {
    let line = format!("step: {step}\n");
    std::io::stdout().write_all(line.as_bytes()).unwrap();
}

#[test]
fn worker_process() {
    let Ok(address) = std::env::var("KILLS_PLACE") else {
        return;
    };
    let at = std::env::var("KILLS_STAND").ok();
    let at = at.and_then(|at| {
        let (name, number) = at.split_once('#')?;
        Some((name.to_owned(), number.parse().ok()?))
    });
    let (line, lines) = mpsc::channel();
    thread::spawn(move || {
        for read in stdin().lock().lines().map_while(Result::ok) {
            let _ = line.send(read);
        }
        // The test that started this process is gone.
        std::process::exit(0);
    });
    let (reached, lines) = (AtomicU32::new(0), Mutex::new(lines));
    let _ = WORKER.set(Standing { at, reached, lines });
    match std::env::var("KILLS_STORE").unwrap().as_str() {
        Sqlite::NAME => work::<Sqlite>(&address),
        _ => work::<Postgres>(&address),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn work<S: Arena>(address: &str) {
    let place = S::at(address);
    let outbox = loop {
        match S::connect(&place).await {
            Ok(outbox) => break outbox,
            // The database is being started again, or a worker stands still in a transaction.
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    };
    let backoff = Backoff::new(Duration::from_millis(100), Duration::from_millis(500));
    let mut worker = Worker::new(outbox)
        .lease(LEASE)
        .poll(Duration::from_millis(50))
        .rule(StoredRule::default().with_backoff(backoff));
    let mut first: Option<Suite> = None;
    for installation in INSTALLATIONS {
        // Every fault is the worker's matter.
        let suite = Suite::builder().environment().retry(RetryPolicy::none());
        let suite = match &first {
            Some(first) => suite.transport_of(first),
            None => suite,
        };
        let suite = suite.label(installation).build().unwrap();
        worker = worker.sender(sdk_calendar::Client::new(&suite).unwrap());
        first.get_or_insert(suite);
    }
    say("started");
    worker.run(std::future::pending()).await.unwrap();
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

/// Does all runs, several at a time, and holds them to what an outbox promises.
fn all_runs<S: Arena>() {
    let runs = if is_long() { 300 } else { STEPS };
    let (next, total) = (AtomicUsize::new(0), Mutex::new(Tally::default()));
    thread::scope(|scope| {
        let one_after_another = || {
            let mut runtime = tokio::runtime::Builder::new_current_thread();
            let runtime = runtime.enable_all().build().unwrap();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= runs {
                    break;
                }
                let tally = runtime.block_on(run::<S>(number));
                total.lock().unwrap().add(tally);
            }
        };
        for _ in 0..CONCURRENT {
            scope.spawn(one_after_another);
        }
    });
    let total = total.into_inner().unwrap();
    println!("{}: {runs} runs, {total}", S::NAME);
    assert!(total.broken.is_empty(), "{}", total.broken.join("\n"));
    for what in ["later", "leases", "parked"] {
        assert!(total.of(what) > 0, "{what}");
    }
    for (step, _) in S::STEPS {
        assert!(total.stood.contains(step), "no worker stood at: {step}");
    }
}

/// Whether a test does all its runs, as `.ci/nightly` asks.
fn is_long() -> bool {
    std::env::var_os("LONG_TESTS").is_some()
}
