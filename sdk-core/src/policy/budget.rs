//! What may be spent on repeating.

use std::sync::atomic::{AtomicU32, Ordering};

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
    fn an_empty_budget_refuses_and_successes_refill_it() {
        let budget = RetryBudget::new(10);
        assert!(budget.withdraw() && budget.withdraw() && !budget.withdraw());
        for _ in 0..5 {
            budget.refund();
        }
        assert!(budget.withdraw() && !budget.withdraw());
    }
}
