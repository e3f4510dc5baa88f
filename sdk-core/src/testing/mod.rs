//! Errors, responses, receipts and pages for unit tests of programs that use a client: without a server and without a runtime.
//!
//! They need the feature `test-util`, which belongs to the tests alone:
//!
//! ```toml
//! [dev-dependencies]
//! sdk-crm = { version = "0.1", features = ["test-util"] }
//! ```
//!
//! No call runs for a value. A builder starts with what is usual for the kind or the status, and each setter replaces one
//! value. To test against exactly what a call returns, use [`ScriptedTransport`].
//!
//! ```
//! use std::time::Duration;
//! use sdk_core::testing;
//! use sdk_core::{Effect, Error, ErrorKind};
//!
//! #[derive(Debug, PartialEq)]
//! enum Action {
//!     Retry(Duration),
//!     Look,
//!     GiveUp,
//! }
//!
//! fn handle(error: Error) -> Action {
//!     match error.effect() {
//!         Effect::Unknown => Action::Look,
//!         _ if error.is_retryable() => Action::Retry(error.retry_after().unwrap_or_default()),
//!         _ => Action::GiveUp,
//!     }
//! }
//!
//! let minute = Duration::from_secs(60);
//! let busy = testing::error(ErrorKind::RateLimited).retry_after(minute).build();
//! assert_eq!(handle(busy), Action::Retry(minute));
//!
//! let lost = testing::error(ErrorKind::Timeout).build();
//! assert_eq!(handle(lost), Action::Look);
//!
//! let unsent = testing::error(ErrorKind::Timeout).effect(Effect::NotSent).build();
//! assert_eq!(handle(unsent), Action::Retry(Duration::ZERO));
//!
//! let gone = testing::error(ErrorKind::NotFound).build();
//! assert_eq!(handle(gone), Action::GiveUp);
//! ```
//!
//! [`ScriptedTransport`] goes a step further: the program's own calls run against a script. [The guide](crate::guide::testing)
//! compares the ways to test.
//!
//! In a test of a program, the operations come from the client crate, as in
//! `testing::reply(&sdk_crm::operations::GET_PERSON, 200)`.

mod errors;
mod replies;
mod transport;

use serde::Serialize;

use crate::command::prepared::PreparedCommand;
use crate::error::kind::ErrorKind;
use crate::json::members::Members;
use crate::operation::Operation;
use crate::reply::page::Page;
use crate::testing::errors::command;

pub use crate::testing::errors::ErrorBuilder;
pub use crate::testing::replies::ReplyBuilder;
pub use crate::testing::transport::ScriptedTransport;

/// An error of this kind, with the values that are usual for it, such as the status 503 for
/// [`Unavailable`](ErrorKind::Unavailable).
pub fn error(kind: ErrorKind) -> ErrorBuilder {
    ErrorBuilder::new(kind)
}

/// A response to a call of an operation, to be made into a [`Response`](crate::Response), a [`Receipt`](crate::Receipt) or an
/// error.
pub fn reply(operation: &'static Operation, status: u16) -> ReplyBuilder {
    ReplyBuilder::new(operation, status)
}

/// A page with these records. It is the last one if there is no cursor.
#[must_use]
pub fn page<T>(items: impl IntoIterator<Item = T>, next_cursor: Option<&str>) -> Page<T> {
    Page {
        schema_version: None,
        items: Some(items.into_iter().collect()),
        next_cursor: next_cursor.map(str::to_owned),
        extra: Members::new(),
    }
}

/// A prepared command, with a random key if the operation takes one. Path parameters have their own names as values. Clients
/// of [`ScriptedTransport::suite`] send it.
///
/// # Panics
/// If the body cannot be written as JSON.
#[must_use]
#[track_caller]
pub fn prepared(operation: &'static Operation, body: &impl Serialize) -> PreparedCommand {
    let body = serde_json::to_vec(body).expect("the body can be written as JSON");
    command(operation, body.into(), None)
}
