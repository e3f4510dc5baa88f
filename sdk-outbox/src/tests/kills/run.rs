//! A run has a new store, a server with faults, workers that are killed or stopped, and an operator.

use std::cell::Cell;
use std::ops::Range;
use std::process::Stdio;
use std::sync::Mutex;
use std::time::Duration;

use fastrand::Rng;
use sdk_reference_server::Operation::{self, RespondAttendance, SubmitEventCommand};
use sdk_reference_server::{ReferenceServer, Transport};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::time::{sleep, timeout};

use super::super::{Remains, calendar, committed, keyed, unique, unkeyed};
use super::arena::{Arena, BROKEN, OPEN};
use super::{INSTALLATIONS, LEASE, Tally};
use crate::State;
use crate::{Entry, Outbox};

/// The time after which a run counts as stuck.
const PATIENCE: Duration = Duration::from_secs(60);

/// The titles, in the order of storing. The first letter is the lane, if there is one.
const COMMANDS: [&str; 12] = [
    "a0", "b1", "a2", "-3", "b4", "-5", "a6", "a7", "b8", "b9", "aA", "aB",
];

/// The operations of commands with a key (two of three commands) and without a key.
const OPERATIONS: [Operation; 2] = [SubmitEventCommand, RespondAttendance];

struct Run<'a, S: Arena> {
    number: usize,
    step: &'static str,
    name: String,
    place: S::Place,
    outbox: Outbox<S>,
    server: ReferenceServer,
    /// Whether all disturbances are over, and all requests of the killed or stopped worker have arrived.
    is_over: Cell<bool>,
    tally: &'a Mutex<Tally>,
}

#[tokio::main(flavor = "current_thread")]
pub(super) async fn run<S: Arena>(number: usize, tally: &Mutex<Tally>) {
    let name = unique();
    let place = S::at(&name).unwrap();
    let _remains = Remains::<S>(place.clone());
    let outbox = loop {
        if let Ok(outbox) = S::try_open(&place).await
            && S::try_raw(&place, S::TABLES).await.is_ok()
        {
            break outbox;
        }
        // Another run killed the database.
        sleep(Duration::from_millis(50)).await;
    };
    let server = ReferenceServer::builder()
        .transport(Transport::Hyper)
        .wall_clock()
        .recorded_requests(usize::MAX);
    let run = Run {
        number,
        step: S::steps().cycle().nth(number).unwrap(),
        name,
        place,
        outbox,
        server: server.start().await,
        is_over: Cell::default(),
        tally,
    };
    run.set_faults();
    run.store(0..6, 0).await;
    let mut workers = Vec::new();
    let events = async {
        let strike = run.strike(&mut workers);
        let disturb = S::disturb(&run.place, number, tally);
        tokio::join!(run.store(6..12, 150), strike, disturb);
        run.is_over.set(true);
    };
    let _ = timeout(PATIENCE, async { tokio::join!(events, run.operate()) }).await;
    for mut worker in workers {
        worker.kill().await.unwrap();
    }
    run.check().await;
    // Another run may just have killed the database.
    let _ = S::try_raw(&run.place, S::REMOVE).await;
}

