//! The settings of the token engine.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use crate::policy::retry::Backoff;

/// Sets how long tokens are trusted, when they are renewed, and how failures are handled.
///
/// Start from the default and change single fields:
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
    /// The maximum lifetime of a token, whatever its issuer states.
    pub max_lifetime: Duration,
    /// The lifetime of a token if its issuer states none and it is not a JWT.
    pub default_lifetime: Duration,
    /// When less than this share of the lifetime is left, the next call starts a renewal and uses the live token.
    pub soft_fraction: f64,
    /// When less than this share of the lifetime is left, the next call waits for the renewal.
    pub hard_fraction: f64,
    /// The maximum random shift of the soft fraction per token, up or down.
    pub soft_jitter: f64,
    /// The minimum time between successful token requests, and therefore the minimum lifetime of a token. Only a token
    /// that a service rejected with 401 is renewed sooner.
    pub min_interval: Duration,
    /// The timeout of one attempt at the token endpoint, from connecting to the last byte of the response. Callers on
    /// other runtimes also wait this long for a renewal, because its runtime may have stalled.
    pub exchange_timeout: Duration,
    /// Attempts per renewal; 0 counts as 1. Only transient failures are retried.
    pub attempts: u32,
    /// The delays between these attempts.
    pub backoff: Backoff,
    /// The longest `Retry-After` that a renewal waits for. A longer value ends the renewal and extends its backoff, up
    /// to the cap of [`renewal_backoff`](Self::renewal_backoff).
    pub max_retry_after: Duration,
    /// The timeout of a whole renewal, whatever its [`TokenSource`](crate::TokenSource) does.
    pub renewal_timeout: Duration,
    /// The delay after a failed renewal. During this delay, callers without a live token get the last error, and no
    /// request is sent.
    pub renewal_backoff: Backoff,
    /// The maximum size of the token endpoint's response.
    pub max_response_bytes: usize,
}

impl Default for TokenPolicy {
    fn default() -> Self {
        Self {
            // The documented maximum: "Platform token lifetime at most 300 seconds".
            max_lifetime: Duration::from_secs(300),
            // Short enough for almost any token, long enough to avoid needless exchanges.
            default_lifetime: Duration::from_secs(60),
            // 75 s of a 300 s token: time for three attempts and their delays before any call must wait.
            soft_fraction: 0.25,
            // 30 s of a 300 s token: longer than a slow call, so no token expires while its request is in flight.
            hard_fraction: 0.10,
            // Spreads the renewals of replicas that start together. Tokens of 300 s still last at least 210 s.
            soft_jitter: 0.05,
            // If the issuer returns expired tokens, each client sends one request per second, not one per call.
            min_interval: Duration::from_secs(1),
            // Ten times as long as a slow token request.
            exchange_timeout: Duration::from_secs(10),
            // Survives one dropped connection and one restart of the server.
            attempts: 3,
            // Callers are waiting, so the second attempt follows quickly.
            backoff: Backoff::new(Duration::from_millis(200), Duration::from_secs(2)),
            // As long as an attempt may take.
            max_retry_after: Duration::from_secs(10),
            // Three attempts of 10 s, two delays, and a margin.
            renewal_timeout: Duration::from_secs(60),
            // During an outage, each client attempts one renewal per 30 s.
            renewal_backoff: Backoff::new(Duration::from_secs(1), Duration::from_secs(30)),
            // A JWT is a few kilobytes.
            max_response_bytes: 64 * 1024,
        }
    }
}

impl TokenPolicy {
    /// Returns the default policy. Suites share it, because it is as large as the rest of a suite's token state.
    pub(crate) fn shared_default() -> Arc<Self> {
        static DEFAULT: LazyLock<Arc<TokenPolicy>> = LazyLock::new(Arc::default);
        Arc::clone(&DEFAULT)
    }
}
