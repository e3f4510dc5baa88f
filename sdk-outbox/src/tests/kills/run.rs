//! One run: a fresh store, a server with faults, workers that are killed or stopped, and an operator.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::process::Command;
use std::time::{Duration, Instant};

use fastrand::Rng;
use sdk_calendar::Client;
use sdk_reference_server::{Operation, ReferenceServer, Transport};
use tokio::time::{sleep, timeout};

use super::super::{calendar, committed, keyed, unkeyed};
use super::arena::{Arena, Fate, STEPS, Way};
use super::process::Process;
use super::{INSTALLATIONS, LEASE};
use crate::{Entry, Outbox};

/// Much longer than any run takes, unless it is stuck.
const PATIENCE: Duration = Duration::from_secs(60);

/// The longest that PostgreSQL waits for a transaction that stands still.
const IDLE: Duration = Duration::from_secs(5);

/// The lanes of the commands.
const LANES: [Option<u8>; 12] = {
    let (a, b) = (Some(0), Some(1));
    [a, b, a, None, b, None, a, a, b, b, a, a]
};

/// What runs found.
#[derive(Default)]
pub(super) struct Tally {
    counts: BTreeMap<&'static str, usize>,
    /// The steps at which a worker was killed or stopped.
    pub(super) stood: BTreeSet<&'static str>,
    /// Promises that were broken.
    pub(super) broken: Vec<String>,
}

impl Tally {
    pub(super) fn add(&mut self, other: Self) {
        for (what, number) in other.counts {
            self.count(what, number);
        }
        self.stood.extend(other.stood);
        self.broken.extend(other.broken);
    }

    pub(super) fn count(&mut self, what: &'static str, number: usize) {
        *self.counts.entry(what).or_default() += number;
    }

    pub(super) fn of(&self, what: &str) -> usize {
        self.counts.get(what).copied().unwrap_or_default()
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [commands, later, leases, parked] =
            ["commands", "later", "leases", "parked"].map(|it| self.of(it));
        write!(f, "{commands} commands:")?;
        for (what, comma) in [
            ("lost", ","),
            ("duplicated", ","),
            ("out of order", ","),
            ("stuck", ";"),
        ] {
            write!(f, " {} {what}{comma}", self.of(what))?;
        }
        write!(
            f,
            " {later} sent later, {leases} leases expired, {parked} parked and decided"
        )
    }
}

/// A command that is in the outbox.
pub(super) struct Stored {
    pub(super) title: String,
    pub(super) lane: Option<String>,
    /// When its commit began and ended.
    pub(super) commit: [Instant; 2],
}

pub(super) struct Run<S: Arena> {
    number: usize,
    place: S::Place,
    outbox: Outbox<S>,
    pub(super) server: ReferenceServer,
    calendar: Client,
    pub(super) stored: RefCell<Vec<Stored>>,
    workers: RefCell<Vec<Process>>,
    /// The command without a key whose first response takes longer than a lease, if there is one.
    pub(super) slow: Cell<usize>,
    /// Whether a worker is killed or stopped.
    is_standing: Cell<bool>,
    pub(super) was_stopped: Cell<bool>,
    /// Whether what the killed or stopped worker sent has arrived.
    is_settled: Cell<bool>,
    /// Whether nothing more will happen but by workers and the operator.
    is_over: Cell<bool>,
    pub(super) tally: RefCell<Tally>,
}

pub(super) async fn run<S: Arena>(number: usize) -> Tally {
    let run = Run::<S>::open(number).await;
    for at in [0, 1, 3, 5] {
        run.place_one(at, Duration::ZERO).await;
    }
    let events = async {
        tokio::join!(run.place_others(), run.strike(), run.disturb());
        run.meet().await;
        run.is_over.set(true);
    };
    let (happened, ended) = tokio::join!(timeout(PATIENCE, events), run.operate());
    let ended = happened.is_ok() && ended;
    for worker in run.workers.take() {
        let counts = worker.end();
        let count = |step: &str| counts.get(step).copied().unwrap_or_default();
        let mut tally = run.tally.borrow_mut();
        tally.count("later", count("later"));
        tally.count("leases", count("expired lease claimed"));
    }
    run.check(ended).await;
    drop(run.outbox);
    S::remove(&run.place).await;
    run.tally.into_inner()
}

impl<S: Arena> Run<S> {
    async fn open(number: usize) -> Self {
        let place = S::at(&S::address(&S::place().unwrap()));
        let outbox = loop {
            match S::prepare(&place).await {
                Ok(outbox) => break outbox,
                // Another run killed the database.
                Err(_) => sleep(Duration::from_millis(50)).await,
            }
        };
        let server = ReferenceServer::builder()
            .transport(Transport::Hyper)
            .wall_clock()
            .recorded_requests(usize::MAX)
            .people(1)
            .organizations(1)
            .opportunities(1)
            .tasks(1)
            .start()
            .await;
        let run = Self {
            number,
            place,
            outbox,
            calendar: calendar(&server, None),
            server,
            stored: RefCell::default(),
            workers: RefCell::default(),
            slow: Cell::new(usize::MAX),
            is_standing: Cell::default(),
            was_stopped: Cell::default(),
            is_settled: Cell::default(),
            is_over: Cell::default(),
            tally: RefCell::default(),
        };
        run.set_faults();
        run
    }

