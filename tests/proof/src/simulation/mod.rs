//! A simulation of services, installations and a network, with random decisions from one seed and a paused clock.

mod answer;
mod broken;
mod call;
mod caller;
mod fate;
mod installation;
mod listing;
mod network;
mod outbox;
mod service;
mod stage;
mod suites;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::future::pending;
use std::time::{Duration, SystemTime};

use fastrand::Rng;
use suite_checker::{Event, History};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

pub use broken::Sdk;

use installation::{APPS, Installation};
use network::Network;
use service::Service;
use stage::Stage;

/// The count of each kind of event, such as `requests` and `simulations`. The names of faults begin with `fault:`.
pub type Totals = BTreeMap<&'static str, u64>;

/// The time limit until the simulation is calm.
const BUSY: Duration = Duration::from_secs(4 * 3_600);

/// The time limit after that, for calls in flight and stored commands. The limit covers the longest delay that the rule
/// for stored commands grants a server.
const PATIENCE: Duration = Duration::from_secs(2 * 3_600);

/// The properties of a simulation, derived from its seed.
#[derive(Clone, Copy, Debug)]
pub struct Simulation {
    /// The seed of all random decisions.
    pub seed: u64,
    /// The number of requests until the simulation becomes calm.
    pub requests: u64,
    /// Whether at least 100 callers share one suite.
    pub crowded: bool,
    /// Whether it records all lines that users can read.
    pub logged: bool,
    /// Whether no request gets a fault.
    pub faultless: bool,
    /// The SDK that the services use.
    pub sdk: Sdk,
}

impl Simulation {
    /// Derives a simulation from a seed.
    #[must_use]
    pub fn of(seed: u64) -> Self {
        let mut rng = Rng::with_seed(seed);
        Self {
            seed,
            requests: rng.u64(1_000..4_000),
            crowded: seed % 20 == 19,
            logged: seed % 10 == 9,
            faultless: seed % 20 == 10,
            sdk: Sdk::Correct,
        }
    }

    /// Returns the number of steps: 1.5 times the maximum per request of any correct SDK, plus the steps of the start.
    pub(crate) fn steps(&self) -> u64 {
        24 * self.requests + 3_000
    }

    /// Runs the simulation.
    ///
    /// # Panics
    /// If a part of the simulation itself panics.
    #[must_use]
    pub fn run(&self) -> (History, Totals) {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_time().start_paused(true).build();
        let runtime = runtime.expect("a runtime without drivers");
        runtime.block_on(self.happen())
    }

    async fn happen(&self) -> (History, Totals) {
        let mut rng = Rng::with_seed(self.seed ^ 0x5eed);
        let stage = Stage::new(*self);
        if self.faultless {
            stage.record(Event::Faultless);
        }
        let _lines = self.logged.then(|| stage::keep_lines(&stage));
        let mut installations = Vec::new();
        let (count, shared) = if self.crowded {
            (1, false)
        } else {
            (rng.u32(2..=3), rng.bool())
        };
        for number in 0..count {
            installations.push(Installation::new(&stage, number, &mut rng, shared).await);
        }
        let network = Network::new(&stage, installations, &mut rng);
        let mut services = JoinSet::new();
        for _ in 0..if self.crowded { 1 } else { rng.u8(1..=3) } {
            let crowd = Some(rng.usize(100..150)).filter(|_| self.crowded);
            let service = Service {
                network: network.clone(),
                callers: crowd.unwrap_or_else(|| rng.usize(3..=20)),
                listings: rng.usize(1..=3),
                life: (rng.bool() && !self.faultless).then(|| rng.u64(2_000..60_000)),
                pace: [10, 300, 3_000][rng.usize(..3)],
                epoch: SystemTime::now(),
            };
            services.spawn(service.run(rng.fork()));
        }
        let faults = rng.fork();
        let enough = async {
            while stage.requests() < self.requests {
                sleep(Duration::from_millis(100)).await;
            }
        };
        let phases = async {
            within(&stage, BUSY, trouble(&network, faults), enough).await?;
            stage.calm();
            for installation in &network.installations {
                installation.rotate(&stage, &mut rng)();
                // Commands that have waited long then get answers in a version that their SDK knows.
                installation.end_upgrade();
            }
            within(&stage, PATIENCE, pending(), all(&mut services)).await?;
            // Requests in transit arrive.
            sleep(Duration::from_secs(120)).await;
            Ok(())
        };
        let ended = phases
            .await
            .map_or_else(|limit| Event::Stuck { limit }, |()| Event::Ended);
        stage.record(ended);
        services.shutdown().await;
        stage.count("simulations");
        stage.end()
    }
}

/// Waits for all services, or for all parts of one service.
async fn all(tasks: &mut JoinSet<()>) {
    while let Some(ended) = tasks.join_next().await {
        ended.expect("no task panics");
    }
}

/// Runs a part of a simulation together with its faults, within its limits.
async fn within(
    stage: &Stage,
    time: Duration,
    trouble: impl Future<Output = ()>,
    part: impl Future<Output = ()>,
) -> Result<(), String> {
    tokio::select! {
        biased;
        () = stage.stuck.notified() => Err("it used up all its steps".to_owned()),
        ended = timeout(time, part) => ended.map_err(|_elapsed| format!("{time:?} passed")),
        () = trouble => unreachable!("the faults never end"),
    }
}

/// Causes faults other than request faults: outages, revocations and rotations.
async fn trouble(network: &Network, mut rng: Rng) {
    let (stage, installations) = (&network.stage, &network.installations);
    if stage.simulation.faultless {
        return pending().await;
    }
    let often = [4_000, 30_000, 200_000][rng.usize(..3)];
    let mut followers = JoinSet::new();
    loop {
        sleep(Duration::from_millis(rng.u64(1..2 * often))).await;
        let at = rng.usize(..installations.len());
        let installation = &installations[at];
        let time = Duration::from_millis(rng.u64(1..20_000));
        match rng.u8(..10) {
            0..5 => {
                let app = rng.usize(..APPS.len());
                network.take_down(at, app, time, rng.u8(..4));
            }
            5..8 => {
                stage.count("fault: tokens revoked");
                installation.server.revoke_tokens();
            }
            _ => {
                stage.count("fault: secret rotated");
                let follow = installation.rotate(stage, &mut rng);
                followers.spawn(async move {
                    sleep(time).await;
                    follow();
                });
            }
        }
    }
}
