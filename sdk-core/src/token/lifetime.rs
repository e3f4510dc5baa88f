//! How long a token is trusted, and when it is renewed: pure functions.

use std::time::Duration;

use tokio::time::Instant;

use crate::token::jwt;
use crate::token::policy::TokenPolicy;

/// Longer than any sensible setting, and far from overflow.
const YEAR: Duration = Duration::from_secs(365 * 24 * 3600);

/// The lifetime that the engine uses: the stated one or that of the JWT, whichever is shorter, or the default if neither is
/// known. The policy limits it, at the lower end so that not every call renews.
pub(super) fn effective(stated: Option<Duration>, secret: &str, policy: &TokenPolicy) -> Duration {
    let known = [stated, jwt::lifetime(secret)];
    known
        .into_iter()
        .flatten()
        .min()
        .unwrap_or(policy.default_lifetime)
        .min(policy.max_lifetime)
        .max(policy.min_interval)
        .min(YEAR)
}

/// When a token changes its phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Schedule {
    /// From here on, a call starts a renewal and continues.
    pub(super) soft: Instant,
    /// From here on, a call waits for the renewal.
    pub(super) hard: Instant,
    /// From here on, the token has expired.
    pub(super) end: Instant,
}

/// The schedule of a token of `lifetime` that was requested at `start`; `roll`, from 0 to 1, sets the jitter.
pub(super) fn schedule(
    start: Instant,
    lifetime: Duration,
    policy: &TokenPolicy,
    roll: f64,
) -> Schedule {
    let hard_left = share(policy.hard_fraction);
    let jitter = share(policy.soft_jitter) * (2.0 * roll - 1.0);
    let soft_left = share(policy.soft_fraction + jitter).max(hard_left);
    Schedule {
        soft: later(start, lifetime.mul_f64(1.0 - soft_left)),
        hard: later(start, lifetime.mul_f64(1.0 - hard_left)),
        end: later(start, lifetime),
    }
}

/// A fraction of the policy, brought into the range from 0 to 1.
fn share(fraction: f64) -> f64 {
    if fraction.is_nan() {
        0.0
    } else {
        fraction.clamp(0.0, 1.0)
    }
}

/// `instant + duration`, or a year later if that cannot be represented.
pub(crate) fn later(instant: Instant, duration: Duration) -> Instant {
    instant
        .checked_add(duration)
        .unwrap_or_else(|| instant + YEAR)
}
