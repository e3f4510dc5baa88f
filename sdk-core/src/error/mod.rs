//! The one error type of all crates.

pub(crate) mod attempts;
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
use crate::error::attempts::AttemptRecord;
use crate::error::kind::{Effect, ErrorKind};
use crate::error::source::Source;
use crate::getters::getters;
use crate::operation::Operation;

/// What failed, whether it took effect, and who can help.
///
/// The type is opaque: ask [`kind`](Self::kind) or an `is_*` predicate. `Display` is one line with the label of
/// the installation, the operation, the status, the application's code and message, and a hint. It never contains a secret or a token.
///
/// Clones are cheap and share everything.
///
/// # Troubleshooting
/// [The guide](crate::guide::errors) lists each kind with its cause and what to do.
///
/// [`effect`](Self::effect) tells whether a command may have taken effect. If it is [`Effect::Unknown`],
/// [`into_command`](Self::into_command) returns the command, ready to be sent again exactly.
///
/// ```
/// # fn handle(error: sdk_core::Error) {
/// if error.is_not_found() {
///     println!("no such record");
/// } else if error.is_retryable() {
///     println!("later: {error}");
/// } else {
///     eprintln!("{error} (request id {:?})", error.request_id());
/// }
/// # }
/// ```
#[derive(Clone, thiserror::Error)]
#[error(transparent)]
pub struct Error(Arc<Parts>);

/// What an error is made of.
#[derive(Clone, thiserror::Error)]
pub(crate) struct Parts {
    pub(crate) kind: ErrorKind,
    pub(crate) operation: Option<&'static Operation>,
    pub(crate) installation: Option<Arc<str>>,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
    pub(crate) status: Option<u16>,
    pub(crate) code: Option<String>,
    pub(crate) request_id: Option<String>,
    pub(crate) retryable: bool,
    pub(crate) retry_after: Option<Duration>,
    pub(crate) attempts: u32,
    pub(crate) attempt_log: Vec<AttemptRecord>,
    pub(crate) effect: Effect,
    pub(crate) headers: Option<Box<HeaderMap>>,
    pub(crate) body: Option<Bytes>,
    pub(crate) source: Option<Source>,
    pub(crate) key: Option<Arc<IdempotencyKey>>,
    pub(crate) command: Option<Box<PreparedCommand>>,
}

getters! {
    Error |it|
    /// The kind of failure.
    pub kind -> ErrorKind = it.0.kind;
    /// The operation that failed; `None` if no call was under way.
    pub operation -> Option<&'static Operation> = it.0.operation;
    /// The [label](crate::SuiteBuilder::label) of the installation that was called, if its suite has one.
    pub installation -> Option<&str> = it.0.installation.as_deref();
    /// The HTTP status of the last reply, if there was one.
    pub status -> Option<u16> = it.0.status;
    /// The application's error code, such as `insufficient_scope` or `IDEMPOTENCY_CONFLICT`, if the body had one.
    pub code -> Option<&str> = it.0.code.as_deref();
    /// The message of the application or the SDK.
    pub message -> &str = &it.0.message;
    /// The correlated request id, for the people who run the suite.
    pub request_id -> Option<&str> = it.0.request_id.as_deref();
    /// Whether the same call may succeed later, unchanged.
    pub is_retryable -> bool = it.0.retryable;
    /// How long the server asked the client to wait, if it did.
    pub retry_after -> Option<Duration> = it.0.retry_after;
    /// How many attempts were made; 0 if the call was refused before the first one.
    pub attempts -> u32 = it.0.attempts;
    /// The failed attempts of the call, in their order: at most the last 32. It is empty if no attempt was made, and if the
    /// call itself succeeded but its reply did not fit what came after, as in a walk.
    ///
    /// ```
    /// # fn report(error: &sdk_core::Error) {
    /// for attempt in error.attempt_log() {
    ///     let (number, took) = (attempt.number, attempt.duration);
    ///     eprintln!("{number}. {:?} {} after {took:?}", attempt.status, attempt.kind);
    /// }
    /// # }
    /// ```
    pub attempt_log -> &[AttemptRecord] = &it.0.attempt_log;
    /// What is known about the effect of the call.
    pub effect -> Effect = it.0.effect;
    /// The headers of the failing reply, if there was one. Cookies are redacted, and so are values that contain a
    /// credential, a token, a key, or what the caller set in headers and parameters, or that are too long to be searched.
    pub headers -> Option<&HeaderMap> = it.0.headers.as_deref();
    /// The raw body of the failing reply, as far as it was read.
    pub body -> Option<&[u8]> = it.0.body.as_deref();
    /// The idempotency key that the command was sent with.
    pub idempotency_key -> Option<&IdempotencyKey> = it.0.key.as_deref();
    /// The command, ready to be sent again exactly.
    pub command -> Option<&PreparedCommand> = it.0.command.as_deref();
}

impl Error {
    /// Takes the command out of the error; copies it if clones of the error hold it too.
    #[must_use]
    pub fn into_command(self) -> Option<PreparedCommand> {
        Arc::unwrap_or_clone(self.0).command.map(|command| *command)
    }

    /// Whether the key was already used for another command: a 409 with the code `IDEMPOTENCY_CONFLICT`. Only the Calendar's
    /// contract documents this code. [The guide](crate::guide::conflicts) says what to do.
    #[must_use]
    pub fn is_idempotency_conflict(&self) -> bool {
        self.is_conflict() && self.code() == Some("IDEMPOTENCY_CONFLICT")
    }
}

/// Declares a predicate for each kind; a kind without one does not compile.
macro_rules! predicates {
    ($($is:ident = $kind:ident $(| $other:ident)*;)*) => {
        impl Error {
            $(
                #[doc = concat!(
                    "Whether the kind is [`", stringify!($kind), "`](ErrorKind::", stringify!($kind), ")",
                    $(", or [`", stringify!($other), "`](ErrorKind::", stringify!($other), ")",)* "."
                )]
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
    is_configuration = Configuration;
    is_invalid_input = InvalidInput;
    is_token_unavailable = TokenUnavailable;
    is_unauthenticated = Unauthenticated;
    is_forbidden = Forbidden;
    is_rejected = Rejected;
    is_not_found = NotFound;
    is_conflict = Conflict;
    is_rate_limited = RateLimited;
    is_unavailable = Unavailable | Connect | Transport;
    is_unexpected_status = UnexpectedStatus;
    is_connect = Connect;
    is_transport = Transport;
    is_timeout = Timeout;
    is_decode = Decode;
    is_schema_version = SchemaVersion;
    is_pagination = Pagination;
    is_prepared_command = PreparedCommand;
    is_value = Value;
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Debug for Parts {
    /// As `Display`, with fields for a log; never a key, a token or a body.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("kind", &self.kind)
            .field("effect", &self.effect)
            .field("attempts", &self.attempts)
            .field("attempt_log", &self.attempt_log)
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
