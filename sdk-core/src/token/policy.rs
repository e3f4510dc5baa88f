//! The settings of the token engine.

use std::time::Duration;

/// How long tokens are trusted, when they are renewed, and how failures are met.
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
    /// The longest that any token is trusted, whatever its issuer says.
    pub max_lifetime: Duration,
    /// The lifetime of a token whose issuer states none and that cannot be read as a JWT.
    pub default_lifetime: Duration,
    /// Below this share of the lifetime, the next call starts a renewal and goes on with the live token.
    pub soft_fraction: f64,
    /// Below this share of the lifetime, the next call waits for the renewal.
    pub hard_fraction: f64,
    /// How far the soft share is moved at random, up or down, per token.
    pub soft_jitter: f64,
    /// The least time from one successful exchange to the next, and so the least lifetime of a token. Only a
    /// token that a service refused with a 401 is renewed sooner.
    pub min_interval: Duration,
    /// The time for one request to the token endpoint, from connecting to the last byte of the reply.
    pub exchange_timeout: Duration,
    /// Requests in one renewal before it fails. Only what may pass by itself is tried again.
    pub attempts: u32,
    /// The first pause between two attempts; it doubles, and its actual length is drawn from zero upwards.
    pub retry_base: Duration,
    /// The longest pause between two attempts.
    pub retry_cap: Duration,
    /// The longest `Retry-After` that a renewal waits for. A longer one ends the renewal, and counts as
    /// its backoff instead, up to `backoff_cap`.
    pub max_retry_after: Duration,
    /// The time for one renewal as a whole, whatever its [`TokenSource`](crate::TokenSource) does.
    pub renewal_timeout: Duration,
    /// The quiet time after a failed renewal; it doubles with each further failure. Callers without a live
    /// token get the last error meanwhile, without traffic.
    pub backoff_base: Duration,
    /// The longest quiet time after a failed renewal.
    pub backoff_cap: Duration,
    /// The largest reply that is read from the token endpoint.
    pub max_response_bytes: usize,
}

impl Default for TokenPolicy {
    fn default() -> Self {
        Self {
            // The documented maximum: "Platform token lifetime at most 300 seconds".
            max_lifetime: Duration::from_secs(300),
            // Short enough to be right by accident, long enough not to be a burden.
            default_lifetime: Duration::from_secs(60),
            // 75 s of a 300 s token: room for three attempts and some backoff before anyone must wait.
            soft_fraction: 0.25,
            // 30 s of a 300 s token: more than a slow call takes, so that no token dies on the way.
            hard_fraction: 0.10,
            // Replicas started together drift apart; 300 s tokens still last 210 s at least.
            soft_jitter: 0.05,
            // A token that is useless on arrival costs one exchange a second, not one per call.
            min_interval: Duration::from_secs(1),
            // Ten times what a slow exchange takes.
            exchange_timeout: Duration::from_secs(10),
            // One dropped connection and one restart of the server are survived.
            attempts: 3,
            // Callers are waiting: the first retry follows almost at once.
            retry_base: Duration::from_millis(200),
            retry_cap: Duration::from_secs(2),
            // As long as an attempt may take.
            max_retry_after: Duration::from_secs(10),
            // Three attempts of 10 s, two pauses, and a margin.
            renewal_timeout: Duration::from_secs(60),
            // An outage costs the token endpoint a request per client every half minute.
            backoff_base: Duration::from_secs(1),
            backoff_cap: Duration::from_secs(30),
            // A JWT is a few kilobytes.
            max_response_bytes: 64 * 1024,
        }
    }
}
