//! What failed: kinds, effects, and the attempts of a call.

use std::fmt;
use std::time::Duration;

/// The kinds of failure. More may come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A setting of the environment or the builder is missing or invalid. Nothing was sent.
    Configuration,
    /// A parameter or body breaks a rule of the contract. Nothing was sent.
    InvalidInput,
    /// No token was available for a transient reason: the token endpoint is down or slow.
    TokenUnavailable,
    /// The credentials or the token were not accepted (401, or a refused exchange).
    Unauthenticated,
    /// An entitlement, a scope or a workspace binding is missing (403). Checks of single records and business rules
    /// remain with the owning application (contract, Authentication).
    Forbidden,
    /// The application found the request invalid (400, 422, or another 4xx without a kind of its own).
    Rejected,
    /// No accessible record was found (404): it does not exist, or the caller may not see it. Only the owning
    /// application knows which (contract, Authentication).
    NotFound,
    /// Invalid state, stale record version, time conflict or idempotency conflict (409).
    Conflict,
    /// The application asks for fewer requests (429).
    RateLimited,
    /// A dependency or required configuration of the application is unavailable (5xx, 408).
    Unavailable,
    /// A status that the contract does not document, such as a redirect.
    UnexpectedStatus,
    /// The connection could not be made. Nothing was sent.
    Connect,
    /// The connection broke after the request may have been sent.
    Transport,
    /// The attempt's timeout or the call's deadline passed.
    Timeout,
    /// The reply could not be read: not JSON, truncated, too large, or of another schema.
    Decode,
    /// The reply has another `schemaVersion` than the one this SDK was built for.
    SchemaVersion,
    /// A walk cannot continue: a cursor was repeated, or a page has no items.
    Pagination,
    /// A prepared command cannot be sent: it was changed, or belongs to another client or a later SDK. Nothing was sent.
    PreparedCommand,
    /// A value does not fit the caller's own type; no call was under way.
    Value,
}

impl ErrorKind {
    /// All kinds of this release, to register their counters, for example.
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

    /// Its name in metrics and traces, which never changes.
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

    /// The kind of a response that is an error with this status.
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
            Self::Decode => "unreadable reply",
            Self::SchemaVersion => "unexpected schema version",
            Self::Pagination => "pagination",
            Self::PreparedCommand => "prepared command",
            Self::Value => "value",
        })
    }
}

/// What is known about the effect of a failed call. There will be no fourth case, so a `match` needs no wildcard arm.
/// [The guide](crate::guide::unknown_effect) says what to do with each.
///
/// ```
/// use sdk_core::{Effect, Error, PreparedCommand};
///
/// /// The command to look into, if there is one.
/// fn in_doubt(error: Error) -> Option<PreparedCommand> {
///     match error.effect() {
///         Effect::NotSent | Effect::Refused => None,
///         Effect::Unknown => error.into_command(),
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// The server did nothing with it: it was refused locally, no connection was made, or an HTTP/2 server said that it did
    /// not process it.
    NotSent,
    /// The server refused it (any 4xx): it had no effect (assumed: A52). A refusal after an attempt whose effect is
    /// unknown is `Unknown`: a DELETE that was carried out finds nothing when it is retried. So is that of a
    /// [command that was sent](crate::PreparedCommand::was_sent) before, with or without a key: a service that has
    /// forgotten the key, or looks at the request first, refuses what it has carried out.
    Refused,
    /// It may have happened: a 5xx, a timeout, a lost, truncated or unreadable reply.
    Unknown,
}

impl Effect {
    /// Its name in metrics and traces, which never changes.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotSent => "not_sent",
            Self::Refused => "refused",
            Self::Unknown => "unknown",
        }
    }

    /// The effect of a call whose response is an error with this status.
    pub(crate) fn of_status(status: u16) -> Self {
        // Assumed: A52. Any other status may follow the effect.
        if (400..500).contains(&status) {
            Self::Refused
        } else {
            Self::Unknown
        }
    }

    /// The effect of two attempts together: an attempt cannot undo another one.
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

/// One failed attempt of a call. See [`Error::attempt_log`](crate::Error::attempt_log).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AttemptRecord {
    /// Its number, from 1.
    pub number: u32,
    /// The kind of its failure.
    pub kind: ErrorKind,
    /// The HTTP status of its reply, if one came.
    pub status: Option<u16>,
    /// What is known about its effect.
    pub effect: Effect,
    /// The request id of its reply, redacted.
    pub request_id: Option<String>,
    /// How long after the start of the call it began.
    pub began_after: Duration,
    /// How long it took.
    pub duration: Duration,
    /// How long the call waited before it, for its backoff or because the server asked. Not for a token.
    pub waited: Duration,
}

/// How many attempts are kept: far more than a call usually makes.
const MOST: usize = 32;

/// Adds an attempt, in the place of the oldest if there are too many.
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
    fn all_kinds_are_listed_once_each_with_a_name_of_its_own() {
        let names: HashSet<_> = ErrorKind::ALL.iter().map(|kind| kind.as_str()).collect();
        assert_eq!(names.len(), ErrorKind::ALL.len());
        for (place, kind) in ErrorKind::ALL.iter().enumerate() {
            assert_eq!(*kind as usize, place, "{kind} is not in its place");
        }
        let last = *ErrorKind::ALL.last().unwrap();
        assert_eq!(last, ErrorKind::Value, "list the kind that now comes last");
    }
}
