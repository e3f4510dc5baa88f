use std::sync::Arc;

use bytes::Bytes;
use serde::Serialize;

use crate::command::key::IdempotencyKey;
use crate::command::prepared::PreparedCommand;
use crate::error::Error;
use crate::error::kind::Effect;
use crate::json::raw::RawJson;
use crate::operation::Operation;
use crate::reply::receive::Receive;
use crate::reply::response::{Receipt, Response};
use crate::testing::stage::{Stage, replied, stage_setters};

/// A reply to a call. Made by [`reply`](crate::testing::reply).
///
/// ```
/// # static OPERATION: &sdk_core::Operation = &sdk_core::codegen::RawOperations::of(sdk_core::App::Crm).read;
/// use sdk_core::{Page, Record, testing};
///
/// let ann = r#"{"displayName": "Ann"}"#.parse::<Record>()?;
/// let page = testing::page([ann], Some("cursor-2"));
/// let response = testing::reply(OPERATION, 200).json(&page).response::<Page<Record>>()?;
/// assert_eq!(response.next_cursor(), Some("cursor-2"));
///
/// let error = testing::reply(OPERATION, 404).error();
/// assert!(error.is_not_found());
/// # Ok::<(), sdk_core::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until it is built"]
pub struct ReplyBuilder {
    stage: Stage,
    status: u16,
}

impl ReplyBuilder {
    pub(super) fn new(operation: &'static Operation, status: u16) -> Self {
        Self {
            stage: Stage::of(operation),
            status,
        }
    }

    stage_setters!();

    /// Sets the body of the reply to a value as JSON.
    ///
    /// # Panics
    /// If the value cannot be written as JSON.
    #[track_caller]
    pub fn json(self, value: &(impl Serialize + ?Sized)) -> Self {
        let json = serde_json::to_vec(value).expect("the value can be written as JSON");
        self.body(json)
    }

    /// What a call returns for this reply: decoded and checked like any other.
    ///
    /// # Errors
    /// For any reply that a call does not accept.
    ///
    /// # Panics
    /// If no call could get this reply: a status that is none, no attempts, a command that does not fit the operation.
    #[track_caller]
    pub fn response<T: Receive>(self) -> Result<Response<T>, Error> {
        let known = 200..=999;
        assert!(known.contains(&self.status), "no reply has this status");
        let attempts = self.stage.attempts.unwrap_or(1);
        assert!(attempts > 0, "a reply takes an attempt");
        let rehearsal = self.stage.rehearsal(attempts, Effect::NotSent);
        let body = self.stage.body.unwrap_or_default();
        rehearsal.judge(replied(self.status, self.stage.headers, body), None)
    }

    /// What a command returns for this reply.
    ///
    /// Whether it is a replay follows from the reply: by its status in the CRM, elsewhere by the member `replayed`.
    ///
    /// # Errors
    /// As [`response`](Self::response).
    ///
    /// # Panics
    /// As [`response`](Self::response), and if the operation is not a command.
    #[track_caller]
    pub fn receipt<T: Receive>(self) -> Result<Receipt<T>, Error> {
        let is_command = |it: &Operation| it.safety.is_command();
        assert!(
            self.stage.operation.is_some_and(is_command),
            "only a command has a receipt"
        );
        self.response().map(Receipt::new)
    }

    /// The error of a call that gets this reply.
    ///
    /// # Panics
    /// As [`response`](Self::response), and if a call accepts the reply.
    #[must_use]
    #[track_caller]
    pub fn error(self) -> Error {
        match self.response::<RawJson>() {
            Ok(accepted) => panic!("a call accepts this reply: {accepted:?}"),
            Err(error) => error,
        }
    }
}
