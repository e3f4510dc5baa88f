//! The suites of a service, one for each installation, with limits and policies of any kind.

use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;
use sdk_core::{Backoff, Error, Suite, TokenPolicy};
use suite_checker::Kind;

use super::call::{About, retry};
use super::installation::Installation;
use super::network::{AGENT, Network};
use super::stage::Stage;

/// A suite and its clients.
#[derive(Clone)]
pub(super) struct Seat {
    pub(super) stage: Arc<Stage>,
    pub(super) installations: Arc<Vec<Installation>>,
    /// The number of its suite.
    pub(super) suite: u32,
    /// The place of its installation.
    pub(super) at: usize,
    /// The deadline of calls that set none.
    deadline: Duration,
    shared: Suite,
    pub(super) crm: sdk_crm::Client,
    pub(super) calendar: sdk_calendar::Client,
    pub(super) accounting: sdk_accounting::Client,
}

impl Seat {
    /// A suite of an installation, on the connections of another one if there is one.
    pub(super) fn new(
        stage: &Arc<Stage>,
        installations: &Arc<Vec<Installation>>,
        network: &Network,
        at: usize,
        beside: Option<&Self>,
        rng: &mut Rng,
    ) -> Self {
        stage.count("suites");
        let suite = stage.next_suite();
        let builder = installations[at].addressed(Suite::builder());
        let mut builder = builder
            .seed(rng.u64(..))
            .user_agent(format!("{AGENT}{suite}"));
        builder = match beside {
            Some(other) => builder.transport_of(&other.shared),
            None => builder.transport(network.clone()),
        };
        let mut deadline = Duration::from_secs(30);
        if rng.bool() {
            deadline = Duration::from_millis(rng.u64(2_000..20_000));
            let timeout = Duration::from_millis(rng.u64(500..4_000));
            builder = builder
                .deadline(deadline)
                .timeout(timeout)
                .retry(retry(rng));
        }
        if rng.bool() {
            builder = builder.token_policy(quick(rng));
        }
        if rng.u8(..4) == 0 {
            builder = builder.max_in_flight(rng.usize(1..5));
        }
        let shared = builder.build().expect("its settings are sound");
        let (crm, calendar, accounting) = clients(&shared).expect("they have addresses");
        Self {
            stage: Arc::clone(stage),
            installations: Arc::clone(installations),
            suite,
            at,
            deadline,
            shared,
            crm,
            calendar,
            accounting,
        }
    }

    /// The same suite with other clients.
    pub(super) fn with_new_clients(mut self) -> Self {
        let clients = clients(&self.shared).expect("they have addresses");
        (self.crm, self.calendar, self.accounting) = clients;
        self
    }

    pub(super) fn installation(&self) -> &Installation {
        &self.installations[self.at]
    }

    pub(super) fn about(&self, operation: &'static str, kind: Kind) -> About {
        About {
            stage: Arc::clone(&self.stage),
            suite: self.suite,
            operation,
            kind,
            deadline: Some(self.deadline),
            command: None,
        }
    }
}

type Clients = (
    sdk_crm::Client,
    sdk_calendar::Client,
    sdk_accounting::Client,
);

fn clients(suite: &Suite) -> Result<Clients, Error> {
    Ok((
        sdk_crm::Client::new(suite)?,
        sdk_calendar::Client::new(suite)?,
        sdk_accounting::Client::new(suite)?,
    ))
}

/// A policy of tokens that does not wait long.
fn quick(rng: &mut Rng) -> TokenPolicy {
    let millis = |rng: &mut Rng, most: u64| Duration::from_millis(rng.u64(most / 10..most));
    let (backoff, renewals) = (millis(rng, 1_000), millis(rng, 5_000));
    TokenPolicy::default()
        .with_exchange_timeout(millis(rng, 5_000))
        .with_renewal_timeout(millis(rng, 20_000))
        .with_attempts(rng.u32(1..5))
        .with_backoff(Backoff::new(backoff / 5, backoff))
        .with_renewal_backoff(Backoff::new(renewals / 5, renewals))
        .with_max_retry_after(millis(rng, 10_000))
}
