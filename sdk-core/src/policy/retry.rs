//! When and how long to wait before another attempt.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// How often a call is attempted and how long it waits in between.
///
/// Whether a failure may be repeated at all depends on the operation: see [`Safety`](crate::Safety).
///
/// ```
/// use std::time::Duration;
/// use sdk_core::RetryPolicy;
///
/// let patient = RetryPolicy::default().max_attempts(6).max_delay(Duration::from_secs(20));
/// let once = RetryPolicy::none();
/// # let _ = (patient, once);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RetryPolicy {
    /// Attempts in all, the first included.
    pub max_attempts: u32,
    /// The longest wait before the second attempt; it doubles with each further one.
    pub base_delay: Duration,
    /// The longest wait between two attempts.
    pub max_delay: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            // Two repeats ride out a restart behind a load balancer; more only prolong an outage.
            max_attempts: 3,
            // Long enough for a connection to be rebuilt, short enough for a person who waits.
            base_delay: Duration::from_millis(200),
            // Beyond this a caller is better served by an error.
            max_delay: Duration::from_secs(5),
        }
    }
}

impl RetryPolicy {
    /// One attempt only.
    #[must_use]
    pub fn none() -> Self {
        Self::default().max_attempts(1)
    }

    /// Sets the attempts in all; 0 counts as 1.
    #[must_use]
    pub fn max_attempts(mut self, attempts: u32) -> Self {
        self.max_attempts = attempts.max(1);
        self
    }

    /// Sets the longest wait before the second attempt.
    #[must_use]
    pub fn base_delay(mut self, delay: Duration) -> Self {
        self.base_delay = delay;
        self
    }

    /// Sets the longest wait between two attempts.
    #[must_use]
    pub fn max_delay(mut self, delay: Duration) -> Self {
        self.max_delay = delay;
        self
    }

    /// A random wait of up to `base * 2^(made - 1)`, capped ("full jitter"), after so many attempts were made.
    pub(crate) fn delay(&self, made: u32) -> Duration {
        let factor = 2_u32.saturating_pow(made.saturating_sub(1).min(20));
        let ceiling = self.base_delay.saturating_mul(factor).min(self.max_delay);
        ceiling.mul_f64(jitter())
    }
}

/// A number from 0 to 1 that differs each time. The standard library's hash keys are random enough to spread calls, and
/// cost no further crate.
pub(crate) fn jitter() -> f64 {
    let random = RandomState::new().hash_one(());
    // The 53 bits that a floating-point number keeps.
    #[allow(clippy::cast_precision_loss)]
    let fraction = (random >> 11) as f64 / (1_u64 << 53) as f64;
    fraction
}

/// Attempts that a suite may spend on repeating, so that an outage is not amplified.
///
/// A bucket that each repeat empties a little and each success refills a little. While it is empty, calls fail with
/// their first error.
#[derive(Debug)]
pub(crate) struct RetryBudget {
    capacity: u32,
    left: AtomicU32,
}

impl RetryBudget {
    /// What one repeat takes out. At the default capacity of 500 that is 100 repeats in a row.
    const COST: u32 = 5;
    /// What one success puts back: in the long run one repeat for five successes.
    const REFUND: u32 = 1;

    pub(crate) fn new(capacity: u32) -> Self {
        Self {
            capacity,
            left: AtomicU32::new(capacity),
        }
    }

    /// Takes the cost of one repeat, if it is there.
    pub(crate) fn withdraw(&self) -> bool {
        self.left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                left.checked_sub(Self::COST)
            })
            .is_ok()
    }

    pub(crate) fn refund(&self) {
        // A full bucket is the normal case and costs one load.
        if self.left.load(Ordering::Relaxed) < self.capacity {
            let _ = self
                .left
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                    (left < self.capacity).then(|| left + Self::REFUND)
                });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_stay_below_their_ceiling() {
        let policy = RetryPolicy::default();
        for made in [1, 2, 3, 10, u32::MAX] {
            assert!(policy.delay(made) <= policy.max_delay);
        }
        assert!(policy.delay(1) <= policy.base_delay);
    }

    #[test]
    fn jitter_spreads_over_its_range() {
        let rolls: Vec<f64> = (0..1_000).map(|_| jitter()).collect();
        let mean = rolls.iter().sum::<f64>() / 1_000.0;
        assert!(rolls.iter().all(|roll| (0.0..1.0).contains(roll)));
        assert!((0.4..0.6).contains(&mean), "{mean}");
        assert!(
            rolls.windows(2).any(|pair| pair[0] < pair[1])
                && rolls.windows(2).any(|pair| pair[0] > pair[1])
        );
    }

    #[test]
    fn an_empty_budget_refuses_and_successes_refill_it() {
        let budget = RetryBudget::new(10);
        assert!(budget.withdraw() && budget.withdraw() && !budget.withdraw());
        for _ in 0..5 {
            budget.refund();
        }
        assert!(budget.withdraw() && !budget.withdraw());
    }
}
