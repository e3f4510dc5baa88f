//! Client of the suite's Calendar application.
#![doc = include_str!("../README.md")]

mod event;
mod generated;

pub use generated::face::*;
pub use sdk_core::{
    Backoff, CallOptions, Checkpoint, ClientCredentials, Effect, Error, ErrorKind, IdempotencyKey,
    Items, Members, Operation, Page, Pages, PreparedCommand, RawJson, Receipt, Record, Response,
    RetryPolicy, SchemaPolicy, Suite, Timestamp, ZonedTime,
};

/// The operation table: scopes, safety, statuses and provenance of each operation.
pub mod operations {
    pub use crate::generated::operations::*;
}

/// Requests, replies, references and enumerations of the application.
pub mod types {
    pub use crate::generated::types::*;
}

sdk_core::application_client! {
    /// The Calendar application of a suite.
    operations
}
