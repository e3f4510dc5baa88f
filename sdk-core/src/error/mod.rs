//! The error type of all crates.

pub(crate) mod build;
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
use crate::error::kind::{AttemptRecord, Effect, ErrorKind};
use crate::error::source::Source;
use crate::operation::Operation;
use crate::text::{TextKind, one_line};

/// A failed call: its cause, its effect on the server, and whether a retry can help.
///
/// The type is opaque. Use [`kind`](Self::kind), or a predicate such as [`is_not_found`](Self::is_not_found), to
/// branch. `Display` prints one line with the installation's label, the operation, the status, the application's code
/// and message, and a hint. It never contains a secret or a token.
///
/// Clones are cheap and share all data.
///
/// # Troubleshooting
/// [The guide](crate::guide::errors) lists the causes and the remedy of each kind.
///
/// [`effect`](Self::effect) shows whether a command may have been applied. If it is [`Effect::Unknown`],
/// [`into_command`](Self::into_command) returns the command, ready to be resent unchanged.
///
/// ```
/// # fn handle(error: sdk_core::Error) {
/// if error.is_not_found() {
///     println!("no such record");
/// } else if error.is_retryable() {
///     println!("try again later: {error}");
/// } else {
///     eprintln!("{error} (request ID {:?})", error.request_id());
/// }
/// # }
/// ```
#[derive(Clone, thiserror::Error)]
#[error(transparent)]
pub struct Error(Arc<Parts>);

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

impl Error {
    /// The kind of failure.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The operation that failed. `None` if the error didn't come from a call.
    #[must_use]
    pub fn operation(&self) -> Option<&'static Operation> {
        self.0.operation
    }

    /// The [label](crate::SuiteBuilder::label) of the installation that was called, if its suite has a label.
    #[must_use]
    pub fn installation(&self) -> Option<&str> {
        self.0.installation.as_deref()
    }

    /// The HTTP status of the last response, if there was a response.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        self.0.status
    }

    /// The application's error code, such as `insufficient_scope` or `IDEMPOTENCY_CONFLICT`, if the body contains a
    /// code.
    #[must_use]
    pub fn code(&self) -> Option<&str> {
        self.0.code.as_deref()
    }

    /// The message from the application or the SDK.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The request ID, by which the suite's operators can find the request.
    #[must_use]
    pub fn request_id(&self) -> Option<&str> {
        self.0.request_id.as_deref()
    }

    /// Whether the same call may succeed later, unchanged.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        self.0.retryable
    }

    /// The delay that the server requested before the next attempt, if any.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        self.0.retry_after
    }

    /// The number of attempts. 0 if the call failed before the first attempt.
    #[must_use]
    pub fn attempts(&self) -> u32 {
        self.0.attempts
    }

    /// The failed attempts of the call in order, at most the last 32. Empty if no attempt was made, or if the
    /// call succeeded but a later check of its response failed, for example in a list.
    ///
    /// ```
    /// # fn report(error: &sdk_core::Error) {
    /// for attempt in error.attempt_log() {
    ///     let (number, took) = (attempt.number, attempt.duration);
    ///     eprintln!("{number}. {:?} {} after {took:?}", attempt.status, attempt.kind);
    /// }
    /// # }
    /// ```
    #[must_use]
    pub fn attempt_log(&self) -> &[AttemptRecord] {
        &self.0.attempt_log
    }

    /// Whether the call may have had an effect on the server.
    #[must_use]
    pub fn effect(&self) -> Effect {
        self.0.effect
    }

    /// The headers of the error response, if there was a response.
    ///
    /// The SDK redacts cookies, and all values that contain a credential, a token, a key or a value from the caller's
    /// headers and parameters. It also redacts values that are too long to search.
    #[must_use]
    pub fn headers(&self) -> Option<&HeaderMap> {
        self.0.headers.as_deref()
    }

    /// The raw body of the error response, as far as it was read.
    #[must_use]
    pub fn body(&self) -> Option<&[u8]> {
        self.0.body.as_deref()
    }

    /// The idempotency key that the command was sent with.
    #[must_use]
    pub fn idempotency_key(&self) -> Option<&IdempotencyKey> {
        self.0.key.as_deref()
    }

    /// The command, ready to be resent unchanged.
    #[must_use]
    pub fn command(&self) -> Option<&PreparedCommand> {
        self.0.command.as_deref()
    }

    /// Takes the command out of the error. Copies it if the error has clones.
    #[must_use]
    pub fn into_command(self) -> Option<PreparedCommand> {
        Arc::unwrap_or_clone(self.0).command.map(|command| *command)
    }

    /// Whether the key was already used for another command: a 409 with the code `IDEMPOTENCY_CONFLICT`. Only the
    /// Calendar's contract documents this code. The guide describes the [remedy](crate::guide::commands).
    #[must_use]
    pub fn is_idempotency_conflict(&self) -> bool {
        self.is_conflict() && self.code() == Some("IDEMPOTENCY_CONFLICT")
    }

    /// Whether the kind is [`InvalidInput`](ErrorKind::InvalidInput).
    #[must_use]
    pub fn is_invalid_input(&self) -> bool {
        self.kind() == ErrorKind::InvalidInput
    }

    /// Whether the kind is [`Unauthenticated`](ErrorKind::Unauthenticated).
    #[must_use]
    pub fn is_unauthenticated(&self) -> bool {
        self.kind() == ErrorKind::Unauthenticated
    }

    /// Whether the kind is [`Forbidden`](ErrorKind::Forbidden).
    #[must_use]
    pub fn is_forbidden(&self) -> bool {
        self.kind() == ErrorKind::Forbidden
    }

    /// Whether the kind is [`NotFound`](ErrorKind::NotFound).
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        self.kind() == ErrorKind::NotFound
    }

    /// Whether the kind is [`Conflict`](ErrorKind::Conflict).
    #[must_use]
    pub fn is_conflict(&self) -> bool {
        self.kind() == ErrorKind::Conflict
    }

    /// Whether the kind is [`RateLimited`](ErrorKind::RateLimited).
    #[must_use]
    pub fn is_rate_limited(&self) -> bool {
        self.kind() == ErrorKind::RateLimited
    }

    /// Whether the kind is [`Unavailable`](ErrorKind::Unavailable), [`Connect`](ErrorKind::Connect) or
    /// [`Transport`](ErrorKind::Transport), because an application that cannot be reached is unavailable, too.
    #[must_use]
    pub fn is_unavailable(&self) -> bool {
        matches!(
            self.kind(),
            ErrorKind::Unavailable | ErrorKind::Connect | ErrorKind::Transport
        )
    }

    /// Whether the kind is [`Timeout`](ErrorKind::Timeout).
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        self.kind() == ErrorKind::Timeout
    }
}

