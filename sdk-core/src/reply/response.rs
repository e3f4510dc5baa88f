//! The return values of successful calls.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, LazyLock};

use bytes::Bytes;
use http::HeaderMap;
use memchr::memmem::Finder;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::command::key::IdempotencyKey;
use crate::error::Error;
use crate::error::kind::Effect;
use crate::json::fast::scanner::values;
use crate::operation::{Operation, Provenance, Replay};

/// The outcome of a command that was committed (contract, Resources / Calendar and Accounting).
const SUCCEEDED: &str = "succeeded";

/// The status of a command that was accepted and isn't complete.
const ACCEPTED: u16 = 202;

/// A response without its decoded value.
#[derive(Clone)]
pub(crate) struct Reply {
    pub(crate) operation: &'static Operation,
    pub(crate) installation: Option<Arc<str>>,
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) attempts: u32,
    pub(crate) key: Option<Arc<IdempotencyKey>>,
    /// Whether the response differs from its schema in a way that the SDK tolerates.
    pub(crate) mismatch: bool,
}

/// A decoded response with its status, headers and bytes. It dereferences to the value.
#[derive(Clone)]
pub struct Response<T> {
    value: T,
    reply: Reply,
}

/// The result of a command that the service accepted, with the response's status, headers, bytes and idempotency key.
///
/// It dereferences to the result. Where the contract documents the HTTP status, it is 201 for a first commit, and 200
/// for an update, a cancellation or a replay. [`is_replay`](Self::is_replay) identifies replays. See also
/// [the guide](crate::guide::commands).
#[derive(Clone)]
pub struct Receipt<T> {
    value: T,
    reply: Reply,
}

// No method has the name of a field in the contract, because a field is the service's and a method the SDK's.
impl<T> Response<T> {
    pub(crate) fn new(value: T, reply: Reply) -> Self {
        Self { value, reply }
    }

    /// An error about the content of this response, without its headers.
    pub(crate) fn failed(&self, error: Error) -> Error {
        self.reply.failed(error)
    }

    pub(crate) fn value_mut(&mut self) -> &mut T {
        &mut self.value
    }

    /// Returns the value without the response.
    #[must_use]
    pub fn into_inner(self) -> T {
        self.value
    }

    /// The first response header with this name. `None` if it is absent or contains anything but visible ASCII
    /// characters.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.reply.headers.get(name)?.to_str().ok()
    }

    /// The HTTP status, always 2xx.
    #[must_use]
    pub fn http_status(&self) -> u16 {
        self.reply.status
    }

    /// The response's headers.
    #[must_use]
    pub fn headers(&self) -> &HeaderMap {
        &self.reply.headers
    }

    /// The request ID, if the server sent one in `x-request-id` (assumption A44).
    #[must_use]
    pub fn request_id(&self) -> Option<&str> {
        request_id(&self.reply.headers)
    }

    /// The number of attempts.
    #[must_use]
    pub fn attempts(&self) -> u32 {
        self.reply.attempts
    }

    /// The body as received.
    #[must_use]
    pub fn bytes(&self) -> &Bytes {
        &self.reply.body
    }

    /// The operation that was called.
    #[must_use]
    pub fn api_operation(&self) -> &'static Operation {
        self.reply.operation
    }
}

impl<T> Deref for Response<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: fmt::Debug> fmt::Debug for Response<T> {
    /// Prints the value. Prints only the size of a response that may contain a secret. Never prints headers or bytes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reply.debug("Response", &self.value, f)
    }
}

impl<T: fmt::Display> fmt::Display for Response<T> {
    /// Prints the value, or `[redacted]` if the response may contain a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reply.display(&self.value, f)
    }
}

impl<T> Receipt<T> {
    pub(crate) fn new(response: Response<T>) -> Self {
        let Response { value, reply } = response;
        Self { value, reply }
    }

    /// The key that the command was sent with. `None` for commands without a documented key.
    #[must_use]
    pub fn idempotency_key(&self) -> Option<&IdempotencyKey> {
        self.reply.key.as_deref()
    }

    /// Whether this is the stored result of an earlier, identical command, in which case this call changed nothing.
    /// `None` for operations that the contract documents by name only.
    ///
    /// The result's `replayed` field (Calendar, Accounting) or status 200 instead of 201 (CRM) indicates a replay.
    #[must_use]
    pub fn is_replay(&self) -> Option<bool> {
        self.reply.is_replay()
    }

    /// Whether the command is known to have been committed, by this call or an identical earlier call.
    ///
    /// `Some(true)` if the status is a documented success and, in Calendar and Accounting, the result's `outcome` is
    /// `succeeded` (an Accounting import may be `pending`). `None` for any other 2xx, for 202, and for operations that
    /// the contract documents by name only. In these cases, the service accepted the command with an unknown outcome.
    #[must_use]
    pub fn is_committed(&self) -> Option<bool> {
        self.reply.is_committed()
    }