    /// Commands that need several attempts, and some that take longer than their deadline.
    fn set_faults(&self) {
        let mut rng = Rng::with_seed(self.number as u64);
        // Of each installation one, and none of the last two.
        let (mut keyed, mut unkeyed) = ([0, 1, 3].map(|at| at + 6 * rng.usize(..2)), [2, 8]);
        rng.shuffle(&mut keyed);
        rng.shuffle(&mut unkeyed);
        let fault = |at: usize| {
            let (command, title) = (is_keyed(at), format!("c{at}"));
            let fault = self.server.fault(operation(command));
            fault.when_member("/title", title)
        };
        let slow = LEASE + LEASE / 3;
        fault(keyed[0]).times(2).lose_reply();
        fault(keyed[1]).times(1 + rng.u64(..2)).status(503);
        fault(keyed[2]).times(1).delay(slow);
        fault(unkeyed[0]).times(1).lose_reply();
        let second = fault(unkeyed[1]).times(1);
        if rng.u8(..4) > 0 {
            second.delay(slow);
            self.slow.set(unkeyed[1]);
        } else {
            second.status(503);
        }
        for command in [true, false] {
            let fault = self.server.fault(operation(command));
            let short = Duration::from_millis(50);
            fault.probability(0.3, self.number as u64).delay(short);
        }
    }

    /// Places one of the twelve commands, in a transaction that stays open.
    async fn place_one(&self, at: usize, open: Duration) {
        let lane = LANES[at].map(|it| format!("{}-{it}", S::address(&self.place)));
        let (title, installation) = (format!("c{at}"), INSTALLATIONS[at % 6]);
        self.place(title, is_keyed(at), lane, installation, Way::Open(open))
            .await;
    }

    /// Places a command. Where the database fails, looks whether it was stored.
    async fn place(
        &self,
        title: String,
        is_keyed: bool,
        lane: Option<String>,
        installation: &str,
        way: Way,
    ) {
        let make = if is_keyed { keyed } else { unkeyed };
        let command = make(&self.calendar, &title);
        let mut entry = Entry::new(&command)
            .reference(&title)
            .installation(installation);
        if let Some(lane) = &lane {
            entry = entry.lane(lane);
        }
        let begun = Instant::now();
        let commit = loop {
            if let Ok(commit) = S::store(&self.place, &entry, way).await {
                break commit;
            }
            let is_there = format!("SELECT id FROM sdk_outbox WHERE reference = '{title}'");
            match S::rows(&self.place, &is_there).await {
                Ok(rows) if !rows.is_empty() => break [begun, Instant::now()],
                _ => sleep(Duration::from_millis(20)).await,
            }
        };
        self.stored.borrow_mut().push(Stored {
            title,
            lane,
            commit,
        });
    }

    /// Two services store in the same lane, and the first to store is the last to commit if it can be.
    async fn place_others(&self) {
        let mut rng = Rng::with_seed(self.number as u64);
        // The first commands are the last of their lanes while a worker stands still that settles one of them.
        while S::goes_on(self.step().0) && !self.is_standing.get() {
            sleep(Duration::from_millis(10)).await;
        }
        for [one, other] in [[2, 4], [6, 7], [8, 9], [10, 11]] {
            let second = async {
                sleep(Duration::from_millis(10)).await;
                self.place_one(other, Duration::ZERO).await;
            };
            tokio::join!(self.place_one(one, Duration::from_millis(25)), second);
            sleep(Duration::from_millis(rng.u64(50..250))).await;
        }
    }

    fn step(&self) -> (&'static str, Fate) {
        S::STEPS[self.number % STEPS]
    }

    /// Kills or stops a worker at a step, and has others take over.
    async fn strike(&self) {
        let (step, mut fate) = self.step();
        let round = self.number / STEPS;
        if round % 2 == 1 {
            fate = match fate {
                Fate::Killed => Fate::Stopped,
                Fate::Stopped => Fate::Killed,
            };
        }
        if step.contains("lease") {
            let mut first = self.start(Some("claimed#2"));
            first.stands().await;
            first.kill();
            self.workers.borrow_mut().push(first);
        }
        let mut worker = self.start(Some(&format!("{step}#{}", 1 + round / 2 % 3)));
        if worker.stands().await {
            self.tally.borrow_mut().stood.insert(step);
        } else {
            fate = Fate::Killed;
        }
        match fate {
            Fate::Killed => worker.kill(),
            Fate::Stopped => worker.signal("-STOP"),
        }
        self.is_standing.set(true);
        self.was_stopped.set(fate == Fate::Stopped);
        self.is_settled.set(fate == Fate::Killed);
        for _ in 0..S::WORKERS {
            let other = self.start(None);
            self.workers.borrow_mut().push(other);
        }
        if fate == Fate::Stopped {
            // In some rounds, PostgreSQL ends the transaction in which it stands still.
            let is_long = S::WORKERS > 1 && round % 4 > 1 && step.ends_with("not committed");
            let time = if is_long { IDLE } else { LEASE / 3 };
            self.stand_still(LEASE + time, S::goes_on(step)).await;
            worker.go_on();
            // Its calls have a shorter deadline.
            sleep(LEASE).await;
            self.is_settled.set(true);
        }
        self.workers.borrow_mut().push(worker);
    }

