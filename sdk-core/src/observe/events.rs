//! The events that observers receive. Everything is borrowed, and what costs something to compute is a method.

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
    /// What is called. It names the application, too.
    pub operation: &'static Operation,
    /// The label of the installation, if it has one.
    pub installation: Option<&'a str>,
}

/// How a call or an attempt ended.
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
    /// The name in metrics and traces, which never changes.
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
    /// How it ended.
    pub outcome: Outcome,
    /// How many attempts were made.
    pub attempts: u32,
    /// What is known about the effect of a call that failed or was cancelled.
    pub effect: Option<Effect>,
    /// The kind of its failure.
    pub kind: Option<ErrorKind>,
    /// Its `error.type`, if it failed.
    pub error_type: Option<&'a str>,
    /// The HTTP status of its last reply, if it has one.
    pub status: Option<u16>,
    /// Whether the reply differs from its schema, which was tolerated.
    pub schema_mismatch: bool,
    pub(super) started: Instant,
    pub(super) reply: Option<&'a Reply>,
    pub(super) request_id: &'a dyn Fn() -> Option<String>,
}

impl CallEnded<'_> {
    /// How long the call took until now.
    #[must_use]
    pub fn duration(&self) -> Duration {
        self.started.elapsed()
    }

    /// Whether the service answered a command with the stored result of an earlier, identical one. Reads the reply, if the
    /// contract documents a field for that.
    #[must_use]
    pub fn replayed(&self) -> bool {
        self.reply.is_some_and(Reply::was_replayed)
    }

    /// The request ID of the reply. Support needs it to find the request.
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

/// One request of a call, or of a token exchange.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ObservedAttempt<'a> {
    /// The call; `None` if it is a token exchange.
    pub call: Option<ObservedCall<'a>>,
    /// The label of the installation, if it has one.
    pub installation: Option<&'a str>,
    /// Its number among the attempts of the call or exchange, from 1.
    pub number: u32,
    /// The HTTP method.
    pub method: Method,
    /// The template of its path, such as `/people/{reference}`.
    pub template: &'a str,
    /// The host that it is sent to, in a form that can be stored without a copy.
    pub server_address: &'a Arc<str>,
    /// The port that it is sent to.
    pub server_port: u16,
}

/// An attempt that ended.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct AttemptEnded<'a> {
    /// The attempt.
    pub attempt: ObservedAttempt<'a>,
    /// How it ended.
    pub outcome: Outcome,
    /// The HTTP status of the reply, if one came.
    pub status: Option<u16>,
    /// The version of HTTP that the reply came by, such as `1.1` or `2`.
    pub protocol_version: Option<&'static str>,
    /// Its `error.type`, if it failed.
    pub error_type: Option<&'a str>,
    /// What is known about the effect of an attempt that failed or was cancelled.
    pub effect: Option<Effect>,
    /// The request id of a reply that is a failure.
    pub request_id: Option<&'a str>,
    pub(super) started: Instant,
    pub(super) received: Instant,
}

impl AttemptEnded<'_> {
    /// How long it took, from its start to the last byte of its reply.
    #[must_use]
    pub fn duration(&self) -> Duration {
        self.received.saturating_duration_since(self.started)
    }
}

/// What is recorded of an attempt when it ends.
#[derive(Clone, Copy, Default)]
pub(crate) struct AttemptAttributes<'a> {
    pub(crate) status: Option<u16>,
    pub(crate) version: Option<Version>,
    pub(crate) failure: Option<ErrorType>,
    pub(crate) effect: Option<Effect>,
    pub(crate) request_id: Option<&'a str>,
}

impl AttemptAttributes<'_> {
    /// The version of HTTP as OpenTelemetry writes it.
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
    /// A token.
    Token,
    /// The backoff before the next attempt.
    Backoff,
    /// The next attempt, as long as the server asked.
    RetryAfter,
    /// A permit, because as many attempts as `max_in_flight` allows were in flight.
    Limit,
    /// The next attempt, because the application asked for fewer requests (429).
    Rate,
}

impl WaitReason {
    /// The name in metrics and traces, which never changes.
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
    /// The operation; `None` if no call waited, as in `prewarm`.
    pub operation: Option<&'static Operation>,
    /// The label of the installation, if it has one.
    pub installation: Option<&'a str>,
    /// The reason.
    pub reason: WaitReason,
    /// How long it took.
    pub duration: Duration,
}

/// An attempt failed, and another one follows.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Retry<'a> {
    /// The call.
    pub call: ObservedCall<'a>,
    /// The `error.type` of the attempt. After a `401` the token is renewed first.
    pub error_type: &'a str,
    /// How many attempts were made.
    pub attempts: u32,
    /// How long the call waits before the next one.
    pub wait: Duration,
}

/// Why a call that could be retried is not.
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
    /// The name in metrics and traces, which never changes.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Budget => "budget",
            Self::Deadline => "deadline",
            Self::Attempts => "attempts",
        }
    }
}

/// An attempt failed, and another one was denied.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct RetryDenied<'a> {
    /// The call.
    pub call: ObservedCall<'a>,
    /// The `error.type` of the attempt.
    pub error_type: &'a str,
    /// How many attempts were made.
    pub attempts: u32,
    /// Why there is no other.
    pub reason: Denial,
}

/// A token renewal that ended.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Renewal<'a> {
    /// The application that the token is for, if it is known.
    pub application: Option<App>,
    /// The label of the installation, if it has one.
    pub installation: Option<&'a str>,
    /// Its `error.type`, if it failed.
    pub error_type: Option<&'a str>,
    /// How long it took, with all its exchanges and the waits between them.
    pub duration: Duration,
}

/// The `error.type` of OpenTelemetry: the status of a reply other than 2xx, or the name of a kind of error.
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
    fn the_documented_list_of_error_types_is_that_of_the_code() {
        let text = include_str!("mod.rs");
        let rows = text.lines().filter(|line| line.starts_with("//! | `"));
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
