//! [outbox guide]: sdk_core::guide::outbox
//!
#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(
    not(any(feature = "sqlite", feature = "postgres")),
    allow(dead_code, reason = "only the stores need it")
)]

mod entry;
mod error;
mod outbox;
#[cfg(feature = "postgres")]
#[cfg_attr(docsrs, doc(cfg(feature = "postgres")))]
pub mod postgres;
mod rule;
mod send;
mod slot;
#[cfg(feature = "sqlite")]
#[cfg_attr(docsrs, doc(cfg(feature = "sqlite")))]
pub mod sqlite;
mod state;
mod steps;
mod store;
#[cfg(all(test, feature = "sqlite", feature = "postgres"))]
mod tests;
mod time;
mod worker;

pub use entry::{Count, Entry, State, Status, StoredCommand, StoredReceipt};
pub use error::Error;
pub use outbox::Outbox;
pub use rule::{ParkReason, StoredRule, StoredStep};
pub use state::{StoredOutcome, StoredState};
pub use store::Store;
pub use worker::Worker;