    /// While a worker stands still, others send what is new, also after its lease.
    async fn stand_still(&self, time: Duration, goes_on: bool) {
        let until = Instant::now() + time;
        sleep(LEASE).await;
        if goes_on {
            let (title, way) = ("probe".to_owned(), Way::Open(Duration::ZERO));
            self.place(title.clone(), true, None, "abroad", way).await;
            let is_done = async {
                while !committed(&self.server).contains(&title) {
                    sleep(Duration::from_millis(20)).await;
                }
            };
            if timeout(IDLE / 2, is_done).await.is_err() {
                self.broken("everybody waits for a worker that stands still");
            }
        }
        sleep(until.saturating_duration_since(Instant::now())).await;
    }

    async fn disturb(&self) {
        let mut rng = Rng::with_seed(self.number as u64);
        sleep(Duration::from_millis(rng.u64(300..2000))).await;
        // Without a connection there is nothing to end.
        let _ = S::disturb(&self.place, self.number).await;
    }

    /// Several workers see a command at the same moment.
    async fn meet(&self) {
        if S::WORKERS < 2 {
            return;
        }
        for number in 0..3 {
            let title = format!("meeting{number}");
            self.place(title, false, None, "abroad", Way::Together)
                .await;
            sleep(Duration::from_millis(100)).await;
        }
    }

    /// Decides about parked commands, until all are done or dropped. Looks whether each lane has one head.
    async fn operate(&self) -> bool {
        const LOOK: &str = "SELECT count(CASE WHEN state < 5 THEN 1 END) AS open,
            (SELECT count(*) FROM (SELECT lane FROM sdk_outbox WHERE lane IS NOT NULL AND state IN (1, 3, 4)
                GROUP BY lane HAVING count(*) > 1) AS two) AS two_heads,
            (SELECT count(*) FROM (SELECT lane FROM sdk_outbox WHERE lane IS NOT NULL AND state IN (1, 2, 3, 4)
                GROUP BY lane HAVING max(state) = 2 AND min(state) = 2) AS none) AS no_head FROM sdk_outbox";
        let (begun, mut seen) = (Instant::now(), HashMap::new());
        while begun.elapsed() < PATIENCE {
            let is_over = self.is_over.get();
            if let Ok(rows) = S::rows(&self.place, LOOK).await {
                let [open, two_heads, no_head] = std::array::from_fn(|at| rows[0][at] != "0");
                if two_heads {
                    self.broken("a lane has two heads");
                }
                if no_head {
                    self.broken("a lane waits without a head");
                }
                if is_over && !open {
                    return true;
                }
            }
            for parked in self.outbox.parked().await.unwrap_or_default() {
                let title = parked.reference.unwrap();
                let since = seen.entry(parked.id).or_insert_with(Instant::now);
                let decided = if committed(&self.server).contains(&title) {
                    self.outbox.drop(parked.id, "operator", "applied").await
                } else if self.is_settled.get() && since.elapsed() > LEASE / 3 {
                    // What was sent before it was parked has arrived.
                    self.outbox.retry(parked.id, "operator").await
                } else {
                    continue;
                };
                seen.remove(&parked.id);
                let mut tally = self.tally.borrow_mut();
                tally.count("parked", usize::from(decided.is_ok()));
            }
            sleep(Duration::from_millis(100)).await;
        }
        false
    }

    pub(super) async fn rows(&self, sql: &str) -> Vec<Vec<String>> {
        loop {
            match S::rows(&self.place, sql).await {
                Ok(rows) => return rows,
                // Another run killed the database.
                Err(_) => sleep(Duration::from_millis(50)).await,
            }
        }
    }

    pub(super) fn broken(&self, what: &str) {
        let (step, _) = self.step();
        let what = format!("{} run {} ({step}): {what}", S::NAME, self.number);
        let broken = &mut self.tally.borrow_mut().broken;
        if !broken.contains(&what) {
            broken.push(what);
        }
    }

    fn start(&self, stand: Option<&str>) -> Process {
        let mut worker = Command::new(std::env::current_exe().unwrap());
        worker.args(["--exact", "tests::kills::worker_process", "--nocapture"]);
        worker
            .envs(self.server.environment())
            .env("KILLS_STORE", S::NAME)
            .env("KILLS_PLACE", S::address(&self.place));
        if let Some(stand) = stand {
            worker.env("KILLS_STAND", stand);
        }
        Process::start(worker)
    }
}

/// Two of three commands have a key.
fn is_keyed(at: usize) -> bool {
    at % 3 < 2
}

pub(super) fn operation(is_keyed: bool) -> Operation {
    if is_keyed {
        Operation::SubmitEventCommand
    } else {
        Operation::RespondAttendance
    }
}
