//! The suites of a service, one for each installation, with random limits and policies.

use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;
use sdk_core::{Backoff, CallOptions, RetryPolicy, Suite, TokenPolicy};
use suite_checker::{Event, Kind, Terms};

use super::broken::Sdk;
use super::call::{About, retry};
use super::installation::Installation;
use super::network::{AGENT, Network, TENANT};
use super::stage::{Number, Stage, micros};

/// The retry budget of a suite, and the cost of a retry.
const BUDGET: u32 = 500;
const RETRY_COST: u32 = 5;

/// A suite and its clients.
#[derive(Clone)]
pub(super) struct Seat {
    pub(super) stage: Arc<Stage>,
    /// The index of its installation.
    pub(super) at: usize,
    /// The common terms of its calls: suite, caller and defaults.
    pub(super) usual: About,
    network: Network,
    shared: Suite,
    pub(super) crm: sdk_crm::Client,
    pub(super) calendar: sdk_calendar::Client,
    pub(super) accounting: sdk_accounting::Client,
}

impl Seat {
    /// Builds a suite of an installation, on the connections of `beside` if it is given.
    pub(super) fn new(network: &Network, at: usize, beside: Option<&Self>, rng: &mut Rng) -> Self {
        let (stage, installation) = (&network.stage, &network.installations[at]);
        stage.count("suites");
        let suite = stage.next_suite();
        let builder = installation.addressed(Suite::builder());
        let mut builder = builder
            .seed(rng.u64(..))
            .user_agent(format!("{AGENT}{suite}"));
        builder = match beside {
            Some(other) => builder.transport_of(&other.shared),
            None => builder.transport(network.clone()),
        };
        let (mut deadline, mut policy) = (Duration::from_secs(30), RetryPolicy::default());
        let mut timeout = Duration::from_secs(10);
        if rng.bool() {
            let short = Duration::from_millis(rng.u64(2_000..20_000));
            let quick = Duration::from_millis(rng.u64(500..4_000));
            policy = retry(rng);
            if !stage.simulation.faultless {
                (deadline, timeout) = (short, quick);
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
        let builder = builder.retry_budget(BUDGET).retry(policy);
        let mut builder = builder.timeout(timeout).deadline(deadline);
        if stage.simulation.sdk == Sdk::NeverRetries {
            builder = builder.retry(RetryPolicy::none());
        }
        let shared = builder.build().expect("its settings are valid");
        let (crm, calendar, accounting) = clients(&shared, header(network, at));
        let terms = Terms {
            suite,
            timeout: micros(timeout),
            ..Terms::default()
        };
        Self {
            stage: Arc::clone(stage),
            at,
            usual: About {
                stage: Arc::clone(stage),
                terms,
                deadline: Some(deadline),
                policy,
            },
            network: network.clone(),
            shared,
            crm,
            calendar,
            accounting,
        }
    }

    pub(super) fn with_new_clients(mut self) -> Self {
        let clients = clients(&self.shared, header(&self.network, self.at));
        (self.crm, self.calendar, self.accounting) = clients;
        self
    }

    /// Returns a new suite of the same installation, as in another process.
    pub(super) fn in_another_process(&self, rng: &mut Rng) -> Self {
        let mut new = Self::new(&self.network, self.at, None, rng);
        new.usual.terms.caller = self.usual.terms.caller;
        new
    }

    pub(super) fn for_caller(seats: &[Self]) -> Vec<Self> {
        let caller = seats[0].stage.next(Number::Caller);
        let mut seats = seats.to_vec();
        for seat in &mut seats {
            seat.usual.terms.caller = caller;
        }
        seats
    }

    pub(super) fn installation(&self) -> &Installation {
        &self.network.installations[self.at]
    }

    pub(super) fn about(&self, operation: &'static str, kind: Kind) -> About {
        let mut about = self.usual.clone();
        (about.terms.operation, about.terms.kind) = (operation.to_owned(), kind);
        about
    }
}

type Clients = (
    sdk_crm::Client,
    sdk_calendar::Client,
    sdk_accounting::Client,
);

/// Returns the installation number for the header of the clients. A broken SDK uses another installation.
fn header(network: &Network, at: usize) -> u32 {
    let foreign = network.stage.simulation.sdk == Sdk::ForeignHeader;
    let at = (at + usize::from(foreign)) % network.installations.len();
    network.installations[at].number
}

/// Builds the clients of an installation. They send its number in a header of all their calls.
fn clients(suite: &Suite, installation: u32) -> Clients {
    let defaults = || CallOptions::default().with_header(TENANT, &installation.to_string());
    macro_rules! client {
        ($application:ident) => {{
            let client = $application::Client::new(suite).expect("the application has an address");
            client.with_defaults(defaults())
        }};
    }
    (
        client!(sdk_crm),
        client!(sdk_calendar),
        client!(sdk_accounting),
    )
}

/// Draws a token policy with short delays.
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
