//! The settings of the token engine.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use crate::policy::define::policy;
use crate::policy::retry::Backoff;

policy! {
    /// How long tokens are trusted, when they are renewed, and how failures are handled.
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
        /// The longest time that any token is trusted, whatever its issuer states.
        // The documented maximum: "Platform token lifetime at most 300 seconds".
        max_lifetime: Duration = Duration::from_secs(300), with_max_lifetime;
        /// The lifetime of a token if its issuer states none and it is not a JWT.
        // Short enough for almost any token, long enough to avoid needless exchanges.
        default_lifetime: Duration = Duration::from_secs(60), with_default_lifetime;
        /// Below this share of the lifetime, the next call starts a renewal and uses the live token.
        // 75 s of a 300 s token: time for three attempts and their waits before any call must wait.
        soft_fraction: f64 = 0.25, with_soft_fraction;
        /// Below this share of the lifetime, the next call waits for the renewal.
        // 30 s of a 300 s token: longer than a slow call, so that no token expires on the way.
        hard_fraction: f64 = 0.10, with_hard_fraction;
        /// How far the soft share is moved at random for each token, up or down.
        // Replicas that start together drift apart, and 300 s tokens still last at least 210 s.
        soft_jitter: f64 = 0.05, with_soft_jitter;
        /// The least time between successful exchanges, and so the least lifetime of a token. Only a token that a service
        /// refused with 401 is renewed sooner.
        // A token of no use costs one exchange per second, not one per call.
        min_interval: Duration = Duration::from_secs(1), with_min_interval;
        /// The timeout of one attempt at the token endpoint, from connecting to the last byte of the reply.
        // Ten times as long as a slow exchange.
        exchange_timeout: Duration = Duration::from_secs(10), with_exchange_timeout;
        /// Attempts in one renewal; 0 counts as 1. Only transient failures are retried.
        // Survives one dropped connection and one restart of the server.
        attempts: u32 = 3, with_attempts;
        /// The waits between these attempts.
        // Callers are waiting: the second attempt follows almost at once.
        backoff: Backoff = Backoff::new(Duration::from_millis(200), Duration::from_secs(2)), with_backoff;
        /// The longest `Retry-After` that a renewal waits for. A longer one ends the renewal and extends its backoff, up to
        /// the cap of [`renewal_backoff`](Self::renewal_backoff).
        // As long as an attempt may take.
        max_retry_after: Duration = Duration::from_secs(10), with_max_retry_after;
        /// The timeout of a whole renewal, whatever its [`TokenSource`](crate::TokenSource) does.
        // Three attempts of 10 s, two waits, and a margin.
        renewal_timeout: Duration = Duration::from_secs(60), with_renewal_timeout;
        /// The wait after a failed renewal. Meanwhile, callers without a live token get the last error without traffic.
        // During an outage, each client sends the token endpoint one renewal per half minute.
        renewal_backoff: Backoff = Backoff::new(Duration::from_secs(1), Duration::from_secs(30)), with_renewal_backoff;
        /// The largest reply that is read from the token endpoint.
        // A JWT is a few kilobytes.
        max_response_bytes: usize = 64 * 1024, with_max_response_bytes;
    }
}

impl TokenPolicy {
    /// The default, which all suites that set none share: it is as large as all else that a suite knows of its tokens.
    pub(crate) fn shared_default() -> Arc<Self> {
        static DEFAULT: LazyLock<Arc<TokenPolicy>> = LazyLock::new(Arc::default);
        Arc::clone(&DEFAULT)
    }
}
