//! Error kinds, the effects of failed calls, and the log of attempts.

use std::fmt;
use std::time::Duration;

/// The kind of a failure. Later versions may add kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// An environment variable or a builder setting is missing or invalid. Nothing was sent.
    Configuration,
    /// A parameter or body breaks a rule of the contract. Nothing was sent.
    InvalidInput,
    /// No token could be obtained, for a transient reason such as a token endpoint that is down or slow.
    TokenUnavailable,
    /// The credentials or the token were rejected (a 401, or a rejected token request).
    Unauthenticated,
    /// An entitlement, a scope or a workspace binding is missing (403). The owning application also checks
    /// individual records and business rules (contract, Authentication).
    Forbidden,
    /// The application found the request invalid (400, 422, or another 4xx that has no separate kind).
    Rejected,
    /// The record doesn't exist, or the caller may not see it (404). Only the owning application knows which of the two
    /// applies (contract, Authentication).
    NotFound,
    /// The record's state is invalid, its version is stale, the times conflict, or the idempotency key conflicts (409).
    Conflict,
    /// The application limits the request rate (429).
    RateLimited,
    /// The application, one of its dependencies or its required configuration is unavailable (5xx, 408).
    Unavailable,
    /// The status is neither a success nor an error, such as a redirect.
    UnexpectedStatus,
    /// The connection could not be made. Nothing was sent.
    Connect,
    /// The connection broke after the request may have been sent.
    Transport,
    /// The attempt's timeout or the call's deadline passed.
    Timeout,
    /// The response could not be read: it is not JSON, is truncated, is too large, or has another schema.
    Decode,
    /// The response's `schemaVersion` differs from the version that this SDK was built for.
    SchemaVersion,
    /// A list cannot continue, because a cursor was repeated or a page has no `items`.
    Pagination,
    /// A prepared command was changed, or was prepared by another client or a later SDK version. Nothing was sent.
    PreparedCommand,
    /// A value doesn't match the caller's own type. The error didn't come from a call.
    Value,
}

impl ErrorKind {
    /// All kinds of this release, for example to register a counter for each.
    pub const ALL: &'static [Self] = &[
        Self::Configuration,
        Self::InvalidInput,
        Self::TokenUnavailable,
        Self::Unauthenticated,
        Self::Forbidden,
        Self::Rejected,
        Self::NotFound,
        Self::Conflict,
        Self::RateLimited,
        Self::Unavailable,
        Self::UnexpectedStatus,
        Self::Connect,
        Self::Transport,
        Self::Timeout,
        Self::Decode,
        Self::SchemaVersion,
        Self::Pagination,
        Self::PreparedCommand,
        Self::Value,
    ];

    /// The kind's name in metrics and traces. It never changes.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Configuration => "configuration",
            Self::InvalidInput => "invalid_input",
            Self::TokenUnavailable => "token_unavailable",
            Self::Unauthenticated => "unauthenticated",
            Self::Forbidden => "forbidden",
            Self::Rejected => "rejected",
            Self::NotFound => "not_found",
            Self::Conflict => "conflict",
            Self::RateLimited => "rate_limited",
            Self::Unavailable => "unavailable",
            Self::UnexpectedStatus => "unexpected_status",
            Self::Connect => "connect",
            Self::Transport => "transport",
            Self::Timeout => "timeout",
            Self::Decode => "decode",
            Self::SchemaVersion => "schema_version",
            Self::Pagination => "pagination",
            Self::PreparedCommand => "prepared_command",
            Self::Value => "value",
        }
    }

    pub(crate) fn of_status(status: u16) -> Self {
        match status {
            401 => Self::Unauthenticated,
            403 => Self::Forbidden,
            404 => Self::NotFound,
            407 => Self::Connect,
            408 | 500..=599 => Self::Unavailable,
            409 => Self::Conflict,
            429 => Self::RateLimited,
            400..=499 => Self::Rejected,
            _ => Self::UnexpectedStatus,
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Configuration => "configuration",
            Self::InvalidInput => "invalid input",
            Self::TokenUnavailable => "no token",
            Self::Unauthenticated => "not authenticated",
            Self::Forbidden => "forbidden",
            Self::Rejected => "rejected",
            Self::NotFound => "not found",
            Self::Conflict => "conflict",
            Self::RateLimited => "rate limited",
            Self::Unavailable => "unavailable",
            Self::UnexpectedStatus => "unexpected status",
            Self::Connect => "no connection",
            Self::Transport => "connection lost",
            Self::Timeout => "timeout",
            Self::Decode => "unreadable response",
            Self::SchemaVersion => "unexpected schema version",
            Self::Pagination => "pagination",
            Self::PreparedCommand => "prepared command",
            Self::Value => "value",
        })
    }
}

