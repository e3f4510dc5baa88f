//! How errors come about: each kind in one place. Everything here is private to the runtime.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{HeaderMap, HeaderValue, SET_COOKIE};
use tokio::runtime::Handle;

use crate::app::UnknownApp;
use crate::command::key::IdempotencyKey;
use crate::command::prepared::PreparedCommand;
use crate::error::kind::{Effect, ErrorKind};
use crate::error::source::Source;
use crate::error::{Error, Inner};
use crate::operation::Operation;
use crate::secret::confidential::Confidential;
use crate::secret::value::ShortSecret;
use crate::text::{Line, counted, one_line};

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Arc::new(Inner {
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

    /// Nobody else has the error while it is being made, so that nothing is copied.
    fn with(mut self, change: impl FnOnce(&mut Inner)) -> Self {
        change(Arc::make_mut(&mut self.0));
        self
    }

    pub(crate) fn configuration(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Configuration, message)
    }

    /// An error where no Tokio runtime is to wait on.
    pub(crate) fn without_runtime() -> Result<(), Self> {
        let message =
            "there is no Tokio runtime here: await the call, or poll the walk, within one";
        Handle::try_current()
            .map(drop)
            .map_err(|error| Self::configuration(message).with_cause(error))
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

    /// A body that cannot be made of what the caller gave.
    pub(crate) fn unwritable(error: Box<dyn std::error::Error + Send + Sync>) -> Self {
        let message = format!("the body cannot be written: {error}");
        Self::new(ErrorKind::InvalidInput, message).with_cause(error)
    }

    /// A secret that is too short to key a digest.
    pub(crate) fn short_secret(secret: ShortSecret) -> Self {
        Self::invalid("secret", &secret.to_string(), &counted(secret.0, "byte")).with_cause(secret)
    }

    /// Several mistakes as one error.
    pub(crate) fn all(mut mistakes: Vec<Self>) -> Self {
        if mistakes.len() == 1 {
            return mistakes.remove(0);
        }
        let messages: Vec<&str> = mistakes.iter().map(Self::message).collect();
        let source = mistakes.iter().find_map(|mistake| mistake.0.source.clone());
        Self::configuration(messages.join("; ")).with(|error| error.source = source)
    }

    /// A value that does not become JSON, or JSON that does not become one.
    pub(crate) fn value(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Value, message)
    }

    pub(crate) fn pagination(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Pagination, message)
    }

    /// A command that is not sent as it was stored, or cannot be stored.
    pub(crate) fn prepared(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::PreparedCommand, message)
    }

    /// A 2xx reply that cannot be read.
    pub(crate) fn decode(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Decode, message)
    }

    /// The time was up: another call may have more luck.
    pub(crate) fn timeout(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Timeout, message).with_retryable(true)
    }

    pub(crate) fn of(self, operation: &'static Operation) -> Self {
        self.with(|error| error.operation = Some(operation))
    }

    pub(crate) fn with_cause(
        self,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        self.with(|error| error.source = Some(Source::new(source)))
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        self.with(|error| error.hint = Some(hint.into()))
    }

    pub(crate) fn with_status(self, status: u16) -> Self {
        self.with(|error| error.status = Some(status))
    }

    pub(crate) fn with_code(self, code: Option<String>) -> Self {
        self.with(|error| error.code = code)
    }

    pub(crate) fn with_request_id(self, id: Option<String>) -> Self {
        self.with(|error| error.request_id = id)
    }

    /// Keeps the headers of a reply, but for what repeats what must not be shown.
    pub(crate) fn with_headers(self, headers: &HeaderMap, confidential: &Confidential) -> Self {
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
        self.with(|error| error.headers = Some(Box::new(kept)))
    }

    /// This refusal, whose token could not be renewed because of `error`.
    pub(crate) fn after_failed_renewal(self, error: Self) -> Self {
        let (retryable, after) = (error.retryable(), error.retry_after());
        let hint = format!("its token could not be renewed: {error}");
        self.hint(hint)
            .with_retryable(retryable)
            .with_retry_after(after)
            .with_cause(error)
    }

    /// The same error without what must not be shown.
    pub(crate) fn withheld(self, confidential: &Confidential) -> Self {
        self.with(|error| error.message = confidential.line(Line::Message, &error.message))
    }

    pub(crate) fn with_body(self, body: Bytes) -> Self {
        self.with(|error| error.body = Some(body))
    }

    pub(crate) fn with_effect(self, effect: Effect) -> Self {
        self.with(|error| error.effect = effect)
    }

    pub(crate) fn with_retryable(self, retryable: bool) -> Self {
        self.with(|error| error.retryable = retryable)
    }

    pub(crate) fn with_retry_after(self, after: Option<Duration>) -> Self {
        self.with(|error| error.retry_after = after)
    }

    pub(crate) fn with_attempts(self, attempts: u32) -> Self {
        self.with(|error| error.attempts = attempts)
    }

    pub(crate) fn with_command(self, command: PreparedCommand) -> Self {
        self.with(|error| {
            error.key = command.shared_key();
            error.command = Some(Box::new(command));
        })
    }

    pub(crate) fn with_key(self, key: Option<Arc<IdempotencyKey>>) -> Self {
        self.with(|error| error.key = key)
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
    use std::time::SystemTime;

    use crate::command::key::MalformedKey;
    use crate::command::prepared::{Parts, PreparedCommand, Terms};
    use crate::error::Error;
    use crate::secret::value::ShortSecret;
    use crate::token::error::TokenError;
    use crate::{IdempotencyKey, RawJson, Record, Secret};

    fn command() -> PreparedCommand {
        PreparedCommand::new(Parts {
            application: "calendar",
            operation: "commandCalendarEvent",
            method: "POST",
            audience: None,
            path: "/",
            key: None,
            headers: Vec::new(),
            body: "{}",
            at: SystemTime::UNIX_EPOCH,
            terms: Terms::default(),
        })
    }

    #[test]
    fn each_clone_of_an_error_hands_the_command_back() {
        let error = Error::timeout("late").with_command(command());
        let clone = error.clone();
        assert_eq!(clone.to_string(), error.to_string());
        assert_eq!(clone.into_command(), Some(command()));
        assert_eq!(error.into_command(), Some(command()));
    }

    #[test]
    fn what_is_said_of_a_clone_is_not_said_of_the_error() {
        let error = Error::timeout("late");
        let hinted = error.clone().hint("go to bed");
        assert_eq!(hinted.to_string(), format!("{error}; go to bed"));
    }

    #[test]
    fn an_error_keeps_what_it_came_of() {
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
        let member = of(record.get::<u8>("a").unwrap_err());
        let cause: &Error = member.source().unwrap().downcast_ref().unwrap();
        // What serde says of a value quotes it, and nobody knows whether it is confidential.
        assert!(cause.source().is_none());
        assert!(!format!("{member} {member:?}").contains("canary"));
    }

    #[test]
    fn of_several_mistakes_a_source_is_kept_too() {
        let mistakes = vec![
            Error::configuration("one"),
            Error::configuration("two").with_cause("a number"),
        ];
        let all = Error::all(mistakes);
        assert_eq!(all.message(), "one; two");
        assert_eq!(all.source().unwrap().to_string(), "a number");
    }
}
