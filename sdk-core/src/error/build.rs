//! How the runtime builds errors: each kind in one place.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{HeaderMap, HeaderValue, SET_COOKIE};
use tokio::runtime::Handle;

use crate::app::UnknownApp;
use crate::command::key::IdempotencyKey;
use crate::command::prepared::PreparedCommand;
use crate::error::attempts::AttemptRecord;
use crate::error::kind::{Effect, ErrorKind};
use crate::error::source::{Source, says};
use crate::error::{Error, Parts};
use crate::operation::Operation;
use crate::secret::confidential::Confidential;
use crate::secret::value::ShortSecret;
use crate::text::{Line, counted, one_line};

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Arc::new(Parts {
            kind,
            operation: None,
            installation: None,
            message: Line::Hint.of(&message.into()),
            hint: None,
            status: None,
            code: None,
            request_id: None,
            retryable: false,
            retry_after: None,
            attempts: 0,
            attempt_log: Vec::new(),
            effect: Effect::NotSent,
            headers: None,
            body: None,
            source: None,
            key: None,
            command: None,
        }))
    }

    /// Changes parts of the error, in place: while it is built, nobody shares it.
    pub(crate) fn with(mut self, change: impl FnOnce(&mut Parts)) -> Self {
        change(Arc::make_mut(&mut self.0));
        self
    }

    /// An attempt that ended with it, without its times.
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

    /// The error of a call outside a Tokio runtime.
    pub(crate) fn without_runtime() -> Result<(), Self> {
        let message = "no Tokio runtime is running: await the call, or poll the walk, inside one";
        Handle::try_current()
            .map(drop)
            .map_err(|error| Self::configuration(message).with_cause(error))
    }

    /// A value that breaks a rule: names the parameter, the rule and the value.
    pub(crate) fn invalid(name: &str, rule: &str, value: &str) -> Self {
        let message = format!("`{name}` must {rule}: got {}", one_line(value));
        Self::new(ErrorKind::InvalidInput, message)
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
        let message = messages.join("; ");
        Self::configuration("").with(|error| (error.message, error.source) = (message, source))
    }

    /// A timeout: another call may succeed.
    pub(crate) fn timeout(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Timeout, message).with_retryable(true)
    }

    /// Keeps the headers of a reply, with confidential values redacted.
    pub(crate) fn with_headers(self, headers: &HeaderMap, confidential: &Confidential) -> Self {
        let mut kept = HeaderMap::with_capacity(headers.len());
        for (name, value) in headers {
            // A name that contains a secret cannot be kept at all.
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

    /// This refusal of a token, whose renewal then failed with `error`.
    pub(crate) fn after_failed_renewal(self, error: Self) -> Self {
        let (retryable, after) = (error.is_retryable(), error.retry_after());
        // The label stands at the beginning already.
        let hint = format!("its token could not be renewed: {}", error.clone().at(None));
        self.hint(hint)
            .with_retryable(retryable)
            .with_retry_after(after)
            .with_cause(error)
    }

    /// The same error with confidential text redacted from its message, and without a cause that has any.
    pub(crate) fn withheld(self, confidential: &Confidential) -> Self {
        self.with(|error| {
            if confidential.is_in(&error.message) {
                error.message = confidential.line(Line::Message, &error.message);
            }
            let cause = error.source.as_deref();
            if cause.is_some_and(|it| says(it, |text| confidential.is_in(text))) {
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
}

/// Constructors: one for each kind that needs no more than a message.
macro_rules! constructors {
    ($($name:ident = $kind:ident;)*) => {
        impl Error {$(
            pub(crate) fn $name(message: impl Into<String>) -> Self {
                Self::new(ErrorKind::$kind, message)
            }
        )*}
    };
}

constructors! {
    configuration = Configuration;
    decode = Decode;
    pagination = Pagination;
    prepared = PreparedCommand;
    value = Value;
}

/// Setters, each for one field.
macro_rules! setters {
    ($($name:ident($value:ident: $type:ty) $field:ident = $new:expr;)*) => {
        impl Error {$(
            pub(crate) fn $name(self, $value: $type) -> Self {
                self.with(|error| error.$field = $new)
            }
        )*}
    };
}

setters! {
    of(operation: &'static Operation) operation = Some(operation);
    at(installation: Option<Arc<str>>) installation = installation;
    hint(hint: impl Into<String>) hint = Some(hint.into());
    with_status(status: u16) status = Some(status);
    with_code(code: Option<String>) code = code;
    with_request_id(id: Option<String>) request_id = id;
    with_retryable(retryable: bool) retryable = retryable;
    with_retry_after(after: Option<Duration>) retry_after = after;
    with_attempts(attempts: u32) attempts = attempts;
    with_attempt_log(log: Vec<AttemptRecord>) attempt_log = log;
    with_effect(effect: Effect) effect = effect;
    with_body(body: Bytes) body = Some(body);
    with_cause(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) source = Some(Source::new(source));
    with_key(key: Option<Arc<IdempotencyKey>>) key = key;
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
    use crate::secret::value::ShortSecret;
    use crate::token::error::TokenError;
    use crate::{IdempotencyKey, RawJson, Record, Secret};

    fn command() -> PreparedCommand {
        let stored = r#"{"version":2,"application":"calendar","operation":"commandCalendarEvent","method":"POST",
            "path":"/","body":"{}","digest":""}"#;
        serde_json::from_str(stored).unwrap()
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
    fn a_change_to_a_clone_does_not_change_the_error() {
        let error = Error::timeout("late");
        let hinted = error.clone().hint("go to bed");
        assert_eq!(hinted.to_string(), format!("{error}; go to bed"));
    }

    #[test]
    fn an_error_keeps_its_cause() {
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
        // The message of serde quotes the value, which may be confidential.
        assert!(cause.source().is_none());
        assert!(!format!("{member} {member:?}").contains("canary"));
    }

    #[test]
    fn several_mistakes_keep_a_cause() {
        let mistakes = vec![
            Error::configuration("one"),
            Error::configuration("two").with_cause("a number"),
        ];
        let all = Error::all(mistakes);
        assert_eq!(all.message(), "one; two");
        assert_eq!(all.source().unwrap().to_string(), "a number");
    }
}
