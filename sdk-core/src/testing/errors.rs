//! Builds errors and prepared commands without a call.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use http::{HeaderName, HeaderValue};

use crate::command::key::IdempotencyKey;
use crate::command::prepared::{CommandFlags, PreparedCommand, VERSION};
use crate::error::Error;

use crate::error::kind::{Effect, ErrorKind, push};
use crate::operation::{Operation, Replay, Safety};

/// Builds an error. Created by [`error`](crate::testing::error).
///
/// The kind determines the default status, effect, retryability and number of attempts. Each setter replaces only its
/// own value, so keep the values consistent.
///
/// ```
/// use sdk_core::{ErrorKind, testing};
///
/// let conflict = testing::error(ErrorKind::Conflict).code("IDEMPOTENCY_CONFLICT").build();
/// assert!(conflict.is_idempotency_conflict());
/// assert_eq!(conflict.status(), Some(409));
/// ```
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until it is built"]
pub struct ErrorBuilder(pub(super) Error);

impl ErrorBuilder {
    pub(super) fn new(kind: ErrorKind) -> Self {
        use ErrorKind as Kind;
        let status = match kind {
            Kind::Decode | Kind::SchemaVersion | Kind::Pagination => Some(200),
            Kind::UnexpectedStatus => Some(302),
            Kind::Unauthenticated => Some(401),
            Kind::Forbidden => Some(403),
            Kind::NotFound => Some(404),
            Kind::Conflict => Some(409),
            Kind::Rejected => Some(422),
            Kind::RateLimited => Some(429),
            Kind::Unavailable => Some(503),
            _ => None,
        };
        let effect = match (status, kind) {
            (Some(status), _) => Effect::of_status(status),
            (None, Kind::Transport | Kind::Timeout) => Effect::Unknown,
            (None, _) => Effect::NotSent,
        };
        let without_response = matches!(kind, Kind::Connect | Kind::Transport | Kind::Timeout);
        let temporary = matches!(
            kind,
            Kind::TokenUnavailable | Kind::RateLimited | Kind::Unavailable
        );
        Self(Error::new(kind, effect, "made for a test").with(|parts| {
            parts.status = status;
            parts.retryable = temporary || without_response;
            parts.attempts = u32::from(status.is_some() || without_response);
        }))
    }

    /// Sets the failed operation; unset by default.
    pub fn operation(self, operation: &'static Operation) -> Self {
        Self(self.0.with(|parts| parts.operation = Some(operation)))
    }

    /// Sets the effect.
    pub fn effect(self, effect: Effect) -> Self {
        Self(self.0.with(|parts| parts.effect = effect))
    }

    /// Sets the status of the response.
    pub fn status(self, status: u16) -> Self {
        Self(self.0.with(|parts| parts.status = Some(status)))
    }

    /// Sets the application's error code.
    pub fn code(self, code: impl Into<String>) -> Self {
        Self(self.0.with(|parts| parts.code = Some(code.into())))
    }

    /// Sets the message.
    pub fn message(self, message: impl Into<String>) -> Self {
        Self(self.0.with(|parts| parts.message = message.into()))
    }

    /// Sets the request ID.
    pub fn request_id(self, id: impl Into<String>) -> Self {
        Self(self.0.with(|parts| parts.request_id = Some(id.into())))
    }

    /// Sets whether the same call may succeed later.
    pub fn retryable(self, retryable: bool) -> Self {
        Self(self.0.with(|parts| parts.retryable = retryable))
    }

    /// Sets the delay that the server requested.
    pub fn retry_after(self, wait: Duration) -> Self {
        Self(self.0.with(|parts| parts.retry_after = Some(wait)))
    }

    /// Sets the number of attempts. Each attempt has the kind, the status and the effect of the error.
    pub fn attempts(self, attempts: u32) -> Self {
        Self(self.0.with(|parts| parts.attempts = attempts))
    }

    /// Adds a header to the response.
    ///
    /// # Panics
    /// If the name or value is not valid in HTTP.
    #[track_caller]
    pub fn header(self, name: &str, value: &str) -> Self {
        let (name, value) = header(name, value);
        Self(self.0.with(|parts| {
            let headers = parts.headers.get_or_insert_default();
            headers.append(name, value);
        }))
    }

    /// Sets the body of the response.
    pub fn body(self, body: impl Into<Bytes>) -> Self {
        Self(self.0.with(|parts| parts.body = Some(body.into())))
    }

    /// Sets the idempotency key of the command. By default, the key is random if the operation takes a key.
    pub fn idempotency_key(self, key: IdempotencyKey) -> Self {
        Self(self.0.with(|parts| parts.key = Some(Arc::new(key))))
    }

    /// Sets the command and its key. By default, the command is derived from the failed operation, with the body `{}`.
    pub fn command(self, command: PreparedCommand) -> Self {
        Self(self.0.with_command(command))
    }

    /// Builds the error. If its operation is a command and the effect isn't `Refused`, the error contains the command.
    #[must_use]
    pub fn build(self) -> Error {
        let Self(error) = self;
        let latest = error.attempts().saturating_sub(31).max(1);
        let mut log = Vec::new();
        (latest..=error.attempts()).for_each(|number| push(&mut log, error.as_attempt(number)));
        error.with(|parts| {
            parts.attempt_log = log;
            let Some(operation) = parts.operation.filter(|it| it.safety.is_command()) else {
                return;
            };
            parts.key = parts.key.take().or_else(|| random_key(operation));
            parts.command = match (parts.effect, parts.command.take()) {
                (Effect::Refused, _) => None,
                (effect, command_set) => {
                    let default =
                        || command(operation, Bytes::from_static(b"{}"), parts.key.clone());
                    let command = command_set.map_or_else(default, |command| *command);
                    Some(Box::new(match effect {
                        Effect::Unknown => command.into_sent(),
                        _ => command,
                    }))
                }
            };
        })
    }
}

#[track_caller]
pub(super) fn header(name: &str, value: &str) -> (HeaderName, HeaderValue) {
    let name = name.parse().expect("the header name must be valid");
    (name, value.parse().expect("the header value must be valid"))
}

pub(super) fn random_key(operation: &Operation) -> Option<Arc<IdempotencyKey>> {
    let is_keyed = operation.safety == Safety::Keyed;
    is_keyed.then(|| Arc::new(IdempotencyKey::random()))
}

/// Creates a command that clients of [`ScriptedTransport::suite`](crate::testing::ScriptedTransport::suite) can send.
pub(super) fn command(
    operation: &'static Operation,
    body: Bytes,
    key: Option<Arc<IdempotencyKey>>,
) -> PreparedCommand {
    let (app, is_shown) = (
        operation.application,
        operation.replay != Replay::Undocumented,
    );
    let body = if operation.body { body } else { Bytes::new() };
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let command = PreparedCommand {
        version: VERSION,
        application: app.name().to_owned(),
        operation: operation.id.to_owned(),
        method: operation.method.as_str().to_owned(),
        audience: Some(super::transport::url(app)),
        // Use the parameter names as path segments, so that the path matches the route.
        path: operation.route.replace(['{', '}'], ""),
        idempotency_key: key.or_else(|| random_key(operation)),
        headers: Vec::new(),
        body: String::from_utf8_lossy(&body).into_owned(),
        prepared_at: now.ok().and_then(|now| u64::try_from(now.as_millis()).ok()),
        flags: CommandFlags {
            replay_shown: is_shown,
            ..CommandFlags::default()
        },
        digest: String::new(),
    };
    command.digested()
}
