#![doc = include_str!("../README.md")]

mod entry;
mod error;
mod outbox;
mod rule;
#[cfg(feature = "sqlite")]
pub mod sqlite;
mod state;
mod store;
mod time;

pub use entry::{Entry, State, StoredCommand, StoredReceipt};
pub use error::Error;
pub use outbox::{Count, Outbox, Status};
pub use rule::{ParkReason, StoredRule, StoredStep};
pub use state::{StoredOutcome, StoredState};
pub use store::Store;
