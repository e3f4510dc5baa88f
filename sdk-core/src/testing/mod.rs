//! Builds errors, responses, receipts and pages for unit tests of programs that use a client, without a server or a
//! runtime.
//!
//! This module needs the `test-util` feature. Enable the feature only for tests:
//!
//! ```toml
//! [dev-dependencies]
//! sdk-crm = { version = "0.1", features = ["test-util"] }
//! ```
//!
//! The values are built without a call. A builder starts with the usual values for the kind or the status, and each
//! setter replaces a value. If a test needs exactly the result of a call, use [`ScriptedTransport`].
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
//! With [`ScriptedTransport`], the program's own calls run against a script. See [the guide](crate::guide::testing) for
//! a comparison of the ways to test.
//!
//! In tests of your program, take the operations from the client crate, as in
//! `testing::response(&sdk_crm::operations::GET_PERSON, 200)`.

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
pub use crate::testing::replies::ResponseBuilder;
pub use crate::testing::transport::ScriptedTransport;

/// Returns a builder for an error of this kind, with the usual values, such as the status 503 for
/// [`Unavailable`](ErrorKind::Unavailable).
pub fn error(kind: ErrorKind) -> ErrorBuilder {
    ErrorBuilder::new(kind)
}

/// Returns a builder for a response to an operation. Build a [`Response`](crate::Response), a
/// [`Receipt`](crate::Receipt) or an error from it.
pub fn response(operation: &'static Operation, status: u16) -> ResponseBuilder {
    ResponseBuilder::new(operation, status)
}

/// Creates a page with these records. A page without a cursor is the last page.
#[must_use]
pub fn page<T>(items: impl IntoIterator<Item = T>, next_cursor: Option<&str>) -> Page<T> {
    Page {
        schema_version: None,
        items: Some(items.into_iter().collect()),
        next_cursor: next_cursor.map(str::to_owned),
        extra: Members::new(),
    }
}

/// Creates a prepared command, with a random key if the operation takes a key. The value of each path parameter is its
/// name. Clients of [`ScriptedTransport::suite`] can send the command.
///
/// # Panics
/// If the body can't be serialized as JSON.
#[must_use]
#[track_caller]
pub fn prepared(operation: &'static Operation, body: &impl Serialize) -> PreparedCommand {
    let body = serde_json::to_vec(body).expect("the body must be serializable as JSON");
    command(operation, body.into(), None)
}
