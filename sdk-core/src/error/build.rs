//! How errors come about; everything here is private to the runtime.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{HeaderMap, HeaderValue, SET_COOKIE};
use tokio::runtime::Handle;

use crate::app::UnknownApp;
use crate::command::key::IdempotencyKey;
use crate::command::prepared::PreparedCommand;
use crate::error::kind::{Effect, ErrorKind};
use crate::error::{Error, Inner, Source};
use crate::operation::Operation;
use crate::secret::confidential::Confidential;
use crate::secret::value::ShortSecret;
use crate::text::{counted, one_line};
use crate::token::error::{TokenError, TokenErrorKind};

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            kind,
            operation: None,
            message: message.into(),
            hint: None,
            status: None,
            code: None,
            request_id: None,
            retryable: false,
            retry_after: None,
            attempts: 0,
            effect: Effect::NotSent,
            headers: None,
            body: None,
            source: None,
            key: None,
            command: None,
        }))
    }

    pub(crate) fn configuration(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Configuration, message)
    }

    /// An error where no Tokio runtime is to wait on.
    pub(crate) fn without_runtime() -> Result<(), Self> {
        let message =
            "there is no Tokio runtime here: await the call, or poll the walk, within one";
        match Handle::try_current() {
            Ok(_) => Ok(()),
            Err(_) => Err(Self::configuration(message)),
        }
    }

    /// A rule of the contract that a value breaks: names parameter, rule and value.
    pub(crate) fn invalid(name: &str, rule: &str, value: &str) -> Self {
        Self::new(
            ErrorKind::InvalidInput,
            format!("`{name}` must {rule}: got {}", one_line(value)),
        )
    }

    /// A rule that a value breaks which may be secret: names parameter and rule alone.
    pub(crate) fn invalid_unseen(name: &str, rule: &str) -> Self {
        Self::invalid(name, rule, "a value that is not shown")
    }

    /// A secret that is too short to key a digest.
    pub(crate) fn short_secret(secret: &ShortSecret) -> Self {
        Self::invalid("secret", &secret.to_string(), &counted(secret.0, "byte"))
    }

    /// Several mistakes as one error.
    pub(crate) fn all(mut mistakes: Vec<Self>) -> Self {
        if mistakes.len() == 1 {
            return mistakes.remove(0);
        }
        let messages: Vec<&str> = mistakes.iter().map(Self::message).collect();
        Self::configuration(messages.join("; "))
    }

    pub(crate) fn encode(error: &serde_json::Error) -> Self {
        Self::new(
            ErrorKind::Value,
            format!("the value cannot be written as JSON: {error}"),
        )
    }

    pub(crate) fn value(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Value, message)
    }

    pub(crate) fn pagination(operation: &'static Operation, message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Pagination, message).of(operation)
    }

    pub(crate) fn from_token(error: TokenError) -> Self {
        let kind = match error.kind() {
            TokenErrorKind::Refused => ErrorKind::Unauthenticated,
            _ => ErrorKind::TokenUnavailable,
        };
        let mut this = Self::new(kind, error.gist());
        this.0.code = error.code().map(str::to_owned);
        this.0.request_id = error.request_id().map(str::to_owned);
        this.0.retryable = error.is_retryable();
        this.0.retry_after = error.retry_after();
        this.source(error)
    }

    pub(crate) fn of(mut self, operation: &'static Operation) -> Self {
        self.0.operation = Some(operation);
        self
    }

    pub(crate) fn source(mut self, source: impl Into<Source>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    pub(crate) fn with_status(mut self, status: u16) -> Self {
        self.0.status = Some(status);
        self
    }

    pub(crate) fn with_code(mut self, code: Option<String>) -> Self {
        self.0.code = code;
        self
    }

    pub(crate) fn with_request_id(mut self, id: Option<String>) -> Self {
        self.0.request_id = id;
        self
    }

    /// Keeps the headers of a reply, but for what repeats what must not be shown.
    pub(crate) fn with_headers(mut self, headers: &HeaderMap, confidential: &Confidential) -> Self {
        let mut kept = HeaderMap::with_capacity(headers.len());
        for (name, value) in headers {
            // What a server names after a secret says nothing else.
            if confidential.is_in(name.as_str()) {
                continue;
            }
            let hidden = *name == SET_COOKIE
                || confidential.is_in(&String::from_utf8_lossy(value.as_bytes()));
            let redacted = || HeaderValue::from_static("[redacted]");
            kept.append(name, if hidden { redacted() } else { value.clone() });
        }
        self.0.headers = Some(Box::new(kept));
        self
    }

    /// This refusal, whose token could not be renewed because of `error`.
    pub(crate) fn after_failed_renewal(self, error: Self) -> Self {
        let (retryable, after) = (error.retryable(), error.retry_after());
        let hint = format!("its token could not be renewed: {error}");
        self.hint(hint)
            .with_retryable(retryable)
            .with_retry_after(after)
            .source(error)
    }

    /// The same error without what must not be shown.
    pub(crate) fn withheld(mut self, confidential: &Confidential) -> Self {
        self.0.message = confidential.line(&self.0.message);
        self
    }

    pub(crate) fn with_body(mut self, body: Bytes) -> Self {
        self.0.body = Some(body);
        self
    }

    pub(crate) fn with_effect(mut self, effect: Effect) -> Self {
        self.0.effect = effect;
        self
    }

    pub(crate) fn with_retryable(mut self, retryable: bool) -> Self {
        self.0.retryable = retryable;
        self
    }

    pub(crate) fn with_retry_after(mut self, after: Option<Duration>) -> Self {
        self.0.retry_after = after;
        self
    }

    pub(crate) fn with_attempts(mut self, attempts: u32) -> Self {
        self.0.attempts = attempts;
        self
    }

    pub(crate) fn with_command(mut self, command: PreparedCommand) -> Self {
        self.0.key = command.shared_key();
        self.0.command = Some(Box::new(command));
        self
    }

    pub(crate) fn with_key(mut self, key: Option<Arc<IdempotencyKey>>) -> Self {
        self.0.key = key;
        self
    }
}

impl From<UnknownApp> for Error {
    fn from(unknown: UnknownApp) -> Self {
        Self::configuration(unknown.to_string()).source(unknown)
    }
}
