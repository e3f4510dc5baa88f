//! Builds errors. Each kind is built in one place.

use std::sync::Arc;
use std::time::Duration;

use http::header::{HeaderMap, HeaderValue, SET_COOKIE};
use tokio::runtime::Handle;

use crate::app::UnknownApp;
use crate::command::prepared::PreparedCommand;
use crate::error::kind::{AttemptRecord, Effect, ErrorKind};
use crate::error::source::{Source, says};
use crate::error::{Error, Parts};
use crate::operation::Operation;
use crate::secret::redactor::Redactor;
use crate::secret::value::ShortSecret;
use crate::text::{TextKind, counted, one_line};

impl Error {
    /// An error with its effect. The constructors below set the effect by kind. A mistake of the caller sends nothing
    /// ([`Effect::NotSent`]); a response that cannot be read leaves the effect unknown.
    pub(crate) fn new(kind: ErrorKind, effect: Effect, message: impl Into<String>) -> Self {
        Self(Arc::new(Parts {
            kind,
            operation: None,
            installation: None,
            message: TextKind::Hint.of(&message.into()),
            hint: None,
            status: None,
            code: None,
            request_id: None,
            retryable: false,
            retry_after: None,
            attempts: 0,
            attempt_log: Vec::new(),
            effect,
            headers: None,
            body: None,
            source: None,
            key: None,
            command: None,
        }))
    }

    /// Changes parts of the error in place. While an error is being built, it has no clones, so nothing is copied.
    pub(crate) fn with(mut self, change: impl FnOnce(&mut Parts)) -> Self {
        change(Arc::make_mut(&mut self.0));
        self
    }

    /// The record of an attempt that failed with this error, without its times.
    pub(crate) fn as_attempt(&self, number: u32) -> AttemptRecord {
        AttemptRecord {
            number,
            kind: self.kind(),
            status: self.status(),
            effect: self.effect(),
            request_id: self.request_id().map(str::to_owned),
            began_after: Duration::ZERO,
            duration: Duration::ZERO,
            waited: Duration::ZERO,
        }
    }

    /// The error for a call outside a Tokio runtime.
    pub(crate) fn without_runtime() -> Result<(), Self> {
        let message = "no Tokio runtime is running: await calls and poll streams inside a runtime";
        Handle::try_current()
            .map(drop)
            .map_err(|error| Self::configuration(message).with_cause(error))
    }

    /// A value that breaks a rule. The message names the parameter, the rule and the value.
    pub(crate) fn invalid(name: &str, rule: &str, value: &str) -> Self {
        let message = format!("`{name}` must {rule}: got {}", one_line(value));
        Self::new(ErrorKind::InvalidInput, Effect::NotSent, message)
    }

    pub(crate) fn short_secret(secret: ShortSecret) -> Self {
        Self::invalid("secret", &secret.to_string(), &counted(secret.0, "byte")).with_cause(secret)
    }

    pub(crate) fn all(mut mistakes: Vec<Self>) -> Self {
        if mistakes.len() == 1 {
            return mistakes.remove(0);
        }
        let messages: Vec<&str> = mistakes.iter().map(Self::message).collect();
        let source = mistakes.iter().find_map(|mistake| mistake.0.source.clone());
        let message = messages.join("; ");
        Self::configuration("").with(|error| (error.message, error.source) = (message, source))
    }

