//! The events that observers receive. All values are borrowed, and values that are expensive to compute are methods.

use std::sync::Arc;
use std::time::Duration;

use http::{StatusCode, Version};
use tokio::time::Instant;

use crate::app::App;
use crate::error::Error;
use crate::error::kind::{Effect, ErrorKind};
use crate::macros::debug_fields;
use crate::operation::{Method, Operation};
use crate::reply::response::Reply;

/// A call.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ObservedCall<'a> {
    /// The operation, which includes the application.
    pub operation: &'static Operation,
    /// The label of the installation, if any.
    pub installation: Option<&'a str>,
}

/// The outcome of a call or an attempt.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// It succeeded.
    Ok,
    /// It failed.
    Error,
    /// Its caller dropped it, which is not a failure.
    Cancelled,
}

impl Outcome {
    /// Returns the stable name for metrics and traces.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Error => "error",
            Self::Cancelled => "cancelled",
        }
    }
}

/// A call that ended.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct CallEnded<'a> {
    /// The call.
    pub call: ObservedCall<'a>,
    /// The outcome.
    pub outcome: Outcome,
    /// The number of attempts.
    pub attempts: u32,
    /// The effect of a call that failed or was cancelled.
    pub effect: Option<Effect>,
    /// The error kind, if it failed.
    pub kind: Option<ErrorKind>,
    /// Its `error.type`, if it failed.
    pub error_type: Option<&'a str>,
    /// The HTTP status of the last response, if any.
    pub status: Option<u16>,
    /// Whether the response differs from its schema in a tolerated way.
    pub schema_mismatch: bool,
    pub(super) started: Instant,
    pub(super) reply: Option<&'a Reply>,
    pub(super) request_id: &'a dyn Fn() -> Option<String>,
}

impl CallEnded<'_> {
    /// Returns the duration of the call so far.
    #[must_use]
    pub fn duration(&self) -> Duration {
        self.started.elapsed()
    }

    /// Whether the service answered a command with the stored result of an earlier, identical command. Reads the
    /// response body if the contract documents a field for this.
    #[must_use]
    pub fn replayed(&self) -> bool {
        self.reply.is_some_and(Reply::was_replayed)
    }

    /// Returns the request ID of the response, which support needs to find the request.
    #[must_use]
    pub fn request_id(&self) -> Option<String> {
        (self.request_id)()
    }
}

debug_fields! {
    CallEnded<'a> |it|
    call: it.call, outcome: it.outcome, attempts: it.attempts, effect: it.effect,
    error_type: it.error_type, duration: it.duration()
}

/// One request of a call or of a token renewal.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ObservedAttempt<'a> {
    /// The call; `None` for a token request.
    pub call: Option<ObservedCall<'a>>,
    /// The label of the installation, if any.
    pub installation: Option<&'a str>,
    /// The number of the attempt within its call or renewal, starting at 1.
    pub number: u32,
    /// The HTTP method.
    pub method: Method,
    /// The path template, such as `/people/{reference}`.
    pub template: &'a str,
    /// The host of the request, shareable without a copy.
    pub server_address: &'a Arc<str>,
    /// The port of the request.
    pub server_port: u16,
}

/// An attempt that ended.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct AttemptEnded<'a> {
    /// The attempt.
    pub attempt: ObservedAttempt<'a>,
    /// The outcome.
    pub outcome: Outcome,
    /// The HTTP status of the response, if any.
    pub status: Option<u16>,
    /// The HTTP version of the response, such as `1.1` or `2`.
    pub protocol_version: Option<&'static str>,
    /// Its `error.type`, if it failed.
    pub error_type: Option<&'a str>,
    /// The effect of an attempt that failed or was cancelled.
    pub effect: Option<Effect>,
    /// The request ID of a failed response.
    pub request_id: Option<&'a str>,
    pub(super) started: Instant,
    pub(super) received: Instant,
}

impl AttemptEnded<'_> {
    /// Returns the time from the start of the attempt to the last byte of its response.
    #[must_use]
    pub fn duration(&self) -> Duration {
        self.received.saturating_duration_since(self.started)
    }
}

/// The attributes that are recorded when an attempt ends.
#[derive(Clone, Copy, Default)]
pub(crate) struct AttemptAttributes<'a> {
    pub(crate) status: Option<u16>,
    pub(crate) version: Option<Version>,
    pub(crate) failure: Option<ErrorType>,
    pub(crate) effect: Option<Effect>,
    pub(crate) request_id: Option<&'a str>,
}

