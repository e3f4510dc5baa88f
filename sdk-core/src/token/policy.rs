//! The settings of the token engine.

use std::time::Duration;

use crate::policy::backoff::Backoff;
use crate::policy::define::policy;

policy! {
    /// How long tokens are trusted, when they are renewed, and how failures are met.
    ///
    /// Start from the default and change what differs:
    ///
    /// ```
    /// use std::time::Duration;
    /// use sdk_core::TokenPolicy;
    ///
    /// let policy = TokenPolicy::default().with_exchange_timeout(Duration::from_secs(3));
    /// ```
    #[derive(Debug, Clone, PartialEq)]
    pub struct TokenPolicy {
        /// The longest that any token is trusted, whatever its issuer says.
        // The documented maximum: "Platform token lifetime at most 300 seconds".
        max_lifetime: Duration = Duration::from_secs(300), with_max_lifetime;
        /// The lifetime of a token whose issuer states none and that cannot be read as a JWT.
        // Short enough to be right by accident, long enough not to be a burden.
        default_lifetime: Duration = Duration::from_secs(60), with_default_lifetime;
        /// Below this share of the lifetime, the next call starts a renewal and goes on with the live token.
        // 75 s of a 300 s token: room for three attempts and some backoff before anyone must wait.
        soft_fraction: f64 = 0.25, with_soft_fraction;
        /// Below this share of the lifetime, the next call waits for the renewal.
        // 30 s of a 300 s token: more than a slow call takes, so that no token dies on the way.
        hard_fraction: f64 = 0.10, with_hard_fraction;
        /// How far the soft share is moved at random, up or down, per token.
        // Replicas started together drift apart; 300 s tokens still last 210 s at least.
        soft_jitter: f64 = 0.05, with_soft_jitter;
        /// The least time from one successful exchange to the next, and so the least lifetime of a token. Only a
        /// token that a service refused with a 401 is renewed sooner.
        // A token that is useless on arrival costs one exchange a second, not one per call.
        min_interval: Duration = Duration::from_secs(1), with_min_interval;
        /// The time for one attempt at the token endpoint, from connecting to the last byte of the reply.
        // Ten times what a slow exchange takes.
        exchange_timeout: Duration = Duration::from_secs(10), with_exchange_timeout;
        /// Attempts in one renewal before it fails; 0 counts as 1. Only what may pass by itself is tried again.
        // One dropped connection and one restart of the server are survived.
        attempts: u32 = 3, with_attempts;
        /// The waits between these attempts.
        // Callers are waiting: the second attempt follows almost at once.
        backoff: Backoff = Backoff::new(Duration::from_millis(200), Duration::from_secs(2)), with_backoff;
        /// The longest `Retry-After` that a renewal waits for. A longer one ends the renewal, and counts as
        /// its backoff instead, up to the cap of [`renewal_backoff`](Self::renewal_backoff).
        // As long as an attempt may take.
        max_retry_after: Duration = Duration::from_secs(10), with_max_retry_after;
        /// The time for one renewal as a whole, whatever its [`TokenSource`](crate::TokenSource) does.
        // Three attempts of 10 s, two waits, and a margin.
        renewal_timeout: Duration = Duration::from_secs(60), with_renewal_timeout;
        /// The wait after a failed renewal. Callers without a live token get the last error meanwhile, without traffic.
        // An outage costs the token endpoint one renewal per client every half minute.
        renewal_backoff: Backoff = Backoff::new(Duration::from_secs(1), Duration::from_secs(30)), with_renewal_backoff;
        /// The largest reply that is read from the token endpoint.
        // A JWT is a few kilobytes.
        max_response_bytes: usize = 64 * 1024, with_max_response_bytes;
    }
}
