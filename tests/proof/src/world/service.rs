//! A service: callers, walks and an outbox on its suites. It is killed at times, and starts again with what it stored.

use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use fastrand::Rng;
use suite_checker::Event;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::network::Network;
use super::outbox::Row;
use super::stage::locked;
use super::suites::Seat;
use super::walk::Kept;
use super::{all, caller, outbox, walk};

/// Longer than any world.
const A_YEAR: Duration = Duration::from_secs(365 * 86_400);

/// What outlives a service.
#[derive(Clone)]
pub(super) struct Store {
    pub(super) rows: Arc<Mutex<Vec<Row>>>,
    pub(super) walks: Arc<Mutex<Vec<Option<Kept>>>>,
}

/// What a service is made of.
pub(super) struct Service {
    pub(super) network: Network,
    pub(super) callers: usize,
    pub(super) walks: usize,
    /// How long it lives on average, in milliseconds, if it is killed at all.
    pub(super) life: Option<u64>,
    /// The longest usual pause of a caller, in milliseconds.
    pub(super) pace: u64,
    /// The instant at which the world began, by the wall clock, which prepared commands go by. No world lasts as long as the
    /// oldest of them may be.
    pub(super) epoch: SystemTime,
}

impl Service {
    /// Runs until everything it stored is done and nothing new begins.
    pub(super) async fn run(self, mut rng: Rng) {
        let network = &self.network;
        let stage = &network.stage;
        let store = Store {
            rows: Arc::default(),
            walks: Arc::new(Mutex::new(vec![None; self.walks])),
        };
        loop {
            let seats = self.seats(&mut rng);
            let suites: Vec<u32> = seats.iter().map(|it| it.usual.terms.suite).collect();
            let mut tasks = self.start(&seats, &store, &mut rng);
            let life = self.life.filter(|_| !stage.is_calm());
            let life = life.map_or(A_YEAR, |it| Duration::from_millis(rng.u64(1..2 * it)));
            let ended = timeout(life, all(&mut tasks)).await.is_ok();
            if ended || stage.is_calm() {
                // If it was to be killed, that time is over.
                return all(&mut tasks).await;
            }
            stage.count("crashes");
            network.kill(&suites);
            stage.record(Event::Crashed { suites });
            tasks.shutdown().await;
            sleep(Duration::from_millis(rng.u64(0..3_000))).await;
        }
    }

    fn seats(&self, rng: &mut Rng) -> Vec<Seat> {
        let mut seats: Vec<Seat> = Vec::new();
        for at in 0..self.network.installations.len() {
            let beside = seats.first().filter(|_| rng.bool());
            seats.push(Seat::new(&self.network, at, beside, rng));
        }
        seats
    }

    fn start(&self, seats: &[Seat], store: &Store, rng: &mut Rng) -> JoinSet<()> {
        let mut tasks = JoinSet::new();
        for _ in 0..self.callers {
            let seats = Seat::for_caller(seats);
            tasks.spawn(caller::call(seats, rng.fork(), self.pace));
        }
        for slot in 0..self.walks {
            let seats = Seat::for_caller(seats);
            tasks.spawn(walk::walk(seats, store.clone(), slot, rng.fork()));
        }
        let seats = Seat::for_caller(seats);
        tasks.spawn(outbox::work(seats, store.clone(), self.epoch, rng.fork()));
        tasks
    }
}

impl Store {
    /// Changes the row of a command.
    pub(super) fn change(&self, number: u64, change: impl Fn(&mut Row)) {
        let mut rows = locked(&self.rows);
        rows.iter_mut()
            .filter(|row| row.number == number)
            .for_each(change);
    }
}
