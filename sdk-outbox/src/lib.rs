#![doc = include_str!("../README.md")]

mod entry;
mod error;
mod rule;
mod state;

pub use entry::{Entry, State, StoredCommand, StoredReceipt};
pub use error::Error;
pub use rule::{ParkReason, StoredRule, StoredStep};
pub use state::{StoredOutcome, StoredState};
