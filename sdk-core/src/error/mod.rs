//! The one error type of all crates.

pub(crate) mod build;
pub(crate) mod display;
pub(crate) mod envelope;
pub(crate) mod kind;
pub(crate) mod source;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;

use crate::command::key::IdempotencyKey;
use crate::command::prepared::PreparedCommand;
use crate::error::kind::{Effect, ErrorKind};
use crate::error::source::Source;
use crate::operation::Operation;

/// What went wrong, whether it had an effect, and who can help.
///
/// The type is opaque: ask [`kind`](Self::kind) or an `is_*` predicate. `Display` is one line that names the
/// operation, the status, the application's code and message, and a hint; it never holds a secret or a token.
///
/// Cloning is cheap and shares everything, so that an error can be handed to all who waited for one call.
///
/// # Troubleshooting
/// [The guide](crate::guide::errors) lists each kind, what causes it and what to do.
///
/// [`effect`](Self::effect) tells whether a command may have happened. When it is [`Effect::Unknown`],
/// [`into_command`](Self::into_command) hands back the command, to be sent again exactly.
///
/// ```
/// # fn handle(error: sdk_core::Error) {
/// if error.is_not_found() {
///     println!("no such record");
/// } else if error.retryable() {
///     println!("later: {error}");
/// } else {
///     eprintln!("{error} (request id {:?})", error.request_id());
/// }
/// # }
/// ```
#[derive(Clone, thiserror::Error)]
#[error(transparent)]
pub struct Error(Arc<Inner>);

#[derive(Clone, thiserror::Error)]
struct Inner {
    kind: ErrorKind,
    operation: Option<&'static Operation>,
    message: String,
    hint: Option<String>,
    status: Option<u16>,
    code: Option<String>,
    request_id: Option<String>,
    retryable: bool,
    retry_after: Option<Duration>,
    attempts: u32,
    effect: Effect,
    headers: Option<Box<HeaderMap>>,
    body: Option<Bytes>,
    source: Option<Source>,
    key: Option<Arc<IdempotencyKey>>,
    command: Option<Box<PreparedCommand>>,
}

impl Error {
    /// What kind of failure it is.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The operation that failed; `None` when no operation was under way.
    #[must_use]
    pub fn operation(&self) -> Option<&'static Operation> {
        self.0.operation
    }

    /// The HTTP status of the last reply, if there was one.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        self.0.status
    }

    /// The application's error code, such as `insufficient_scope` or `IDEMPOTENCY_CONFLICT`, if the body had one.
    #[must_use]
    pub fn code(&self) -> Option<&str> {
        self.0.code.as_deref()
    }

    /// What the application, or the SDK, said about it.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The correlated request id, for the people who run the suite.
    #[must_use]
    pub fn request_id(&self) -> Option<&str> {
        self.0.request_id.as_deref()
    }

    /// Whether the same call may succeed later without a change.
    #[must_use]
    pub fn retryable(&self) -> bool {
        self.0.retryable
    }

    /// How long the server asked to wait, if it did.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        self.0.retry_after
    }

    /// How many attempts reached for the wire; 0 when the call was refused before it.
    #[must_use]
    pub fn attempts(&self) -> u32 {
        self.0.attempts
    }

    /// What is known about the effect of the call.
    #[must_use]
    pub fn effect(&self) -> Effect {
        self.0.effect
    }

    /// The headers of the failing reply, if one came. Cookies, and values that repeat a credential, a token, a key or what
    /// the caller set in headers and parameters, are replaced by `[redacted]`.
    #[must_use]
    pub fn headers(&self) -> Option<&HeaderMap> {
        self.0.headers.as_deref()
    }

    /// The raw body of the failing reply, as far as it was read.
    #[must_use]
    pub fn body(&self) -> Option<&[u8]> {
        self.0.body.as_deref()
    }

    /// The idempotency key that the command was sent with.
    #[must_use]
    pub fn idempotency_key(&self) -> Option<&IdempotencyKey> {
        self.0.key.as_deref()
    }

    /// The command, ready to be sent again exactly as it was.
    #[must_use]
    pub fn command(&self) -> Option<&PreparedCommand> {
        self.0.command.as_deref()
    }

    /// Takes the command out, or a copy of it where clones of the error hold it too.
    #[must_use]
    pub fn into_command(self) -> Option<PreparedCommand> {
        Arc::unwrap_or_clone(self.0).command.map(|command| *command)
    }

    /// Whether the key stands for another command, by a 409 with the code `IDEMPOTENCY_CONFLICT`. The Calendar's contract
    /// documents the code; the others do not show how they would say so.
    #[must_use]
    pub fn is_idempotency_conflict(&self) -> bool {
        self.is_conflict() && self.code() == Some("IDEMPOTENCY_CONFLICT")
    }
}

