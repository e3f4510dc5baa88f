use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use serde_json::{Map, Value, json};

use crate::call::attempt::Outcome;
use crate::call::rehearsal::Rehearsal;
use crate::command::key::IdempotencyKey;
use crate::command::prepared::PreparedCommand;
use crate::error::Error;
use crate::error::kind::{Effect, ErrorKind};
use crate::json::raw::RawJson;
use crate::json::record::Record;
use crate::operation::Operation;
use crate::testing::stage::{Stage, replied, stage_setters};
use crate::testing::transport::{lost, unconnected};
use crate::token::error::TokenError;

/// Declares the builder: each field of an error with its setter.
macro_rules! error_builder {
    ($($(#[$doc:meta])* $field:ident: $type:ty = $value:expr, $from:ty;)*) => {
        /// An error under construction. Made by [`error`](crate::testing::error).
        ///
        /// What is not set follows from the rest. `code`, `message` and `retryable` go into the body of the reply, unless
        /// that is set.
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
            $($field: Option<$type>,)*
        }

        impl ErrorBuilder {
            pub(super) fn new(kind: ErrorKind) -> Self {
                Self { stage: Stage::default(), kind, $($field: None,)* }
            }

            $(
                $(#[$doc])*
                pub fn $field(mut self, $field: $from) -> Self {
                    self.$field = Some($value);
                    self
                }
            )*
        }
    };
}

error_builder! {
    /// Sets the effect. A stronger one than the failure has by itself is that of an earlier attempt. Not sent were a timeout
    /// while connecting, a token that was refused (`Unauthenticated`), and a scope that the client saw missing (`Forbidden`).
    effect: Effect = effect, Effect;
    /// Sets the status of the reply; one of its kind by default.
    status: u16 = status, u16;
    /// Sets the application's error code.
    code: String = code.into(), impl Into<String>;
    /// Sets the message, of one line, where the application or the SDK is free in it.
    message: String = message.into(), impl Into<String>;
    /// Sets the request id.
    request_id: String = request_id.into(), impl Into<String>;
    /// Sets whether the Platform calls the failure retryable. Of other applications only the status counts.
    retryable: bool = retryable, bool;
    /// Sets how many seconds the server asked to wait.
    retry_after: Duration = retry_after, Duration;
}

impl ErrorBuilder {
    stage_setters!();

    /// Sets the operation that failed. By default it is a GET by path (`raw_call`), or none if no call was under way.
    pub fn operation(mut self, operation: &'static Operation) -> Self {
        self.stage.operation = Some(operation);
        self
    }

    /// The error.
    ///
    /// # Panics
    /// If no call could end with it, such as a `NotFound` with the status 503, or a timeout with a code.
    #[must_use]
    #[track_caller]
    pub fn build(self) -> Error {
        let is_status = |status: u16| (100..=999).contains(&status);
        let status = self.status.unwrap_or(200);
        assert!(is_status(status), "no reply has the status {status}");
        let error = self.made();
        macro_rules! compare {
            ($($what:ident: $asked:expr, $made:expr;)*) => {$(
                if let Some(asked) = &$asked {
                    let (what, made) = (stringify!($what), $made);
                    assert!(*asked == made, "no error made here has the {what} {asked:?}, but {made:?}: {error}");
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
            "no error made here has the message {message:?}: {error}"
        );
        error
    }

    #[track_caller]
    fn made(&self) -> Error {
        use ErrorKind as Kind;
        let message = self.message.as_deref().unwrap_or("made for a test");
        let not_sent = self.effect == Some(Effect::NotSent);
        let usual = match self.kind {
            Kind::Configuration | Kind::Value | Kind::InvalidInput | Kind::PreparedCommand => {
                let error = Error::new(self.kind, message);
                return match self.stage.operation {
                    Some(operation) => error.of(operation),
                    None => error,
                };
            }
            Kind::TokenUnavailable => return self.tokenless(TokenError::unavailable(message)),
            Kind::Unauthenticated if not_sent => {
                return self.tokenless(TokenError::refused("invalid_client", message));
            }
            Kind::Forbidden if not_sent => return self.rehearsed(0, Rehearsal::unscoped),
            Kind::Connect if self.status.is_none() => {
                return self.silent(|| Outcome::Failed(unconnected()));
            }
            Kind::Transport => return self.silent(|| Outcome::Failed(lost())),
            Kind::Timeout => {
                return self.silent(|| Outcome::TimedOut {
                    never_begun: not_sent,
                });
            }
            Kind::Decode | Kind::SchemaVersion | Kind::Pagination => 200,
            Kind::UnexpectedStatus => 302,
            Kind::Unauthenticated => 401,
            Kind::Forbidden => 403,
            Kind::NotFound => 404,
            Kind::Connect => 407,
            Kind::Conflict => 409,
            Kind::Rejected => 422,
            Kind::RateLimited => 429,
            Kind::Unavailable => 503,
        };
        let (headers, body) = self.head_and_body();
        let status = self.status.unwrap_or(usual);
        self.rehearsed(1, |call| {
            let outcome = replied(status, headers.clone(), body.clone());
            let reply = if matches!(self.kind, Kind::Decode | Kind::SchemaVersion) {
                let known = (self.kind == Kind::SchemaVersion).then_some("the one of this SDK");
                call.judge::<Record>(outcome, known).map(drop)
            } else {
                call.judge::<RawJson>(outcome, None)
                    .and_then(|page| match self.kind {
                        Kind::Pagination => Err(call.call.unfit(Error::pagination(message), &page)),
                        _ => Ok(()),
                    })
            };
            let accepted = "a call accepts this reply: `testing::reply` says what it makes of it";
            reply.expect_err(accepted)
        })
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
        self.rehearsed(0, |it| it.ended(it.call.client.token_error(error.clone())))
    }

    #[track_caller]
    fn silent(&self, outcome: impl Fn() -> Outcome) -> Error {
        let judge = |call: &Rehearsal| call.judge::<RawJson>(outcome(), None).map(drop);
        self.rehearsed(1, |call| judge(call).expect_err("nothing replied"))
    }

    /// The error of a call whose last failure takes at least `own` attempts. An earlier one had the stronger effect, if one is
    /// asked for.
    #[track_caller]
    fn rehearsed(&self, own: u32, judge: impl Fn(&Rehearsal) -> Error) -> Error {
        let asked = self.stage.attempts;
        let attempts = asked.unwrap_or(own).max(own);
        let error = judge(&self.stage.rehearsal(attempts, Effect::NotSent));
        let stronger = self
            .effect
            .filter(|it| it.or(error.effect()) != error.effect());
        match stronger {
            Some(before) if asked.is_none_or(|asked| asked > own) => {
                judge(&self.stage.rehearsal(asked.unwrap_or(own + 1), before))
            }
            _ => error,
        }
    }

    #[track_caller]
    fn head_and_body(&self) -> (HeaderMap, Bytes) {
        let mut stage = self.stage.clone();
        if let Some(id) = &self.request_id {
            stage.header("x-request-id", id);
        }
        if let Some(wait) = self.retry_after {
            stage.header("retry-after", &wait.as_secs().to_string());
        }
        let members = [
            ("code", self.code.as_deref().map(Value::from)),
            ("message", self.message.as_deref().map(Value::from)),
            ("retryable", self.retryable.map(Value::from)),
        ];
        let members = members.into_iter();
        let told = members.filter_map(|(name, value)| Some((name.to_owned(), value?)));
        let told: Map<String, Value> = told.collect();
        let body = stage.body.unwrap_or_else(|| match self.kind {
            ErrorKind::SchemaVersion => r#"{"schemaVersion": "another"}"#.into(),
            // It fails by what it lacks.
            ErrorKind::Pagination => "{}".into(),
            _ if told.is_empty() => Bytes::new(),
            // The Platform's envelope, which is read from every application.
            _ => json!({ "error": told }).to_string().into(),
        });
        (stage.headers, body)
    }
}
