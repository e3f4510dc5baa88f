use std::fmt;

/// The kinds of failure. More may come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The environment or the builder lacks something or holds something unusable. Nothing was sent.
    Configuration,
    /// A parameter or body breaks a rule of the contract. Nothing was sent.
    InvalidInput,
    /// No token could be had for a passing reason: the token endpoint is down or slow.
    TokenUnavailable,
    /// The credentials or the token were not accepted (401, or a refused exchange).
    Unauthenticated,
    /// An entitlement, a scope or a workspace binding is missing (403). Checks of single records and of business rules remain
    /// with the owning application (contract, Authentication).
    Forbidden,
    /// The application found the request invalid (400 or 422).
    Rejected,
    /// No accessible record was found (404): there is none, or none that the caller may see, which the application alone
    /// decides (contract, Authentication).
    NotFound,
    /// Invalid state, stale record version, time conflict or idempotency conflict (409).
    Conflict,
    /// The application asks for fewer requests (429).
    RateLimited,
    /// A dependency or required configuration of the application is unavailable (5xx, 408).
    Unavailable,
    /// A status that the contract does not know, such as a redirect.
    UnexpectedStatus,
    /// The connection could not be made. Nothing was sent.
    Connect,
    /// The connection broke after the request may have been sent.
    Transport,
    /// The attempt's timeout or the call's deadline passed.
    Timeout,
    /// The reply could not be read: no JSON, truncated, too large, or of another shape.
    Decode,
    /// The reply carries another `schemaVersion` than this SDK was built for.
    SchemaVersion,
    /// A list cannot be walked further: a cursor came round again, or a page has no items.
    Pagination,
    /// A prepared command does not fit: it was changed, or is of another client or a later SDK. Nothing was sent.
    PreparedCommand,
    /// A value could not be encoded or decoded by the caller's type; no call was under way.
    Value,
}

impl ErrorKind {
    /// A short name for metrics and traces (`error.type`), which never changes.
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

    /// How it reads in a sentence.
    pub(super) const fn text(self) -> &'static str {
        match self {
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
            Self::SchemaVersion => "another schema version",
            Self::Pagination => "pagination",
            Self::PreparedCommand => "prepared command",
            Self::Value => "value",
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

/// What is known about the effect of a call that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Effect {
    /// It never reached the server: refused locally, or no connection was made.
    NotSent,
    /// The server refused it (any 4xx): it had no effect (assumed: A52).
    Refused,
    /// It may have happened: a 5xx, a timeout, a lost, truncated or unreadable reply.
    Unknown,
}

impl Effect {
    /// What is known of two attempts together: one that may have happened is not undone by another.
    pub(crate) fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Unknown, _) | (_, Self::Unknown) => Self::Unknown,
            (Self::Refused, _) | (_, Self::Refused) => Self::Refused,
            (Self::NotSent, Self::NotSent) => Self::NotSent,
        }
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
