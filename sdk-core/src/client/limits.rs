//! The limits of a call: from its own options, else those of its client, else those of the suite.

use std::time::Duration;

use tokio::time::Instant;

use crate::options::{CallOptions, ExactReplay, SchemaPolicy, ScopePolicy};
use crate::policy::retry::RetryPolicy;
use crate::suite::Settings;
use crate::token::lifetime::later;

/// The limits of a call, resolved once when it begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) attempt_timeout: Duration,
    /// How long the call may take as a whole.
    pub(crate) total: Duration,
    pub(crate) deadline: Instant,
    pub(crate) max_bytes: usize,
    pub(crate) max_elements: usize,
    pub(crate) retry: RetryPolicy,
    pub(crate) schema_policy: SchemaPolicy,
    /// `None` unless it is set anywhere.
    pub(crate) exact_replay: Option<ExactReplay>,
    pub(crate) scope_policy: ScopePolicy,
}

impl Limits {
    /// The limits of a call that begins now.
    pub(crate) fn resolve(own: &CallOptions, client: &CallOptions, suite: &Settings) -> Self {
        let total = own.deadline.or(client.deadline).unwrap_or(suite.deadline);
        Self {
            attempt_timeout: own
                .timeout
                .or(client.timeout)
                .unwrap_or(suite.attempt_timeout),
            total,
            deadline: later(Instant::now(), total),
            max_bytes: suite.max_response_bytes,
            max_elements: suite.max_response_elements,
            retry: own.retry.or(client.retry).unwrap_or(suite.retry),
            schema_policy: own
                .schema_policy
                .or(client.schema_policy)
                .unwrap_or(suite.schema_policy),
            exact_replay: own
                .exact_replay
                .or(client.exact_replay)
                .or(suite.exact_replay),
            scope_policy: own
                .scope_policy
                .or(client.scope_policy)
                .unwrap_or(suite.scope_policy),
        }
    }

    /// How long an attempt that begins now may take.
    pub(crate) fn attempt_time(&self) -> Duration {
        let left = self.deadline.saturating_duration_since(Instant::now());
        left.min(self.attempt_timeout)
    }

    /// When an attempt that begins now must have ended: its own time limit and the deadline of the call both apply.
    pub(crate) fn attempt_end(&self) -> Instant {
        let end = Instant::now().checked_add(self.attempt_timeout);
        end.map_or(self.deadline, |end| end.min(self.deadline))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_overrides_its_client_and_that_overrides_the_suite() {
        let mut suite = Settings::default();
        let second = Duration::from_secs(1);
        let options = |time: Duration, attempts: u32, replay, scopes, schema| {
            let mut options = CallOptions::default();
            (options.timeout, options.deadline) = (Some(time), Some(time));
            options.retry = Some(RetryPolicy::default().with_attempts(attempts));
            (options.exact_replay, options.scope_policy) = (Some(replay), Some(scopes));
            options.schema_policy = Some(schema);
            options
        };
        let of = |limits: Limits| {
            let times = (limits.attempt_timeout, limits.total);
            let attempts = limits.retry.attempts;
            let said = (limits.exact_replay, limits.scope_policy);
            (times, attempts, said, limits.schema_policy)
        };
        let unset = CallOptions::default();
        let (allowed, refuse) = (ExactReplay::Allowed, ScopePolicy::Refuse);
        let (forbidden, ask) = (ExactReplay::Forbidden, ScopePolicy::default());
        let (warn, strict) = (SchemaPolicy::Warn, SchemaPolicy::Refuse);
        let two = 2 * second;
        let own = options(second, 1, allowed, refuse, warn);
        let client = options(two, 0, forbidden, ask, strict);
        let by_call = ((second, second), 1, (Some(allowed), refuse), warn);
        let by_client = ((two, two), 0, (Some(forbidden), ask), strict);
        assert_eq!(of(Limits::resolve(&own, &client, &suite)), by_call);
        assert_eq!(of(Limits::resolve(&unset, &client, &suite)), by_client);
        (suite.attempt_timeout, suite.deadline) = (3 * second, 4 * second);
        suite.exact_replay = Some(allowed);
        let by_suite = ((3 * second, 4 * second), 3, (Some(allowed), ask), strict);
        assert_eq!(of(Limits::resolve(&unset, &unset, &suite)), by_suite);
    }
}
