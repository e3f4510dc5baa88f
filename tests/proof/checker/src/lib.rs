//! Compares the requests that servers received with the results that callers got, and reports violated invariants.
//!
//! The crate has no dependencies, so it shares no bugs with the code it checks.

pub mod event;
mod facts;
mod invariants;
mod request;
#[cfg(test)]
mod tests;

pub use event::{
    Answer, Asked, Attempt, Command, Done, Effect, Event, Failed, History, Kind, Micros, Outcome,
    Sent, Terms,
};

/// A violated invariant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The violated invariant.
    pub invariant: &'static str,
    /// The time of the violation.
    pub at: Micros,
    /// A description of the violation.
    pub what: String,
}

/// Returns the violations in a history, sorted by time.
pub fn check(history: &History) -> Vec<Violation> {
    let facts = facts::Facts::of(history);
    let mut found = invariants::Found::default();
    for check in invariants::ALL {
        check(&facts, &mut found);
    }
    found.0.sort_by_key(|violation| violation.at);
    found.0
}