impl AttemptAttributes<'_> {
    pub(super) fn protocol_version(&self) -> Option<&'static str> {
        match self.version? {
            Version::HTTP_10 => Some("1.0"),
            Version::HTTP_11 => Some("1.1"),
            Version::HTTP_2 => Some("2"),
            Version::HTTP_3 => Some("3"),
            _ => None,
        }
    }
}

/// The reason a call waited.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WaitReason {
    /// It waited for a token.
    Token,
    /// It waited for the backoff before the next attempt.
    Backoff,
    /// It waited as long as the server's `Retry-After` asked.
    RetryAfter,
    /// It waited for a permit, because `max_in_flight` attempts were in flight.
    Limit,
    /// It waited because the application limits the request rate (429).
    Rate,
}

impl WaitReason {
    /// Returns the stable name for metrics and traces.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Token => "token",
            Self::Backoff => "backoff",
            Self::RetryAfter => "retry_after",
            Self::Limit => "limit",
            Self::Rate => "rate",
        }
    }
}

/// A wait that ended.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Wait<'a> {
    /// The application.
    pub application: App,
    /// The operation; `None` if the wait belongs to no call, as in `prewarm`.
    pub operation: Option<&'static Operation>,
    /// The label of the installation, if any.
    pub installation: Option<&'a str>,
    /// The reason.
    pub reason: WaitReason,
    /// The duration of the wait.
    pub duration: Duration,
}

/// An attempt that failed and is retried.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Retry<'a> {
    /// The call.
    pub call: ObservedCall<'a>,
    /// The `error.type` of the attempt. After a `401`, the suite renews the token first.
    pub error_type: &'a str,
    /// The number of attempts so far.
    pub attempts: u32,
    /// The delay before the next attempt.
    pub wait: Duration,
}

/// The reason a retry was denied.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Denial {
    /// The retry budget is used up.
    Budget,
    /// The next attempt would begin after the deadline of the call.
    Deadline,
    /// All attempts were made.
    Attempts,
}

impl Denial {
    /// Returns the stable name for metrics and traces.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Budget => "budget",
            Self::Deadline => "deadline",
            Self::Attempts => "attempts",
        }
    }
}

/// An attempt that failed and whose retry was denied.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct RetryDenied<'a> {
    /// The call.
    pub call: ObservedCall<'a>,
    /// The `error.type` of the attempt.
    pub error_type: &'a str,
    /// The number of attempts.
    pub attempts: u32,
    /// The reason for the denial.
    pub reason: Denial,
}

/// A token renewal that ended.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Renewal<'a> {
    /// The application of the token, if known.
    pub application: Option<App>,
    /// The label of the installation, if any.
    pub installation: Option<&'a str>,
    /// Its `error.type`, if it failed.
    pub error_type: Option<&'a str>,
    /// The duration, including all token requests and the delays between them.
    pub duration: Duration,
}

/// The `error.type` of OpenTelemetry: the status of a response other than 2xx, or the name of an error kind.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ErrorType {
    Status(StatusCode),
    Kind(&'static str),
}

impl ErrorType {
    pub(crate) fn new(status: Option<u16>, kind: &'static str) -> Self {
        let status = status.and_then(|status| StatusCode::from_u16(status).ok());
        match status.filter(|status| !status.is_success()) {
            Some(status) => Self::Status(status),
            None => Self::Kind(kind),
        }
    }

    pub(crate) fn of(error: &Error) -> Self {
        Self::new(error.status(), error.kind().as_str())
    }

    pub(crate) fn as_str(&self) -> &str {
        match self {
            Self::Status(status) => status.as_str(),
            Self::Kind(kind) => kind,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::error::kind::ErrorKind;
    use crate::token::error::TokenErrorKind;

    #[test]
    fn the_documented_error_types_match_the_code() {
        let source = include_str!("mod.rs");
        let rows = source.lines().filter(|line| line.starts_with("//! | `"));
        let mut columns = [Vec::new(), Vec::new()];
        for row in rows.filter(|row| !row.contains("suite.")) {
            for (cell, column) in row.split('|').skip(1).zip(&mut columns) {
                let name = cell.trim().trim_matches('`');
                column.extend(Some(name).filter(|name| !name.is_empty()));
            }
        }
        let kinds: Vec<_> = ErrorKind::ALL.iter().map(|kind| kind.as_str()).collect();
        let of_tokens = TokenErrorKind::ALL.iter().map(|kind| kind.as_str());
        assert_eq!(columns, [kinds, of_tokens.collect()]);
    }
}
