//! A small world of services, installations and a network, all from one seed on a clock that stands still.

mod answer;
mod broken;
mod call;
mod caller;
mod fate;
mod installation;
mod network;
mod outbox;
mod service;
mod stage;
mod suites;
#[cfg(test)]
mod tests;
mod walk;

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

/// How often each thing happened, such as `requests` and `worlds`. The names of faults begin with `fault:`.
pub type Totals = BTreeMap<&'static str, u64>;

/// How long a simulation may need for its requests.
const BUSY: Duration = Duration::from_secs(4 * 3_600);

/// How long a world may need once it is calm: all that is under way, and all that is stored, after the longest wait that the
/// rule for stored commands grants a server.
const PATIENCE: Duration = Duration::from_secs(2 * 3_600);

/// What a seed makes of a world.
#[derive(Clone, Copy, Debug)]
pub struct World {
    /// Everything follows from it.
    pub seed: u64,
    /// How many requests it takes until the world is calm.
    pub requests: u64,
    /// Whether a hundred callers and more share one suite.
    pub crowded: bool,
    /// Whether it keeps all lines that anybody may read.
    pub logged: bool,
    /// Whether no request is struck.
    pub faultless: bool,
    /// The SDK that its services use.
    pub sdk: Sdk,
}

impl World {
    /// The world of a seed.
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

    /// The number of its steps: half as many again for each request as any correct SDK took, and those of its start.
    pub(crate) fn steps(&self) -> u64 {
        24 * self.requests + 3_000
    }

    /// Lets it happen.
    ///
    /// # Panics
    /// If the world itself is broken: a part of it panics.
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
                walks: rng.usize(1..=3),
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
        let whole = async {
            within(&stage, BUSY, trouble(&network, faults), enough).await?;
            stage.calm();
            for installation in &network.installations {
                installation.rotate(&stage, &mut rng)();
                // A command that waits for long is answered by a version that its SDK knows.
                installation.end_drift();
            }
            within(&stage, PATIENCE, pending(), all(&mut services)).await?;
            // What is still on its way arrives.
            sleep(Duration::from_secs(120)).await;
            Ok(())
        };
        let ended = whole
            .await
            .map_or_else(|limit| Event::Stuck { limit }, |()| Event::Ended);
        stage.record(ended);
        services.shutdown().await;
        stage.count("worlds");
        stage.end()
    }
}

/// Waits for all services, or for all parts of one.
async fn all(tasks: &mut JoinSet<()>) {
    while let Some(ended) = tasks.join_next().await {
        ended.expect("nobody panics");
    }
}

/// Runs a part of a simulation with all that goes wrong in it, within its limits.
async fn within(
    stage: &Stage,
    time: Duration,
    trouble: impl Future<Output = ()>,
    part: impl Future<Output = ()>,
) -> Result<(), String> {
    tokio::select! {
        biased;
        () = stage.stuck.notified() => Err("it took all its steps".to_owned()),
        ended = timeout(time, part) => ended.map_err(|_elapsed| format!("{time:?} passed")),
        () = trouble => unreachable!("it goes on"),
    }
}

/// What goes wrong besides single requests: outages, revocations, rotations.
async fn trouble(network: &Network, mut rng: Rng) {
    let (stage, installations) = (&network.stage, &network.installations);
    if stage.world.faultless {
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
