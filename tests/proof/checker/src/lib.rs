//! Holds what a server saw against what callers were told, and names the laws that were broken.
//!
//! It depends on no other crate, so that it shares no mistake with what it checks.

pub mod event;
mod facts;
mod laws;
mod request;
#[cfg(test)]
mod tests;

pub use event::{
    Answer, Asked, Attempt, Command, Done, Effect, Event, Failed, History, Kind, Micros, Sent,
    Terms, Told,
};

/// A law that a history breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The law.
    pub law: &'static str,
    /// When it was broken.
    pub at: Micros,
    /// What happened.
    pub what: String,
}

/// The laws that a history breaks, the earliest first.
pub fn check(history: &History) -> Vec<Violation> {
    let facts = facts::Facts::of(history);
    let mut found = laws::Found::default();
    for hold in laws::ALL {
        hold(&facts, &mut found);
    }
    found.0.sort_by_key(|violation| violation.at);
    found.0
}
