//! How many retries a suite may spend.

use std::sync::atomic::{AtomicU32, Ordering};

/// The retries of a suite, limited so that they do not amplify an outage.
///
/// Each retry takes a little out of the bucket and each success puts a little back. While it is empty, calls fail with their
/// first error.
#[derive(Debug)]
pub(crate) struct RetryBudget {
    capacity: u32,
    left: AtomicU32,
}

impl RetryBudget {
    /// What one retry takes out: the default capacity of 500 pays for 100 retries in a row.
    const COST: u32 = 5;
    /// What one success puts back: in the long run, one retry for five successes.
    const REFUND: u32 = 1;

    pub(crate) fn new(capacity: u32) -> Self {
        Self {
            capacity,
            left: AtomicU32::new(capacity),
        }
    }

    /// Takes the cost of one retry, if the budget has it.
    pub(crate) fn withdraw(&self) -> bool {
        self.update(|left| left.checked_sub(Self::COST))
    }

    pub(crate) fn refund(&self) {
        // A full bucket is the normal case and costs one load.
        self.update(|left| (left < self.capacity).then(|| left + Self::REFUND));
    }

    fn update(&self, change: impl FnMut(u32) -> Option<u32>) -> bool {
        let updated = self
            .left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, change);
        updated.is_ok()
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
