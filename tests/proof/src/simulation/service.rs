//! A service with callers, listings and an outbox, which is sometimes killed and restarts with its stored state.

use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use fastrand::Rng;
use suite_checker::Event;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::listing::Progress;
use super::network::Network;
use super::outbox::Row;
use super::stage::locked;
use super::suites::Seat;
use super::{all, caller, listing, outbox};

/// A time longer than any simulation.
const A_YEAR: Duration = Duration::from_secs(365 * 86_400);

/// The state that survives a crash.
#[derive(Clone)]
pub(super) struct Store {
    pub(super) rows: Arc<Mutex<Vec<Row>>>,
    pub(super) listings: Arc<Mutex<Vec<Option<Progress>>>>,
}

pub(super) struct Service {
    pub(super) network: Network,
    pub(super) callers: usize,
    pub(super) listings: usize,
    /// The average time until the service is killed, in milliseconds. `None` if it is never killed.
    pub(super) life: Option<u64>,
    /// The longest usual pause of a caller, in milliseconds.
    pub(super) pace: u64,
    /// The wall-clock time at which the simulation began. Prepared commands use the wall clock. No simulation lasts as
    /// long as the maximum age of a command.
    pub(super) epoch: SystemTime,
}

impl Service {
    /// Runs until the simulation is calm and all stored work is complete.
    pub(super) async fn run(self, mut rng: Rng) {
        let network = &self.network;
        let stage = &network.stage;
        let store = Store {
            rows: Arc::default(),
            listings: Arc::new(Mutex::new(vec![None; self.listings])),
        };
        loop {
            let seats = self.seats(&mut rng);
            let suites: Vec<u32> = seats.iter().map(|it| it.usual.terms.suite).collect();
            let mut tasks = self.start(&seats, &store, &mut rng);
            let life = self.life.filter(|_| !stage.is_calm());
            let life = life.map_or(A_YEAR, |it| Duration::from_millis(rng.u64(1..2 * it)));
            let ended = timeout(life, all(&mut tasks)).await.is_ok();
            if ended || stage.is_calm() {
                // In the calm phase, the service is no longer killed.
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
        for slot in 0..self.listings {
            let seats = Seat::for_caller(seats);
            tasks.spawn(listing::work(seats, store.clone(), slot, rng.fork()));
        }
        let seats = Seat::for_caller(seats);
        tasks.spawn(outbox::work(seats, store.clone(), self.epoch, rng.fork()));
        tasks
    }
}

impl Store {
    pub(super) fn change(&self, number: u64, change: impl Fn(&mut Row)) {
        let mut rows = locked(&self.rows);
        rows.iter_mut()
            .filter(|row| row.number == number)
            .for_each(change);
    }
}
