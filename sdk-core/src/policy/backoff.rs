//! Waits that grow with each failure: pure functions of a `roll` from 0 to 1.

use std::time::Duration;

/// The longest wait, whatever is set: far from overflow.
const DAY: Duration = Duration::from_secs(24 * 3600);

/// How waits grow: at most `base` after the first failure, doubled by each further one, never above `cap`. Each wait is drawn
/// at random, so that clients that fail together do not come back together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Backoff {
    /// The longest wait after the first failure.
    pub base: Duration,
    /// The longest wait after any number of failures; a day at most.
    pub cap: Duration,
}

impl Backoff {
    /// Waits of at most `base` at first, and at most `cap` in the end.
    #[must_use]
    pub const fn new(base: Duration, cap: Duration) -> Self {
        Self { base, cap }
    }

    /// No waits: for tests, or where something else limits the attempts.
    #[must_use]
    pub const fn none() -> Self {
        Self::new(Duration::ZERO, Duration::ZERO)
    }

    /// The longest wait after this many failures.
    fn ceiling(self, failures: u32) -> Duration {
        let factor = 1_u32
            .checked_shl(failures.saturating_sub(1))
            .unwrap_or(u32::MAX);
        self.base.saturating_mul(factor).min(self.cap).min(DAY)
    }

    /// A wait between attempts, from zero to the ceiling: spreads clients the most.
    pub(crate) fn full_jitter(self, failures: u32, roll: f64) -> Duration {
        self.ceiling(failures).mul_f64(roll.clamp(0.0, 1.0))
    }

    /// A wait during which nothing is tried, from half the ceiling to the ceiling, so never close to zero. `random` is a number
    /// from 0 to 1.
    #[must_use]
    pub fn half_jitter(self, failures: u32, random: f64) -> Duration {
        self.ceiling(failures)
            .mul_f64(0.5 + random.clamp(0.0, 1.0) / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_their_cap_whatever_is_asked() {
        let backoff = Backoff::new(Duration::from_secs(1), Duration::from_secs(30));
        let full = [1, 2, 3, 5, 6, 33, 40, u32::MAX]
            .map(|failures| backoff.full_jitter(failures, 1.0).as_secs());
        assert_eq!(full, [1, 2, 4, 16, 30, 30, 30, 30]);
        assert_eq!(backoff.full_jitter(3, 0.0), Duration::ZERO);
        assert_eq!(backoff.half_jitter(3, 0.0), Duration::from_secs(2));
        assert_eq!(backoff.half_jitter(3, 1.0), Duration::from_secs(4));
        let endless = Backoff::new(Duration::MAX, Duration::MAX);
        for wait in [Backoff::full_jitter, Backoff::half_jitter] {
            assert_eq!(wait(endless, u32::MAX, 1.0), DAY);
            assert_eq!(wait(Backoff::none(), u32::MAX, 1.0), Duration::ZERO);
        }
    }
}
