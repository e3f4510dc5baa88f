//! How many retries the calls of an application may spend.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::app::App;

/// The budgets of a suite. An application has one origin in a suite, so each budget belongs to one application at one origin,
/// and an outage there leaves the retries of the others alone.
#[derive(Debug)]
pub(crate) struct RetryBudgets([RetryBudget; App::ALL.len()]);

impl RetryBudgets {
    /// A budget of this capacity for each application.
    pub(crate) fn new(capacity: u32) -> Self {
        Self(App::each(|_| RetryBudget::new(capacity)))
    }

    /// The budget of an application.
    pub(crate) fn of(&self, app: App) -> &RetryBudget {
        &self.0[app as usize]
    }
}

/// The retries of an application, limited so that they do not amplify an outage.
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
    const DEPOSIT: u32 = 1;

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

    /// Puts back what one success is worth.
    pub(crate) fn deposit(&self) {
        // A full bucket is the normal case and costs one load.
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
    fn each_application_has_a_budget_of_its_own() {
        let budgets = RetryBudgets::new(5);
        for app in App::all() {
            assert!(budgets.of(app).withdraw() && !budgets.of(app).withdraw());
        }
    }

    #[test]
    fn an_empty_budget_refuses_and_successes_refill_it() {
        let budget = RetryBudget::new(10);
        assert!(budget.withdraw() && budget.withdraw() && !budget.withdraw());
        for _ in 0..5 {
            budget.deposit();
        }
        assert!(budget.withdraw() && !budget.withdraw());
    }

    #[test]
    fn a_full_budget_takes_no_more() {
        let budget = RetryBudget::new(9);
        budget.deposit();
        assert!(budget.withdraw() && !budget.withdraw());
    }
}