impl<S: Arena> Run<'_, S> {
    /// Sets faults, so that some commands need several attempts and some take longer than their deadline.
    fn set_faults(&self) {
        let mut rng = Rng::with_seed(self.number as u64);
        // One command of three installations has a fault, and no command of the last two installations.
        let mut keyed = [0, 1, 3].map(|at| at + 6 * rng.usize(..2));
        rng.shuffle(&mut keyed);
        let fault = |at: usize| {
            let fault = self.server.fault(OPERATIONS[at % 3 / 2]);
            fault.when_member("/title", COMMANDS[at])
        };
        let slow = LEASE + LEASE / 3;
        fault(keyed[0]).times(2).lose_reply();
        fault(keyed[1]).times(1 + rng.u64(..2)).status(503);
        fault(keyed[2]).times(1).delay(slow);
        fault(2).times(1).lose_reply();
        fault(8).times(1).delay(slow);
    }

    /// Stores commands one after another. After a database failure, checks whether the command was stored.
    async fn store(&self, commands: Range<usize>, pause: u64) {
        let mut rng = Rng::with_seed(self.number as u64);
        let calendar = calendar(&self.server, None);
        for at in commands {
            sleep(Duration::from_millis(rng.u64(..=pause))).await;
            let title = COMMANDS[at];
            let command = if at % 3 < 2 { keyed } else { unkeyed }(&calendar, title);
            let entry = Entry::new(&command).reference(title);
            let mut entry = entry.installation(INSTALLATIONS[at % 6]);
            if !title.starts_with('-') {
                entry = entry.lane(&title[..1]);
            }
            let sql = format!("SELECT id FROM sdk_outbox WHERE reference = '{title}'");
            while S::store(&self.place, &entry).await.is_err() && self.rows(&sql).await.is_empty() {
                sleep(Duration::from_millis(20)).await;
            }
        }
    }

    /// Kills or stops a worker at its step, and starts other workers that take over.
    async fn strike(&self, workers: &mut Vec<Child>) {
        if self.step.contains("lease") {
            let mut first = self.start(Some("2 claimed".to_owned()));
            is_stopped(&mut first).await;
            first.kill().await.unwrap();
        }
        let round = self.number / S::steps().count();
        let stop = format!("{} {}", 1 + round / 2 % 3, self.step);
        let mut worker = self.start(Some(stop));
        let is_there = is_stopped(&mut worker).await;
        if is_there {
            self.tally.lock().unwrap().steps.insert(self.step);
        }
        // The number of steps is odd, so that the next round continues a worker where this one kills it.
        let continues = is_there && self.number % 2 == 1;
        if !continues {
            worker.kill().await.unwrap();
        }
        workers.extend((0..S::WORKERS).map(|_| self.start(None)));
        if continues {
            // In some rounds, the pause is so long that PostgreSQL ends the transaction of the stopped worker.
            let is_long = round % 4 > 1 && self.step.ends_with("not committed");
            sleep(if is_long { LEASE * 6 } else { LEASE * 4 / 3 }).await;
            let id = worker.id().unwrap().to_string();
            let signal = Command::new("kill").args(["-CONT", &id]).status().await;
            assert!(signal.unwrap().success());
            workers.push(worker);
            // The deadline of its calls is shorter than the lease, so its requests have arrived after this time.
            sleep(LEASE).await;
        }
    }

    async fn operate(&self) {
        while !self.is_over.get() || !self.rows(OPEN).await.is_empty() {
            let parked = self.outbox.list(State::Parked).await.unwrap_or_default();
            // Requests that were sent before their command was parked arrive in the meantime.
            sleep(LEASE / 3).await;
            for parked in parked {
                let decided = if committed(&self.server).contains(&parked.reference.unwrap()) {
                    self.outbox.drop(parked.id, "operator", "applied").await
                } else if self.is_over.get() {
                    self.outbox.retry(parked.id, "operator").await
                } else {
                    continue;
                };
                self.tally.lock().unwrap().parked += usize::from(decided.is_ok());
            }
        }
    }

    async fn check(&self) {
        let titles = committed(&self.server);
        let is_lost = |title: &&&str| !titles.iter().any(|it| it == **title);
        let lost = COMMANDS.iter().filter(is_lost).count();
        let commits = OPERATIONS.map(|it| self.server.commits(it));
        let commits = usize::try_from(commits[0] + commits[1]).unwrap();
        let duplicated = (commits + lost).saturating_sub(COMMANDS.len());
        // Titles of a lane sort in the order in which they were stored.
        let is_sorted = |lane: &&str| titles.iter().filter(|it| it.starts_with(*lane)).is_sorted();
        let disordered = ["a", "b"].iter().filter(|it| !is_sorted(it)).count();
        let mut broken = Vec::new();
        if [lost, duplicated, disordered] != [0; 3] {
            broken.push(format!("the server committed {titles:?}"));
        }
        for (problem, sql) in BROKEN {
            let rows = self.rows(sql).await;
            if !rows.is_empty() {
                broken.push(format!("{problem}: {rows:?}"));
            }
        }
        let counts = "SELECT count(CASE WHEN later THEN 1 END), count(CASE WHEN expired THEN 1 END) FROM changes";
        let counts = self.rows(counts).await;
        let stuck = self.rows(OPEN).await.len();
        let mut tally = self.tally.lock().unwrap();
        tally.commands += COMMANDS.len();
        tally.lost += lost;
        tally.duplicated += duplicated;
        tally.disordered += disordered;
        tally.stuck += stuck;
        tally.later += counts[0][0].parse::<usize>().unwrap();
        tally.leases += counts[0][1].parse::<usize>().unwrap();
        let run = format!("{} run {} ({})", S::NAME, self.number, self.step);
        let broken = broken.iter().map(|it| format!("{run}: {it}"));
        tally.broken.extend(broken);
    }

    async fn rows(&self, sql: &str) -> Vec<Vec<String>> {
        loop {
            match S::try_raw(&self.place, sql).await {
                Ok(rows) => return rows,
                // Another run killed the database, or this run ended its connections.
                Err(_) => sleep(Duration::from_millis(50)).await,
            }
        }
    }

    fn start(&self, stop: Option<String>) -> Child {
        let mut worker = Command::new(std::env::current_exe().unwrap());
        worker
            .args(["--exact", "tests::kills::worker_process", "--nocapture"])
            .envs(self.server.environment())
            .env("KILLS_STORE", S::NAME)
            .env("KILLS_PLACE", &self.name)
            .envs(stop.map(|stop| ("KILLS_STOP", stop)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true);
        worker.spawn().unwrap()
    }
}

/// Waits until a worker is stopped at its step. Returns false if it doesn't reach the step in time.
async fn is_stopped(worker: &mut Child) -> bool {
    let mut lines = BufReader::new(worker.stdout.as_mut().unwrap()).lines();
    let stopped = async {
        while !lines.next_line().await.ok()??.ends_with("stopped") {}
        Some(())
    };
    matches!(timeout(LEASE * 10, stopped).await, Ok(Some(())))
}