/// Whether a failed call had an effect on the server.
///
/// No variant will be added, so a `match` needs no wildcard arm. The guide describes how to handle
/// [`Unknown`](crate::guide::unknown_effect).
///
/// ```
/// use sdk_core::{Effect, Error, PreparedCommand};
///
/// /// The command to resend or investigate, if its effect is unknown.
/// fn in_doubt(error: Error) -> Option<PreparedCommand> {
///     match error.effect() {
///         Effect::NotSent | Effect::Refused => None,
///         Effect::Unknown => error.into_command(),
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// The server didn't process the request. The call failed locally, no connection was made, or an HTTP/2 server
    /// reported that it didn't process the request.
    NotSent,
    /// The server rejected the request with a 4xx, so the request had no effect (assumption A52).
    ///
    /// A 4xx after an attempt whose effect is unknown is [`Unknown`](Self::Unknown). (A retried DELETE finds nothing if
    /// it was already applied.) A 4xx to a command that [was sent before](crate::PreparedCommand::was_sent) is also
    /// `Unknown`, with or without a key. A service that has forgotten the key, or validates the request first, may
    /// reject a command that it has already applied.
    Refused,
    /// The request may have been applied: a 5xx, a timeout, or a response that was lost, truncated or unreadable.
    Unknown,
}

impl Effect {
    /// The effect's name in metrics and traces. It never changes.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotSent => "not_sent",
            Self::Refused => "refused",
            Self::Unknown => "unknown",
        }
    }

    pub(crate) fn of_status(status: u16) -> Self {
        // With any other status, the request may have been applied (assumption A52).
        if (400..500).contains(&status) {
            Self::Refused
        } else {
            Self::Unknown
        }
    }

    /// The effect of two attempts combined. A later attempt cannot undo the effect of an earlier attempt.
    pub(crate) fn or(self, other: Self) -> Self {
        std::cmp::max_by_key(self, other, |effect| *effect as u8)
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotSent => "not sent",
            Self::Refused => "refused",
            Self::Unknown => "effect unknown",
        })
    }
}

/// A failed attempt of a call. See [`Error::attempt_log`](crate::Error::attempt_log).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AttemptRecord {
    /// The number of the attempt, starting at 1.
    pub number: u32,
    /// The kind of the failure.
    pub kind: ErrorKind,
    /// The HTTP status of the response, if there was a response.
    pub status: Option<u16>,
    /// Whether the attempt may have had an effect.
    pub effect: Effect,
    /// The response's request ID, redacted.
    pub request_id: Option<String>,
    /// The time from the start of the call to the start of this attempt.
    pub began_after: Duration,
    /// The duration of the attempt.
    pub duration: Duration,
    /// The delay before this attempt, from the backoff or the server's request. Doesn't include the wait for a token.
    pub waited: Duration,
}

/// The maximum length of the log, far more than the usual number of attempts.
const MOST: usize = 32;

/// Adds an attempt. Drops the oldest attempt if the log is full.
pub(crate) fn push(log: &mut Vec<AttemptRecord>, record: AttemptRecord) {
    if log.len() == MOST {
        log.remove(0);
    }
    log.push(record);
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use crate::error::kind::ErrorKind;

    #[test]
    fn all_lists_each_kind_once_with_a_unique_name() {
        let names: HashSet<_> = ErrorKind::ALL.iter().map(|kind| kind.as_str()).collect();
        assert_eq!(names.len(), ErrorKind::ALL.len());
        for (place, kind) in ErrorKind::ALL.iter().enumerate() {
            assert_eq!(*kind as usize, place, "{kind} is listed out of order");
        }
        let last = *ErrorKind::ALL.last().unwrap();
        assert_eq!(last, ErrorKind::Value, "add the new last kind to ALL");
    }
}
