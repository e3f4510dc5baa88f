//! The suites of a service, one for each installation, with limits and policies of any kind.

use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;
use sdk_core::{Backoff, CallOptions, Error, RetryPolicy, Suite, TokenPolicy};
use suite_checker::{Asked, Event, Kind};

use super::broken::Wire;
use super::call::{About, retry};
use super::installation::Installation;
use super::network::{AGENT, TENANT};
use super::stage::{Number, Stage};

/// The retry budget of a suite, and the cost of a retry.
const BUDGET: u32 = 500;
const RETRY_COST: u32 = 5;

/// A suite and its clients.
#[derive(Clone)]
pub(super) struct Seat {
    pub(super) stage: Arc<Stage>,
    pub(super) installations: Arc<Vec<Installation>>,
    /// The number of its suite.
    pub(super) suite: u32,
    /// The place of its installation.
    pub(super) at: usize,
    /// The caller that uses it.
    pub(super) caller: u64,
    /// The deadline of calls that set none, and their retries.
    deadline: Duration,
    timeout: Duration,
    policy: RetryPolicy,
    wire: Wire,
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
        wire: &Wire,
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
            None => builder.transport(wire.clone()),
        };
        let (mut deadline, mut policy) = (Duration::from_secs(30), RetryPolicy::default());
        let mut timeout = Duration::from_secs(10);
        if rng.bool() {
            let short = Duration::from_millis(rng.u64(2_000..20_000));
            let quick = Duration::from_millis(rng.u64(500..4_000));
            policy = retry(rng);
            builder = builder.retry(policy);
            if !stage.is_faultless() {
                (deadline, timeout) = (short, quick);
                builder = builder.deadline(deadline);
            }
        }
        if rng.bool() {
            builder = builder.token_policy(quick(rng));
        }
        let most = (rng.u8(..4) == 0).then(|| rng.usize(1..5));
        if let Some(most) = most {
            builder = builder.max_in_flight(most);
        }
        let retries = (BUDGET / RETRY_COST) as usize;
        stage.record(Event::Opened {
            suite,
            most,
            retries,
        });
        let builder = builder.retry_budget(BUDGET).timeout(timeout);
        let shared = builder.build().expect("its settings are sound");
        let number = installations[at].number;
        let (crm, calendar, accounting) = clients(&shared, number).expect("they have addresses");
        Self {
            stage: Arc::clone(stage),
            installations: Arc::clone(installations),
            suite,
            at,
            caller: 0,
            deadline,
            timeout,
            policy,
            wire: wire.clone(),
            shared,
            crm,
            calendar,
            accounting,
        }
    }

    /// The same suite with other clients.
    pub(super) fn with_new_clients(mut self) -> Self {
        let number = self.installation().number;
        let clients = clients(&self.shared, number).expect("they have addresses");
        (self.crm, self.calendar, self.accounting) = clients;
        self
    }

    /// The same installation with a new suite, as in another process.
    pub(super) fn in_another_process(&self, rng: &mut Rng) -> Self {
        let new = Self::new(
            &self.stage,
            &self.installations,
            &self.wire,
            self.at,
            None,
            rng,
        );
        Self {
            caller: self.caller,
            ..new
        }
    }

    /// The seats of a new caller.
    pub(super) fn for_caller(seats: &[Self]) -> Vec<Self> {
        let caller = seats[0].stage.next(Number::Caller);
        let seats = seats.iter().cloned();
        seats.map(|it| Self { caller, ..it }).collect()
    }

    pub(super) fn installation(&self) -> &Installation {
        &self.installations[self.at]
    }

    pub(super) fn about(&self, operation: &'static str, kind: Kind) -> About {
        About {
            stage: Arc::clone(&self.stage),
            caller: self.caller,
            suite: self.suite,
            operation,
            kind,
            deadline: Some(self.deadline),
            timeout: self.timeout,
            command: None,
            policy: self.policy,
            resends: None,
            asked: Asked::default(),
        }
    }
}

type Clients = (
    sdk_crm::Client,
    sdk_calendar::Client,
    sdk_accounting::Client,
);

/// The clients of an installation, which they name in a header of all their calls.
fn clients(suite: &Suite, installation: u32) -> Result<Clients, Error> {
    let defaults = CallOptions::default().with_header(TENANT, &installation.to_string());
    Ok((
        sdk_crm::Client::new(suite)?.with_defaults(defaults.clone()),
        sdk_calendar::Client::new(suite)?.with_defaults(defaults.clone()),
        sdk_accounting::Client::new(suite)?.with_defaults(defaults),
    ))
}

/// A policy of tokens that does not wait long.
fn quick(rng: &mut Rng) -> TokenPolicy {
    let millis = |rng: &mut Rng, most: u64| Duration::from_millis(rng.u64(most / 10..most));
    let (backoff, renewals) = (millis(rng, 1_000), millis(rng, 5_000));
    let mut policy = TokenPolicy::default();
    policy.exchange_timeout = millis(rng, 5_000);
    policy.renewal_timeout = millis(rng, 20_000);
    policy.attempts = rng.u32(1..5);
    policy.backoff = Backoff::new(backoff / 5, backoff);
    policy.renewal_backoff = Backoff::new(renewals / 5, renewals);
    policy.max_retry_after = millis(rng, 10_000);
    policy
}
