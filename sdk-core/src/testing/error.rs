use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use serde_json::{Map, Value, json};

use crate::call::rehearsal::{Rehearsal, Silence};
use crate::command::key::IdempotencyKey;
use crate::command::prepared::PreparedCommand;
use crate::error::Error;
use crate::error::kind::{Effect, ErrorKind};
use crate::json::raw::RawJson;
use crate::json::record::Record;
use crate::operation::Operation;
use crate::testing::stage::{Stage, stage_setters};
use crate::token::error::TokenError;

/// An error under construction. Made by [`error`](crate::testing::error).
///
/// What is not set follows from the rest. `code`, `message` and `retryable` go into the body of the reply, unless that is set.
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
pub struct ErrorBuilder {
    stage: Stage,
    kind: ErrorKind,
    effect: Option<Effect>,
    status: Option<u16>,
    code: Option<String>,
    message: Option<String>,
    request_id: Option<String>,
    retryable: Option<bool>,
    retry_after: Option<Duration>,
}

impl ErrorBuilder {
    pub(super) fn new(kind: ErrorKind) -> Self {
        Self {
            stage: Stage::default(),
            kind,
            effect: None,
            status: None,
            code: None,
            message: None,
            request_id: None,
            retryable: None,
            retry_after: None,
        }
    }

    stage_setters!();

    /// Sets the operation that failed. By default it is a GET by path (`raw_call`), or none if no call was under way.
    pub fn operation(mut self, operation: &'static Operation) -> Self {
        self.stage = self.stage.of(operation);
        self
    }

    /// Sets the effect. A stronger one than the failure has by itself is that of an earlier attempt. Not sent were a timeout
    /// while connecting, a token that was refused (`Unauthenticated`), and a scope that the client saw missing (`Forbidden`).
    pub fn effect(mut self, effect: Effect) -> Self {
        self.effect = Some(effect);
        self
    }

    /// Sets the status of the reply; one of its kind by default.
    pub fn status(mut self, status: u16) -> Self {
        self.status = Some(status);
        self
    }

    /// Sets the application's error code.
    pub fn code(mut self, code: impl Into<String>) -> Self {
        self.code = Some(code.into());
        self
    }

    /// Sets the message, of one line, where the application or the SDK is free in it.
    pub fn message(mut self, message: impl Into<String>) -> Self {
        self.message = Some(message.into());
        self
    }

    /// Sets the request id.
    pub fn request_id(mut self, id: impl Into<String>) -> Self {
        self.request_id = Some(id.into());
        self
    }

    /// Sets whether the Platform calls the failure retryable. Of other applications only the status counts.
    pub fn retryable(mut self, retryable: bool) -> Self {
        self.retryable = Some(retryable);
        self
    }

    /// Sets how many seconds the server asked to wait.
    pub fn retry_after(mut self, wait: Duration) -> Self {
        self.retry_after = Some(wait);
        self
    }

    /// The error.
    ///
    /// # Panics
    /// If no call could end with it, such as a `NotFound` with the status 503, or a timeout with a code.
    #[must_use]
    #[track_caller]
    pub fn build(self) -> Error {
        let error = self.made();
        macro_rules! compare {
            ($($what:ident: $asked:expr, $made:expr;)*) => {$(
                if let Some(asked) = &$asked {
                    let (what, made) = (stringify!($what), $made);
                    assert!(*asked == made, "no call ends with the {what} {asked:?} here, but with {made:?}: {error}");
                }
            )*};
        }
        compare! {
            kind: Some(self.kind), error.kind();
            attempts: self.stage.attempts, error.attempts();
            effect: self.effect, error.effect();
            status: self.status, error.status().unwrap_or_default();
            code: self.code, error.code().unwrap_or_default();
            request_id: self.request_id, error.request_id().unwrap_or_default();
            retryable: self.retryable, error.is_retryable();
            retry_after: self.retry_after, error.retry_after().unwrap_or_default();
        }
        let message = self.message.unwrap_or_default();
        assert!(
            error.message().contains(&message),
            "no call ends with the message {message:?} here: {error}"
        );
        error
    }

