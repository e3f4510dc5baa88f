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
    Answer, Asked, Command, Done, Effect, Event, History, Kind, Micros, Sent, Terms, Told,
};

use facts::Facts;
use laws::{
    Found, calls, commands, effects, pace, places, progress, secrets, stored, tokens, walks,
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
    let facts = Facts::of(history);
    let mut found = Found::default();
    calls::hold(&facts, &mut found);
    commands::hold(&facts, &mut found);
    effects::hold(&facts, &mut found);
    pace::hold(&facts, &mut found);
    tokens::hold(&facts, &mut found);
    places::hold(history, &mut found);
    walks::hold(history, &facts, &mut found);
    progress::hold(history, &facts, &mut found);
    stored::hold(history, &facts, &mut found);
    secrets::hold(history, &mut found);
    found.0.sort_by_key(|violation| violation.at);
    found.0
}
