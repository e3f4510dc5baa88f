//! Holds what a server saw against what callers were told, and names the laws that were broken.

pub mod event;
mod history;

pub use event::{Done, Effect, Event, Kind, Micros, Sent, Told};
pub use history::History;

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

/// The laws that a history breaks, first things first.
pub fn check(_history: &History) -> Vec<Violation> {
    Vec::new()
}
