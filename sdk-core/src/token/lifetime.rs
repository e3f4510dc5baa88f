//! Computes a token's lifetime and renewal schedule, as pure functions.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use secrecy::zeroize::Zeroizing;
use serde::Deserialize;
use tokio::time::Instant;

use crate::token::policy::TokenPolicy;

/// Longer than any sensible setting, and far from overflow.
const YEAR: Duration = Duration::from_secs(365 * 24 * 3600);

/// Returns the lifetime to use: the stated lifetime or the JWT's, whichever is shorter, or the default if both are
/// unknown. The policy limits it. Its lower limit keeps a short-lived token from being renewed by every call.
pub(super) fn effective(stated: Option<Duration>, secret: &str, policy: &TokenPolicy) -> Duration {
    let known = [stated, jwt_lifetime(secret)];
    known
        .into_iter()
        .flatten()
        .min()
        .unwrap_or(policy.default_lifetime)
        .min(policy.max_lifetime)
        .max(policy.min_interval)
        .min(YEAR)
}

/// The instants at which a token changes its phase.
#[expect(
    clippy::struct_field_names,
    reason = "the suffix `_at` marks instants, not durations"
)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Schedule {
    /// From this instant on, a call starts a renewal and continues.
    pub(super) renew_soon_at: Instant,
    /// From this instant on, a call waits for the renewal.
    pub(super) renew_now_at: Instant,
    /// From this instant on, the token has expired.
    pub(super) expires_at: Instant,
}

/// Returns the schedule of a token of `lifetime` that was requested at `start`; `random`, from 0 to 1, sets the jitter.
pub(super) fn schedule(
    start: Instant,
    lifetime: Duration,
    policy: &TokenPolicy,
    random: f64,
) -> Schedule {
    let hard_left = share(policy.hard_fraction);
    let jitter = share(policy.soft_jitter) * (2.0 * random - 1.0);
    let soft_left = share(policy.soft_fraction + jitter).max(hard_left);
    Schedule {
        renew_soon_at: later(start, lifetime.mul_f64(1.0 - soft_left)),
        renew_now_at: later(start, lifetime.mul_f64(1.0 - hard_left)),
        expires_at: later(start, lifetime),
    }
}

fn share(fraction: f64) -> f64 {
    if fraction.is_nan() {
        0.0
    } else {
        fraction.clamp(0.0, 1.0)
    }
}

/// Returns `instant + duration`, or a year later on overflow.
pub(crate) fn later(instant: Instant, duration: Duration) -> Instant {
    instant
        .checked_add(duration)
        .unwrap_or_else(|| instant + YEAR)
}

#[derive(Deserialize)]
struct Claims {
    exp: f64,
    iat: f64,
}

/// Returns the lifetime of a JWT, `exp - iat`, which needs no clock; `None` if it is unknown or not positive.
pub(super) fn jwt_lifetime(token: &str) -> Option<Duration> {
    let [_header, payload, _signature] = *token.split('.').collect::<Vec<_>>() else {
        return None;
    };
    let payload = Zeroizing::new(URL_SAFE_NO_PAD.decode(payload.trim_end_matches('=')).ok()?);
    let claims: Claims = serde_json::from_slice(&payload).ok()?;
    let seconds = claims.exp - claims.iat;
    let lifetime = Duration::try_from_secs_f64(seconds).ok();
    lifetime.filter(|_| seconds > 0.0)
}