    /// Converts the receipt into a plain response.
    #[must_use]
    pub fn into_response(self) -> Response<T> {
        let Self { value, reply } = self;
        Response { value, reply }
    }

    /// Returns the value without the response.
    #[must_use]
    pub fn into_inner(self) -> T {
        self.value
    }

    /// The first response header with this name. `None` if it is absent or contains anything but visible ASCII
    /// characters.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.reply.headers.get(name)?.to_str().ok()
    }

    /// The HTTP status, always 2xx.
    #[must_use]
    pub fn http_status(&self) -> u16 {
        self.reply.status
    }

    /// The response's headers.
    #[must_use]
    pub fn headers(&self) -> &HeaderMap {
        &self.reply.headers
    }

    /// The request ID, if the server sent one in `x-request-id` (assumption A44).
    #[must_use]
    pub fn request_id(&self) -> Option<&str> {
        request_id(&self.reply.headers)
    }

    /// The number of attempts.
    #[must_use]
    pub fn attempts(&self) -> u32 {
        self.reply.attempts
    }

    /// The body as received.
    #[must_use]
    pub fn bytes(&self) -> &Bytes {
        &self.reply.body
    }

    /// The operation that was called.
    #[must_use]
    pub fn api_operation(&self) -> &'static Operation {
        self.reply.operation
    }
}

impl<T> Deref for Receipt<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: fmt::Debug> fmt::Debug for Receipt<T> {
    /// Prints the value. Prints only the size of a response that may contain a secret. Never prints headers or bytes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reply.debug("Receipt", &self.value, f)
    }
}

impl<T: fmt::Display> fmt::Display for Receipt<T> {
    /// Prints the value, or `[redacted]` if the response may contain a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reply.display(&self.value, f)
    }
}

impl Reply {
    fn failed(&self, error: Error) -> Error {
        error
            .with_operation(self.operation)
            .with_installation(self.installation.clone())
            .with(|parts| {
                parts.status = Some(self.status);
                parts.body = Some(self.body.clone());
                parts.attempts = self.attempts;
                parts.effect = Effect::Unknown;
            })
    }

    fn debug(&self, name: &str, value: &dyn fmt::Debug, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = f.debug_struct(name);
        fields
            .field("operation", &self.operation.id)
            .field("status", &self.status)
            .field("attempts", &self.attempts);
        // Generated types redact secrets. Raw JSON doesn't.
        if self.operation.secret_response {
            fields.field("body_bytes", &self.body.len());
        } else {
            fields.field("value", value);
        }
        fields.finish_non_exhaustive()
    }

    fn display(&self, value: &dyn fmt::Display, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.operation.secret_response {
            return f.write_str("[redacted]");
        }
        value.fmt(f)
    }

    fn is_replay(&self) -> Option<bool> {
        match self.operation.replay {
            Replay::Undocumented => None,
            // The contract doesn't document the meaning of any other status, such as 202.
            Replay::Status(status) => (self.status == status)
                .then_some(true)
                .or_else(|| self.is_committed().map(|_| false)),
            Replay::Field => self.member("replayed"),
        }
    }

    /// Whether the response is known to be a replay. Parses the body only if it contains `true`.
    pub(crate) fn was_replayed(&self) -> bool {
        static TRUE: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new("true"));
        let contains_true = || TRUE.find(&self.body).is_some();
        (self.operation.replay != Replay::Field || contains_true())
            && self.is_replay() == Some(true)
    }

    fn is_committed(&self) -> Option<bool> {
        let operation = self.operation;
        // A command that was only accepted is still in flight, even where the contract documents the status.
        let is_documented = operation.provenance == Provenance::Documented
            && self.status != ACCEPTED
            && operation.statuses.contains(&self.status);
        let outcome = || self.member::<String>("outcome");
        // The contract doesn't document the CRM's results, so only the status counts there.
        let is_done = operation.replay != Replay::Field || outcome().as_deref() == Some(SUCCEEDED);
        (is_documented && is_done).then_some(true)
    }

    /// A field of the body. `None` if the name occurs twice, because it's unclear which value counts.
    fn member<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        let json: &RawValue = serde_json::from_slice(&self.body).ok()?;
        let mut values = values(json.get(), name);
        let value = values.next().filter(|_| values.next().is_none())?;
        serde_json::from_str(value).ok()
    }
}

/// The request ID in the headers (assumption A44).
pub(crate) fn request_id(headers: &HeaderMap) -> Option<&str> {
    headers
        .get("x-request-id")
        .and_then(|value| value.to_str().ok())
}
