//! What a successful call returns.

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

/// The status of what was accepted and is not done.
const ACCEPTED: u16 = 202;

/// A response without its decoded value.
#[derive(Clone)]
pub(crate) struct Reply {
    pub(crate) operation: &'static Operation,
    /// The label of the installation that sent it.
    pub(crate) installation: Option<Arc<str>>,
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) attempts: u32,
    pub(crate) key: Option<Arc<IdempotencyKey>>,
    /// Whether it differs from its schema, which was tolerated.
    pub(crate) mismatch: bool,
}

/// A decoded response with its status, headers and bytes. It dereferences to the value.
#[derive(Clone)]
pub struct Response<T> {
    value: T,
    reply: Reply,
}

/// The result of a command that the service accepted, with its status, headers, bytes and idempotency key.
///
/// It dereferences to the result. As far as the contract shows, the HTTP status is 201 for a first commit, and 200 for an
/// update, a cancellation or a replay; [`is_replay`](Self::is_replay) identifies replays. [The guide](crate::guide::commands)
/// says more.
#[derive(Clone)]
pub struct Receipt<T> {
    value: T,
    reply: Reply,
}

// No method has the name of a field in the contract: methods say what the SDK knows, fields what the service sent.
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

    /// The value without the rest.
    #[must_use]
    pub fn into_inner(self) -> T {
        self.value
    }

    /// One of the response's headers, the first of its name; `None` if it is not there or not visible ASCII.
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

    /// The request id, if the server sent one (`x-request-id`, assumed: A44).
    #[must_use]
    pub fn request_id(&self) -> Option<&str> {
        request_id(&self.reply.headers)
    }

    /// How many attempts it took.
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
    /// Shows the value, but only the size of a response that may contain a secret. Never shows headers or bytes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reply.debug("Response", &self.value, f)
    }
}

impl<T: fmt::Display> fmt::Display for Response<T> {
    /// Prints the value, but a response that may hold a secret only as `[redacted]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reply.display(&self.value, f)
    }
}

impl<T> Receipt<T> {
    pub(crate) fn new(response: Response<T>) -> Self {
        let Response { value, reply } = response;
        Self { value, reply }
    }

    /// The key that the command was sent with; `None` for commands without a documented key.
    #[must_use]
    pub fn idempotency_key(&self) -> Option<&IdempotencyKey> {
        self.reply.key.as_deref()
    }

    /// Whether this is the stored result of an earlier, identical command, so that this call committed nothing. `None` for
    /// operations that are known by name only, whose responses the contract does not document.
    ///
    /// Calendar and Accounting set the field `replayed` of the result; the CRM answers with the status 200 instead of 201.
    #[must_use]
    pub fn is_replay(&self) -> Option<bool> {
        self.reply.is_replay()
    }

    /// Whether the command is known to be committed, by this call or an identical earlier one.
    ///
    /// `Some(true)` if the status is a documented success and, in Calendar and Accounting, the result's `outcome` is
    /// `succeeded` (an Accounting import may be `pending`). `None` for any other 2xx, for 202, and for operations that
    /// are known by name only: the service accepted the command, and its outcome is not shown.
    #[must_use]
    pub fn is_committed(&self) -> Option<bool> {
        self.reply.is_committed()
    }

    /// The receipt as a plain response.
    #[must_use]
    pub fn into_response(self) -> Response<T> {
        let Self { value, reply } = self;
        Response { value, reply }
    }

    /// The value without the rest.
    #[must_use]
    pub fn into_inner(self) -> T {
        self.value
    }

    /// One of the response's headers, the first of its name; `None` if it is not there or not visible ASCII.
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

    /// The request id, if the server sent one (`x-request-id`, assumed: A44).
    #[must_use]
    pub fn request_id(&self) -> Option<&str> {
        request_id(&self.reply.headers)
    }

    /// How many attempts it took.
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
    /// Shows the value, but only the size of a response that may contain a secret. Never shows headers or bytes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reply.debug("Receipt", &self.value, f)
    }
}

impl<T: fmt::Display> fmt::Display for Receipt<T> {
    /// Prints the value, but a response that may hold a secret only as `[redacted]`.
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
        // Generated types redact secrets, raw JSON does not.
        if self.operation.secret_reply {
            fields.field("body_bytes", &self.body.len());
        } else {
            fields.field("value", value);
        }
        fields.finish_non_exhaustive()
    }

    fn display(&self, value: &dyn fmt::Display, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.operation.secret_reply {
            return f.write_str("[redacted]");
        }
        value.fmt(f)
    }

    fn is_replay(&self) -> Option<bool> {
        match self.operation.replay {
            Replay::NotShown => None,
            // The contract says nothing about any other status, such as 202.
            Replay::Status(status) => (self.status == status)
                .then_some(true)
                .or_else(|| self.is_committed().map(|_| false)),
            Replay::Member => self.member("replayed"),
        }
    }

    /// Whether it is certainly a replay. Parses only a body that could say so.
    pub(crate) fn was_replayed(&self) -> bool {
        static TRUE: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new("true"));
        let may_say_so = || TRUE.find(&self.body).is_some();
        (self.operation.replay != Replay::Member || may_say_so()) && self.is_replay() == Some(true)
    }

    fn is_committed(&self) -> Option<bool> {
        let operation = self.operation;
        // What was only accepted is in flight, also where the contract documents the status.
        let is_documented = operation.provenance == Provenance::Documented
            && self.status != ACCEPTED
            && operation.statuses.contains(&self.status);
        let outcome = || self.member::<String>("outcome");
        // The contract does not show the CRM's results, so only the status counts there.
        let is_done = operation.replay != Replay::Member || outcome().as_deref() == Some(SUCCEEDED);
        (is_documented && is_done).then_some(true)
    }

    /// One field of the body; `None` if there are two of the name, since nobody knows which of them counts.
    fn member<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        let json: &RawValue = serde_json::from_slice(&self.body).ok()?;
        let mut values = values(json.get(), name);
        let value = values.next().filter(|_| values.next().is_none())?;
        serde_json::from_str(value).ok()
    }
}

/// The request id in the headers (assumed: A44).
pub(crate) fn request_id(headers: &HeaderMap) -> Option<&str> {
    headers
        .get("x-request-id")
        .and_then(|value| value.to_str().ok())
}