/// Declares a predicate for each kind. A kind without one does not compile.
macro_rules! predicates {
    ($($(#[$meta:meta])* $is:ident = $kind:ident $(| $other:ident)*;)*) => {
        impl Error {
            $(
                $(#[$meta])*
                #[must_use]
                pub fn $is(&self) -> bool {
                    matches!(self.0.kind, ErrorKind::$kind $(| ErrorKind::$other)*)
                }
            )*
        }

        const _: fn(ErrorKind) = |kind| match kind {
            $(ErrorKind::$kind => (),)*
        };

        #[cfg(test)]
        const PREDICATES: &[(ErrorKind, fn(&Error) -> bool)] =
            &[$((ErrorKind::$kind, Error::$is),)*];
    };
}

predicates! {
    /// Whether the environment or the builder lacks something or holds something unusable.
    is_configuration = Configuration;
    /// Whether the call was refused before anything was sent, because of a parameter or a body.
    is_invalid_input = InvalidInput;
    /// Whether no token could be had for a passing reason.
    is_token_unavailable = TokenUnavailable;
    /// Whether the credentials or the token were not accepted (401, or a refused token exchange).
    is_unauthenticated = Unauthenticated;
    /// Whether an entitlement, a scope or a workspace binding is missing (403).
    is_forbidden = Forbidden;
    /// Whether the application found the request invalid (400 or 422).
    is_rejected = Rejected;
    /// Whether no accessible record was found (404).
    is_not_found = NotFound;
    /// Whether the state of the record stood against it (409).
    is_conflict = Conflict;
    /// Whether the application asks for fewer requests (429).
    is_rate_limited = RateLimited;
    /// Whether the service could not be reached or did not answer as a service that is up.
    is_unavailable = Unavailable | Connect | Transport;
    /// Whether the reply had a status that the contract does not know, such as a redirect.
    is_unexpected_status = UnexpectedStatus;
    /// Whether no connection could be made.
    is_connect = Connect;
    /// Whether the connection broke after the request may have been sent.
    is_transport = Transport;
    /// Whether a time limit ended the call.
    is_timeout = Timeout;
    /// Whether the reply could not be read.
    is_decode = Decode;
    /// Whether the reply carries another `schemaVersion` than this SDK was built for.
    is_schema_version = SchemaVersion;
    /// Whether a list cannot be walked further.
    is_pagination = Pagination;
    /// Whether a prepared command does not fit: it was changed, or is of another client or a later SDK.
    is_prepared_command = PreparedCommand;
    /// Whether a value could not be encoded or decoded by the caller's type, while no call was under way.
    is_value = Value;
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Debug for Inner {
    /// As `Display`, with what is known for a log; never a key, a token or a body.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("kind", &self.kind)
            .field("effect", &self.effect)
            .field("attempts", &self.attempts)
            .field("message", &self.to_string())
            .field("source", &self.source)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use crate::error::{Error, PREDICATES};

    #[test]
    fn each_kind_has_a_predicate_of_its_own() {
        for (kind, _) in PREDICATES {
            let error = Error::new(*kind, "");
            let said = PREDICATES.iter().filter(|(_, is)| is(&error));
            let said: Vec<_> = said.map(|(own, _)| own.as_str()).collect();
            let mut expected = vec![kind.as_str()];
            // A service that cannot be reached is not available either.
            if ["connect", "transport"].contains(&kind.as_str()) {
                expected.insert(0, "unavailable");
            }
            assert_eq!(said, expected);
        }
    }
}
