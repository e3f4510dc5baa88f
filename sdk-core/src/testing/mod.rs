//! Errors, responses, receipts and pages for unit tests of programs that use a client: without a server and without a runtime.
//!
//! They need the feature `test-util`, which belongs to the tests alone:
//!
//! ```toml
//! [dev-dependencies]
//! sdk-crm = { version = "0.1", features = ["test-util"] }
//! ```
//!
//! Each value is what a call would have returned: the code that judges real replies makes it, so that status, kind, effect,
//! text and all else fit together. What cannot happen cannot be made: `build` panics and says why.
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

mod error;
mod reply;
mod stage;
mod transport;

use serde::Serialize;

use crate::command::prepared::PreparedCommand;
use crate::error::kind::ErrorKind;
use crate::json::members::Members;
use crate::operation::Operation;
use crate::reply::page::Page;
use crate::testing::stage::Stage;

pub use crate::testing::error::ErrorBuilder;
pub use crate::testing::reply::ReplyBuilder;
pub use crate::testing::transport::ScriptedTransport;

/// An error of this kind. Without further words it is the usual one, such as that of a 503 for
/// [`Unavailable`](ErrorKind::Unavailable).
pub fn error(kind: ErrorKind) -> ErrorBuilder {
    ErrorBuilder::new(kind)
}

/// A reply to a call of an operation, for what the call makes of it: a response, a receipt, or an error.
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

/// A command as `prepare` makes it, with a random key if the operation takes one. Path parameters have their own names as
/// values. It is for the addresses of [`ScriptedTransport::suite`], whose clients send it.
///
/// # Panics
/// If the operation is not a command, or the body cannot be written as JSON.
#[must_use]
#[track_caller]
pub fn prepared(operation: &'static Operation, body: &impl Serialize) -> PreparedCommand {
    assert!(
        operation.safety.is_command(),
        "{operation} is not a command"
    );
    let body = serde_json::to_vec(body).expect("the body can be written as JSON");
    Stage::of(operation)
        .prepared(body.into())
        .expect("the command can be prepared")
}
