//! Limits the retries of an application.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::app::App;

/// The retry budgets of a suite. In a suite, an application has a single origin, so each budget belongs to an
/// application at an origin. An outage of that origin doesn't use up the retries of other applications.
#[derive(Debug)]
pub(crate) struct RetryBudgets([RetryBudget; App::ALL.len()]);

impl RetryBudgets {
    pub(crate) fn new(capacity: u32) -> Self {
        Self(App::each(|_| RetryBudget::new(capacity)))
    }

    pub(crate) fn of(&self, app: App) -> &RetryBudget {
        &self.0[app as usize]
    }
}

/// Limits the retries of an application so that they don't amplify an outage.
///
/// Each retry takes from the budget, and each success returns a little. While the budget is empty, calls fail with
/// their first error.
#[derive(Debug)]
pub(crate) struct RetryBudget {
    capacity: u32,
    left: AtomicU32,
}

impl RetryBudget {
    /// The cost of a retry. The default capacity of 500 allows 100 consecutive retries.
    const COST: u32 = 5;
    /// The amount that a success returns. In the long run, five successes allow one retry.
    const DEPOSIT: u32 = 1;

    pub(crate) fn new(capacity: u32) -> Self {
        Self {
            capacity,
            left: AtomicU32::new(capacity),
        }
    }

    /// Returns false if not enough is left.
    pub(crate) fn withdraw(&self) -> bool {
        self.update(|left| left.checked_sub(Self::COST))
    }

    pub(crate) fn deposit(&self) {
        // A full budget is the normal case and costs a single load.
        self.update(|left| (left < self.capacity).then(|| left + Self::DEPOSIT));
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
    fn each_application_has_its_own_budget() {
        let budgets = RetryBudgets::new(5);
        for app in App::all() {
            assert!(budgets.of(app).withdraw() && !budgets.of(app).withdraw());
        }
    }

    #[test]
    fn an_empty_budget_denies_retries_until_successes_refill_it() {
        let budget = RetryBudget::new(10);
        assert!(budget.withdraw() && budget.withdraw() && !budget.withdraw());
        for _ in 0..5 {
            budget.deposit();
        }
        assert!(budget.withdraw() && !budget.withdraw());
    }

    #[test]
    fn a_full_budget_stays_at_its_capacity() {
        let budget = RetryBudget::new(9);
        budget.deposit();
        assert!(budget.withdraw() && !budget.withdraw());
    }
}