    pub(crate) fn configuration(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Configuration, Effect::NotSent, message)
    }

    pub(crate) fn decode(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Decode, Effect::Unknown, message)
    }

    pub(crate) fn pagination(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Pagination, Effect::NotSent, message)
    }

    pub(crate) fn prepared(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::PreparedCommand, Effect::NotSent, message)
    }

    /// A value that doesn't match the caller's own type.
    pub(crate) fn value(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Value, Effect::NotSent, message)
    }

    /// A timeout: another call may succeed.
    pub(crate) fn timeout(effect: Effect, message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Timeout, effect, message).with(|parts| parts.retryable = true)
    }

    /// Stores the response's headers, with confidential values redacted.
    pub(crate) fn with_headers(self, headers: &HeaderMap, redactor: &Redactor) -> Self {
        let mut kept = HeaderMap::with_capacity(headers.len());
        for (name, value) in headers {
            // A header whose name contains a secret is dropped, because names cannot be redacted.
            if redactor.matches(name.as_str()) {
                continue;
            }
            let hidden =
                *name == SET_COOKIE || redactor.matches(&String::from_utf8_lossy(value.as_bytes()));
            let redacted = || HeaderValue::from_static("[redacted]");
            kept.append(name, if hidden { redacted() } else { value.clone() });
        }
        self.with(|error| error.headers = Some(Box::new(kept)))
    }

    /// This rejection of a token (a 401), whose renewal then failed with `error`.
    pub(crate) fn after_failed_renewal(self, error: Self) -> Self {
        let (retryable, after) = (error.is_retryable(), error.retry_after());
        // The installation's label already starts the line, so the hint omits it.
        let hint = format!(
            "its token could not be renewed: {}",
            error.clone().with_installation(None)
        );
        self.with_hint(hint)
            .with_cause(error)
            .with(|parts| (parts.retryable, parts.retry_after) = (retryable, after))
    }

    /// Redacts confidential strings in the error's message, code and request ID. Drops its cause if that contains any.
    pub(crate) fn redacted(self, redactor: &Redactor) -> Self {
        let hide = |kind: TextKind, text: &mut String| {
            if redactor.matches(text) {
                *text = redactor.line(kind, text);
            }
        };
        self.with(|error| {
            hide(TextKind::Message, &mut error.message);
            if let Some(code) = &mut error.code {
                hide(TextKind::Code, code);
            }
            if let Some(id) = &mut error.request_id {
                hide(TextKind::RequestId, id);
            }
            let cause = error.source.as_deref();
            if cause.is_some_and(|it| says(it, |text| redactor.matches(text))) {
                error.source = None;
            }
        })
    }

    pub(crate) fn with_command(self, command: PreparedCommand) -> Self {
        self.with(|error| {
            error.key.clone_from(&command.idempotency_key);
            error.command = Some(Box::new(command));
        })
    }

    pub(crate) fn with_operation(self, operation: &'static Operation) -> Self {
        self.with(|parts| parts.operation = Some(operation))
    }

    pub(crate) fn with_installation(self, installation: Option<Arc<str>>) -> Self {
        self.with(|parts| parts.installation = installation)
    }

    pub(crate) fn with_hint(self, hint: impl Into<String>) -> Self {
        self.with(|parts| parts.hint = Some(hint.into()))
    }

    pub(crate) fn with_cause(
        self,
        cause: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        self.with(|parts| parts.source = Some(Source::new(cause)))
    }
}

impl From<UnknownApp> for Error {
    fn from(unknown: UnknownApp) -> Self {
        Self::configuration(unknown.to_string()).with_cause(unknown)
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use crate::command::key::MalformedKey;
    use crate::command::prepared::PreparedCommand;
    use crate::error::Error;
    use crate::error::kind::Effect;
    use crate::secret::value::ShortSecret;
    use crate::token::error::TokenError;
    use crate::{IdempotencyKey, RawJson, Record, Secret};

    fn command() -> PreparedCommand {
        let stored = r#"{"version":2,"application":"calendar","operation":"commandCalendarEvent","method":"POST",
            "path":"/","body":"{}","digest":""}"#;
        serde_json::from_str(stored).unwrap()
    }

    #[test]
    fn every_clone_of_an_error_returns_the_command() {
        let error = Error::timeout(Effect::Unknown, "late").with_command(command());
        let clone = error.clone();
        assert_eq!(clone.to_string(), error.to_string());
        assert_eq!(clone.into_command(), Some(command()));
        assert_eq!(error.into_command(), Some(command()));
    }

    #[test]
    fn a_change_to_a_clone_does_not_change_the_error() {
        let error = Error::timeout(Effect::Unknown, "late");
        let hinted = error.clone().with_hint("go to bed");
        assert_eq!(hinted.to_string(), format!("{error}; go to bed"));
    }

    #[test]
    fn an_error_preserves_its_cause() {
        let of = |error: Error| error.clone();
        let json = of("{".parse::<RawJson>().unwrap_err());
        assert!(json.source().unwrap().is::<serde_json::Error>());
        let key = of("short".parse::<IdempotencyKey>().unwrap_err());
        assert!(key.source().unwrap().is::<MalformedKey>());
        let secret = IdempotencyKey::derive_keyed(&Secret::from("short"), "n", ["a"]);
        assert!(
            of(secret.unwrap_err())
                .source()
                .unwrap()
                .is::<ShortSecret>()
        );
        let token = of(TokenError::unavailable("down").into_error());
        assert!(token.source().unwrap().is::<TokenError>());
        let record: Record = r#"{"a":"canary"}"#.parse().unwrap();
        let field = of(record.get::<u8>("a").unwrap_err());
        let cause: &Error = field.source().unwrap().downcast_ref().unwrap();
        // serde's message quotes the value, which may be confidential.
        assert!(cause.source().is_none());
        assert!(!format!("{field} {field:?}").contains("canary"));
    }

    #[test]
    fn a_combined_error_preserves_a_cause() {
        let mistakes = vec![
            Error::configuration("one"),
            Error::configuration("two").with_cause("a number"),
        ];
        let all = Error::all(mistakes);
        assert_eq!(all.message(), "one; two");
        assert_eq!(all.source().unwrap().to_string(), "a number");
    }
}
