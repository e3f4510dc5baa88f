#![doc = include_str!("../README.md")]

mod rule;
mod state;

pub use rule::{ParkReason, StoredRule, StoredStep};
pub use state::{StoredOutcome, StoredState};