impl fmt::Display for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The builder accepts only short labels without line breaks.
        if let Some(installation) = &self.installation {
            write!(f, "[{installation}] ")?;
        }
        if let Some(operation) = self.operation {
            write!(f, "{}.{}: ", operation.application, operation.id)?;
        }
        match (self.status, self.kind) {
            (Some(status), kind) => write!(f, "{status} {kind}")?,
            (None, ErrorKind::Configuration | ErrorKind::InvalidInput | ErrorKind::Value) => {
                return f.write_str(&self.message);
            }
            (None, kind) => write!(f, "{kind}")?,
        }
        if let Some(code) = &self.code {
            write!(f, " {}", one_line(code))?;
        }
        if !self.message.is_empty() {
            write!(f, ": {}", one_line(&self.message))?;
        }
        if let Some(hint) = &self.hint {
            write!(f, "; {}", TextKind::Hint.of(hint))?;
        }
        if self.effect == Effect::Unknown
            && self
                .operation
                .is_some_and(|operation| operation.safety.is_command())
        {
            f.write_str("; its effect is unknown")?;
        }
        if self.attempts > 1 {
            write!(f, "; after {} attempts", self.attempts)?;
        }
        if let Some(id) = &self.request_id {
            write!(f, " (request {})", one_line(id))?;
        }
        Ok(())
    }
}

/// `{:?}` prints the same line as `Display`, because a `main` that returns the error and `unwrap` print it this way.
/// `{:#?}` also prints the attempts and the sources. Neither prints a key, a token or a body.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.alternate() {
            fmt::Debug::fmt(&self.0, f)
        } else {
            fmt::Display::fmt(self, f)
        }
    }
}

impl fmt::Debug for Parts {
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
    use crate::error::Error;
    use crate::error::kind::{Effect, ErrorKind};

    type Predicate = fn(&Error) -> bool;

    #[test]
    fn each_predicate_is_true_only_for_its_kinds() {
        let predicates: [(Predicate, &[ErrorKind]); 8] = [
            (Error::is_invalid_input, &[ErrorKind::InvalidInput]),
            (Error::is_unauthenticated, &[ErrorKind::Unauthenticated]),
            (Error::is_forbidden, &[ErrorKind::Forbidden]),
            (Error::is_not_found, &[ErrorKind::NotFound]),
            (Error::is_conflict, &[ErrorKind::Conflict]),
            (Error::is_rate_limited, &[ErrorKind::RateLimited]),
            (
                Error::is_unavailable,
                &[
                    ErrorKind::Unavailable,
                    ErrorKind::Connect,
                    ErrorKind::Transport,
                ],
            ),
            (Error::is_timeout, &[ErrorKind::Timeout]),
        ];
        for (is, kinds) in predicates {
            for kind in ErrorKind::ALL {
                let error = Error::new(*kind, Effect::Unknown, "");
                assert_eq!(is(&error), kinds.contains(kind), "{kind}");
            }
        }
    }
}
