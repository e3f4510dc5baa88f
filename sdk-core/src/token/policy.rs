//! The settings of the token engine.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use crate::policy::retry::Backoff;

/// How long tokens are trusted, when they are renewed, and how failures are handled.
///
/// Start from the default and change what differs:
///
/// ```
/// use std::time::Duration;
/// use sdk_core::TokenPolicy;
///
/// let mut policy = TokenPolicy::default();
/// policy.exchange_timeout = Duration::from_secs(3);
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TokenPolicy {
    /// The longest time that any token is trusted, whatever its issuer states.
    pub max_lifetime: Duration,
    /// The lifetime of a token if its issuer states none and it is not a JWT.
    pub default_lifetime: Duration,
    /// Below this share of the lifetime, the next call starts a renewal and uses the live token.
    pub soft_fraction: f64,
    /// Below this share of the lifetime, the next call waits for the renewal.
    pub hard_fraction: f64,
    /// How far the soft share is moved at random for each token, up or down.
    pub soft_jitter: f64,
    /// The least time between successful exchanges, and so the least lifetime of a token. Only a token that a service
    /// rejected with 401 is renewed sooner.
    pub min_interval: Duration,
    /// The timeout of one attempt at the token endpoint, from connecting to the last byte of the response. Callers on other
    /// runtimes wait as long for a renewal: its runtime may have stalled.
    pub exchange_timeout: Duration,
    /// Attempts in one renewal; 0 counts as 1. Only transient failures are retried.
    pub attempts: u32,
    /// The waits between these attempts.
    pub backoff: Backoff,
    /// The longest `Retry-After` that a renewal waits for. A longer one ends the renewal and extends its backoff, up to
    /// the cap of [`renewal_backoff`](Self::renewal_backoff).
    pub max_retry_after: Duration,
    /// The timeout of a whole renewal, whatever its [`TokenSource`](crate::TokenSource) does.
    pub renewal_timeout: Duration,
    /// The wait after a failed renewal. Meanwhile, callers without a live token get the last error without traffic.
    pub renewal_backoff: Backoff,
    /// The largest reply that is read from the token endpoint.
    pub max_response_bytes: usize,
}

impl Default for TokenPolicy {
    fn default() -> Self {
        Self {
            // The documented maximum: "Platform token lifetime at most 300 seconds".
            max_lifetime: Duration::from_secs(300),
            // Short enough for almost any token, long enough to avoid needless exchanges.
            default_lifetime: Duration::from_secs(60),
            // 75 s of a 300 s token: time for three attempts and their waits before any call must wait.
            soft_fraction: 0.25,
            // 30 s of a 300 s token: longer than a slow call, so that no token expires on the way.
            hard_fraction: 0.10,
            // Replicas that start together drift apart, and 300 s tokens still last at least 210 s.
            soft_jitter: 0.05,
            // A token of no use costs one exchange per second, not one per call.
            min_interval: Duration::from_secs(1),
            // Ten times as long as a slow exchange.
            exchange_timeout: Duration::from_secs(10),
            // Survives one dropped connection and one restart of the server.
            attempts: 3,
            // Callers are waiting: the second attempt follows almost at once.
            backoff: Backoff::new(Duration::from_millis(200), Duration::from_secs(2)),
            // As long as an attempt may take.
            max_retry_after: Duration::from_secs(10),
            // Three attempts of 10 s, two waits, and a margin.
            renewal_timeout: Duration::from_secs(60),
            // During an outage, each client sends the token endpoint one renewal per half minute.
            renewal_backoff: Backoff::new(Duration::from_secs(1), Duration::from_secs(30)),
            // A JWT is a few kilobytes.
            max_response_bytes: 64 * 1024,
        }
    }
}

impl TokenPolicy {
    /// The default, which all suites that set none share: it is as large as all else that a suite knows of its tokens.
    pub(crate) fn shared_default() -> Arc<Self> {
        static DEFAULT: LazyLock<Arc<TokenPolicy>> = LazyLock::new(Arc::default);
        Arc::clone(&DEFAULT)
    }
}
