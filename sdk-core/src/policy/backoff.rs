//! Exponential pauses with jitter. Pure functions of a `roll` from 0 to 1.

use std::time::Duration;

/// No pause is longer, whatever was set: far from every overflow.
const DAY: Duration = Duration::from_secs(24 * 3600);

/// The ceiling of the pause after failure number `count` (from 1): doubling from `base` up to `cap`.
pub(crate) fn ceiling(base: Duration, cap: Duration, count: u32) -> Duration {
    let factor = 1_u32
        .checked_shl(count.saturating_sub(1))
        .unwrap_or(u32::MAX);
    base.saturating_mul(factor).min(cap).min(DAY)
}

/// A pause between retries, from zero up to the ceiling: spreads clients the most.
pub(crate) fn full_jitter(base: Duration, cap: Duration, count: u32, roll: f64) -> Duration {
    ceiling(base, cap, count).mul_f64(roll.clamp(0.0, 1.0))
}

/// A quiet time, from half the ceiling up to the ceiling: spreads clients, and is never next to nothing.
pub(crate) fn half_jitter(base: Duration, cap: Duration, count: u32, roll: f64) -> Duration {
    ceiling(base, cap, count).mul_f64(0.5 + roll.clamp(0.0, 1.0) / 2.0)
}
