//! Resolves a call's limits. The call's options override the client's, which override the suite's.

use std::time::Duration;

use tokio::time::Instant;

use crate::options::{CallOptions, ExactReplay, SchemaPolicy, ScopePolicy};
use crate::policy::retry::RetryPolicy;
use crate::token::lifetime::later;

/// Far longer than a page or a command takes. A stalled connection is abandoned in time for a retry.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(10);

/// Enough for three attempts with their delays, and shorter than a typical caller's request timeout (60 s).
const DEADLINE: Duration = Duration::from_secs(30);

/// The limits of a call, resolved when it begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) attempt_timeout: Duration,
    pub(crate) total: Duration,
    pub(crate) deadline: Instant,
    pub(crate) retry: RetryPolicy,
    pub(crate) schema_policy: SchemaPolicy,
    pub(crate) exact_replay: Option<ExactReplay>,
    pub(crate) scope_policy: ScopePolicy,
}

impl Limits {
    /// Returns the limits of a call that begins now. The first options that set a limit apply.
    pub(crate) fn resolve(options: [&CallOptions; 3]) -> Self {
        let deadline = options.iter().find_map(|it| it.deadline);
        let timeout = options.iter().find_map(|it| it.timeout);
        let retry = options.iter().find_map(|it| it.retry);
        let schema_policy = options.iter().find_map(|it| it.schema_policy);
        let scope_policy = options.iter().find_map(|it| it.scope_policy);
        let total = deadline.unwrap_or(DEADLINE);
        Self {
            attempt_timeout: timeout.unwrap_or(ATTEMPT_TIMEOUT),
            total,
            deadline: later(Instant::now(), total),
            retry: retry.unwrap_or_default(),
            schema_policy: schema_policy.unwrap_or_default(),
            exact_replay: options.iter().find_map(|it| it.exact_replay),
            scope_policy: scope_policy.unwrap_or_default(),
        }
    }

    pub(crate) fn attempt_time(&self) -> Duration {
        let left = self.deadline.saturating_duration_since(Instant::now());
        left.min(self.attempt_timeout)
    }

    /// Both the attempt's timeout and the deadline of the call apply.
    pub(crate) fn attempt_end(&self) -> Instant {
        let end = Instant::now().checked_add(self.attempt_timeout);
        end.map_or(self.deadline, |end| end.min(self.deadline))
    }
}

#[cfg(test)]
mod tests {
    use crate::policy::retry::Backoff;
    use crate::suite::build::{MAX_RESPONSE_BYTES, MAX_RESPONSE_ELEMENTS, RETRY_BUDGET};
    use crate::token::policy::TokenPolicy;

    use super::*;

    fn options(seconds: u64, attempts: u32) -> CallOptions {
        let time = Duration::from_secs(seconds);
        CallOptions::default()
            .with_timeout(time)
            .with_deadline(2 * time)
            .with_retry(RetryPolicy::default().with_attempts(attempts))
    }

    #[test]
    fn options_of_a_call_override_its_client_and_its_suite() {
        let unset = CallOptions::default();
        let (call, client, suite) = (options(1, 1), options(2, 2), options(3, 5));
        let of = |options: [&CallOptions; 3]| {
            let limits = Limits::resolve(options);
            let times = (limits.attempt_timeout.as_secs(), limits.total.as_secs());
            (times, limits.retry.attempts)
        };
        assert_eq!(of([&call, &client, &suite]), ((1, 2), 1));
        assert_eq!(of([&unset, &client, &suite]), ((2, 4), 2));
        assert_eq!(of([&unset, &unset, &suite]), ((3, 6), 5));
        let times = (ATTEMPT_TIMEOUT.as_secs(), DEADLINE.as_secs());
        let attempts = RetryPolicy::default().attempts;
        assert_eq!(of([&unset; 3]), (times, attempts));
    }

    #[test]
    fn the_first_options_that_set_a_policy_apply() {
        let unset = CallOptions::default();
        let set = CallOptions::default()
            .with_schema_policy(SchemaPolicy::Warn)
            .with_scope_policy(ScopePolicy::Refuse)
            .with_exact_replay(ExactReplay::Allowed);
        let of = |options: [&CallOptions; 3]| {
            let it = Limits::resolve(options);
            (it.schema_policy, it.scope_policy, it.exact_replay)
        };
        let (allowed, refuse) = (Some(ExactReplay::Allowed), ScopePolicy::Refuse);
        for place in 0..3 {
            let mut options = [&unset; 3];
            options[place] = &set;
            assert_eq!(of(options), (SchemaPolicy::Warn, refuse, allowed));
        }
        let default = (SchemaPolicy::Refuse, ScopePolicy::Send, None);
        assert_eq!(of([&unset; 3]), default);
    }

    /// The only test that asserts these values. Other tests read them, or set their own.
    #[test]
    fn the_defaults_match_the_guide() {
        let page = include_str!("../../docs/configuration.md");
        let (mebibytes, times) = (MAX_RESPONSE_BYTES >> 20, [ATTEMPT_TIMEOUT, DEADLINE]);
        let [attempt, call] = times.map(|it| it.as_secs());
        let attempts = RetryPolicy::default().attempts;
        for row in [
            format!("| decompressed size of a response | {mebibytes} MiB |"),
            format!("| {},000 |", MAX_RESPONSE_ELEMENTS / 1_000),
            format!("| `timeout` of an attempt | {attempt} s |"),
            format!("| `deadline` of a call | {call} s |"),
            format!("| `retry` | {attempts} attempts,"),
        ] {
            assert!(page.contains(&row), "the page `configuration` lacks {row}");
        }
        let backoff = |milliseconds, seconds| {
            let base = Duration::from_millis(milliseconds);
            Backoff::new(base, Duration::from_secs(seconds))
        };
        assert_eq!(RetryPolicy::default().backoff, backoff(200, 5));
        assert_eq!(RETRY_BUDGET, 500);
        let tokens = TokenPolicy {
            max_lifetime: Duration::from_secs(300),
            default_lifetime: Duration::from_secs(60),
            soft_fraction: 0.25,
            hard_fraction: 0.10,
            soft_jitter: 0.05,
            min_interval: Duration::from_secs(1),
            exchange_timeout: Duration::from_secs(10),
            attempts: 3,
            backoff: backoff(200, 2),
            max_retry_after: Duration::from_secs(10),
            renewal_timeout: Duration::from_secs(60),
            renewal_backoff: backoff(1_000, 30),
            max_response_bytes: 64 * 1024,
        };
        assert_eq!(TokenPolicy::default(), tokens);
    }
}
