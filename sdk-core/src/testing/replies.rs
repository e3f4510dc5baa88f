//! Builds responses and receipts without a call.

use std::sync::Arc;

use bytes::Bytes;
use http::HeaderMap;
use serde::Serialize;

use crate::app::App;
use crate::command::key::IdempotencyKey;
use crate::command::prepared::PreparedCommand;
use crate::error::Error;
use crate::error::envelope::Envelope;
use crate::error::kind::{Effect, ErrorKind};
use crate::json::raw::RawJson;
use crate::operation::Operation;
use crate::policy::retry::retry_after;
use crate::reply::decode::{DecodeRules, FromResponse, ResponseHead, Unreadable, receive};
use crate::reply::response::{Receipt, Reply, Response, request_id};
use crate::testing::errors::{ErrorBuilder, header, random_key};
use crate::text::one_line;

/// Builds a response to a call. Created by [`response`](crate::testing::response).
///
/// ```
/// # static OPERATION: &sdk_core::Operation = &sdk_core::codegen::RawOperations::of(sdk_core::App::Crm).read;
/// use sdk_core::{Page, Record, testing};
///
/// let ann = r#"{"displayName": "Ann"}"#.parse::<Record>()?;
/// let page = testing::page([ann], Some("cursor-2"));
/// let response = testing::response(OPERATION, 200).json(&page).build::<Page<Record>>()?;
/// assert_eq!(response.next_cursor(), Some("cursor-2"));
///
/// let error = testing::response(OPERATION, 404).error();
/// assert!(error.is_not_found());
/// # Ok::<(), sdk_core::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until it is built"]
pub struct ResponseBuilder {
    operation: &'static Operation,
    status: u16,
    headers: HeaderMap,
    body: Bytes,
    attempts: u32,
    key: Option<Arc<IdempotencyKey>>,
    command: Option<PreparedCommand>,
}

impl ResponseBuilder {
    pub(super) fn new(operation: &'static Operation, status: u16) -> Self {
        Self {
            operation,
            status,
            headers: HeaderMap::new(),
            body: Bytes::new(),
            attempts: 1,
            key: None,
            command: None,
        }
    }

    /// Sets the number of attempts; 1 by default.
    pub fn attempts(mut self, attempts: u32) -> Self {
        self.attempts = attempts;
        self
    }

    /// Adds a header to the response.
    ///
    /// # Panics
    /// If the name or value is not valid in HTTP.
    #[track_caller]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        let (name, value) = header(name, value);
        self.headers.append(name, value);
        self
    }

    /// Sets the body of the response.
    pub fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    /// Sets the body of the response to a JSON value.
    ///
    /// # Panics
    /// If the value can't be serialized as JSON.
    #[track_caller]
    pub fn json(self, value: &(impl Serialize + ?Sized)) -> Self {
        let json = serde_json::to_vec(value).expect("the value must be serializable as JSON");
        self.body(json)
    }

    /// Sets the idempotency key of the command. By default, the key is random if the operation takes a key.
    pub fn idempotency_key(mut self, key: IdempotencyKey) -> Self {
        self.key = Some(Arc::new(key));
        self
    }

    /// Sets the stored command that this responds to, and its key.
    pub fn command(mut self, command: PreparedCommand) -> Self {
        self.key.clone_from(&command.idempotency_key);
        self.command = Some(command);
        self
    }

    /// Builds the decoded response, checked against the operation's `schemaVersion`.
    ///
    /// # Errors
    /// If the status is not 2xx, or the body can't be decoded.
    pub fn build<T: FromResponse>(self) -> Result<Response<T>, Error> {
        if !(200..300).contains(&self.status) {
            return Err(self.rejected());
        }
        let rules = DecodeRules {
            schema_version: self.operation.schema_version,
            lenient: false,
            max_elements: usize::MAX,
            accept: self.operation.accept,
            statuses: self.operation.statuses,
        };
        let head = ResponseHead::of(self.status, &self.headers);
        match receive::<T>(head, &self.body, rules, &one_line) {
            Ok((value, mismatch)) => Ok(Response::new(
                value,
                Reply {
                    operation: self.operation,
                    installation: None,
                    status: self.status,
                    headers: self.headers,
                    body: self.body,
                    attempts: self.attempts,
                    key: self.key.or_else(|| random_key(self.operation)),
                    mismatch,
                },
            )),
            Err(unreadable) => Err(self.unreadable(unreadable)),
        }
    }

    /// Builds the receipt of a command.
    ///
    /// The response determines whether it is a replay: the status in the CRM, the `replayed` field in other
    /// applications.
    ///
    /// # Errors
    /// Like [`build`](Self::build).
    pub fn receipt<T: FromResponse>(self) -> Result<Receipt<T>, Error> {
        self.build().map(Receipt::new)
    }

    /// Builds the error for a call that gets this response.
    ///
    /// # Panics
    /// If the response is not an error.
    #[must_use]
    #[track_caller]
    pub fn error(self) -> Error {
        let result = self.build::<RawJson>();
        result.expect_err("the response must be an error")
    }

    fn rejected(self) -> Error {
        let envelope = Envelope::parse(self.operation.application == App::Platform, &self.body);
        let (after, retryable) = (
            retry_after(&self.headers),
            envelope.is_retryable(self.status),
        );
        let error = Error::new(
            ErrorKind::of_status(self.status),
            Effect::of_status(self.status),
            envelope.message.unwrap_or_default(),
        );
        self.failed(error.with(|parts| {
            parts.code = envelope.code;
            parts.request_id = envelope.request_id;
            parts.retry_after = after;
            parts.retryable = retryable;
        }))
    }

    fn unreadable(self, unreadable: Unreadable) -> Error {
        let error = match unreadable {
            Unreadable::Schema { expected, .. } => {
                let message = format!("this SDK was built for {expected}");
                Error::new(ErrorKind::SchemaVersion, Effect::Unknown, message)
            }
            Unreadable::Truncated(cause) => {
                Error::decode(cause.to_string()).with(|parts| parts.retryable = true)
            }
            Unreadable::Malformed(message) => Error::decode(message),
            Unreadable::TooMany(most) => Error::decode(format!("more than {most} elements")),
        };
        self.failed(error)
    }

    fn failed(self, error: Error) -> Error {
        let error = error.with(|parts| {
            parts.operation = Some(self.operation);
            parts.status = Some(self.status);
            parts.effect = Effect::of_status(self.status);
            parts.attempts = self.attempts;
            let from_headers = || request_id(&self.headers).map(str::to_owned);
            parts.request_id = parts.request_id.take().or_else(from_headers);
            parts.headers = Some(Box::new(self.headers));
            parts.body = Some(self.body);
            parts.key = self.key;
            parts.command = self.command.map(Box::new);
        });
        ErrorBuilder(error).build()
    }
}