    #[track_caller]
    fn made(&self) -> Error {
        let message = self.message.as_deref().unwrap_or("made for a test");
        let not_sent = self.effect == Some(Effect::NotSent);
        match self.kind {
            ErrorKind::Configuration
            | ErrorKind::Value
            | ErrorKind::InvalidInput
            | ErrorKind::PreparedCommand => {
                let error = Error::new(self.kind, message);
                let operation = self.stage.operation;
                operation.map_or(error.clone(), |operation| error.of(operation))
            }
            ErrorKind::TokenUnavailable => self.tokenless(TokenError::unavailable(message)),
            ErrorKind::Unauthenticated if not_sent => {
                let code = self.code.as_deref().unwrap_or("invalid_client");
                self.tokenless(TokenError::refused(code, message))
            }
            ErrorKind::Forbidden if not_sent => self.rehearsed(0, Rehearsal::unscoped),
            ErrorKind::Connect if self.status.is_none() => self.silent(Silence::Unconnected),
            ErrorKind::Transport => self.silent(Silence::Lost),
            ErrorKind::Timeout => match self.status {
                Some(status) => {
                    self.rehearsed(1, |call| call.unended(status, self.reply_headers()))
                }
                None => self.silent(Silence::Late { begun: !not_sent }),
            },
            ErrorKind::Unauthenticated => self.replied(401),
            ErrorKind::Forbidden => self.replied(403),
            ErrorKind::NotFound => self.replied(404),
            ErrorKind::Connect => self.replied(407),
            ErrorKind::Conflict => self.replied(409),
            ErrorKind::Rejected => self.replied(422),
            ErrorKind::RateLimited => self.replied(429),
            ErrorKind::Unavailable => self.replied(503),
            ErrorKind::UnexpectedStatus => self.replied(302),
            ErrorKind::Decode | ErrorKind::SchemaVersion | ErrorKind::Pagination => {
                self.replied(200)
            }
        }
    }

    /// The error of a call that gets no token.
    #[track_caller]
    fn tokenless(&self, mut error: TokenError) -> Error {
        if let Some(code) = &self.code {
            error = error.with_code(code);
        }
        if let Some(id) = &self.request_id {
            error = error.with_request_id(id);
        }
        if let Some(wait) = self.retry_after {
            error = error.with_retry_after(wait);
        }
        let client = self.stage.client();
        self.rehearsed(0, |call| call.unsent(client.token_error(error.clone())))
    }

    #[track_caller]
    fn silent(&self, silence: Silence) -> Error {
        self.rehearsed(1, |call| call.silence(silence))
    }

    #[track_caller]
    fn replied(&self, usual: u16) -> Error {
        let status = self.status.unwrap_or(usual);
        let body = self.reply_body();
        self.rehearsed(1, |call| {
            let (headers, body) = (self.reply_headers(), body.clone());
            let reply = match self.kind {
                ErrorKind::SchemaVersion => {
                    let known = "the one of this SDK";
                    let reply = call.versioned::<Record>(known, status, headers, body);
                    reply.map(drop)
                }
                ErrorKind::Decode => call.reply::<Record>(status, headers, body).map(drop),
                ErrorKind::Pagination => {
                    let page = call.reply::<RawJson>(status, headers, body);
                    page.and_then(|page| {
                        let message = self.message.as_deref().unwrap_or("made for a test");
                        Err(call.unfit(Error::pagination(message), &page))
                    })
                }
                _ => call.reply::<RawJson>(status, headers, body).map(drop),
            };
            reply.err().unwrap_or_else(|| {
                panic!("a call accepts this reply; what a type makes of it, `testing::reply` says")
            })
        })
    }

    /// The error of a call whose last failure takes at least `own` attempts. An earlier one had the stronger effect, if one is
    /// asked for.
    #[track_caller]
    fn rehearsed(&self, own: u32, judge: impl Fn(&Rehearsal) -> Error) -> Error {
        let asked = self.stage.attempts;
        let after = |attempts: u32, before| self.stage.rehearsal().after(attempts, before);
        let error = judge(&after(asked.unwrap_or(own).max(own), Effect::NotSent));
        let stronger = self
            .effect
            .filter(|it| it.or(error.effect()) != error.effect());
        match stronger {
            Some(before) if asked.is_none_or(|asked| asked > own) => {
                judge(&after(asked.unwrap_or(own + 1), before))
            }
            _ => error,
        }
    }

    #[track_caller]
    fn reply_headers(&self) -> HeaderMap {
        let mut stage = self.stage.clone();
        if let Some(id) = &self.request_id {
            stage.header("x-request-id", id);
        }
        if let Some(wait) = self.retry_after {
            stage.header("retry-after", &wait.as_secs().to_string());
        }
        stage.headers
    }

    fn reply_body(&self) -> Bytes {
        if let Some(body) = &self.stage.body {
            return body.clone();
        }
        if self.kind == ErrorKind::SchemaVersion {
            return Bytes::from_static(br#"{"schemaVersion": "another"}"#);
        }
        // The Platform's envelope, which is read from every application.
        let mut error = Map::new();
        let mut put = |name: &str, value: Option<Value>| {
            error.extend(value.map(|value| (name.to_owned(), value)));
        };
        put("code", self.code.as_deref().map(Value::from));
        put("retryable", self.retryable.map(Value::from));
        if self.kind != ErrorKind::Pagination {
            put("message", self.message.as_deref().map(Value::from));
        }
        if error.is_empty() && self.kind != ErrorKind::Pagination {
            return Bytes::new();
        }
        json!({ "error": error }).to_string().into()
    }
}
