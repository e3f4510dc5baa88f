//! Errors of token requests and token sources.

use std::error::Error as StdError;
use std::fmt::{self, Write as _};
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt as _;

use crate::caught::unless_panicked;
use crate::error::kind::{Effect, ErrorKind};
use crate::error::{Error, Parts};
use crate::macros::debug_fields;
use crate::secret::redactor::Redactor;
use crate::text::{TextKind, one_line};

/// The kind of a [`TokenError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TokenErrorKind {
    /// The token endpoint could not be reached, or the connection broke.
    Unreachable,
    /// The token endpoint or the token source did not respond in time.
    Timeout,
    /// The token endpoint rejected the credentials, the audience or the scopes.
    Refused,
    /// The token endpoint is overloaded or failing (5xx, 429, 408).
    Unavailable,
    /// The response is unusable: not JSON, without a bearer token, too large, or a redirect.
    Malformed,
    /// The token was already expired on arrival, because the request took longer than the token's lifetime.
    Expired,
    /// The caller's own token source or credential source failed or panicked.
    Source,
    /// The renewal was lost because its runtime ended.
    Lost,
}

impl TokenErrorKind {
    /// All kinds of this release, for instance to initialize counters.
    pub const ALL: &'static [Self] = &[
        Self::Unreachable,
        Self::Timeout,
        Self::Refused,
        Self::Unavailable,
        Self::Malformed,
        Self::Expired,
        Self::Source,
        Self::Lost,
    ];

    /// Returns the stable name for metrics and traces.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unreachable => "token_unreachable",
            Self::Timeout => "token_timeout",
            Self::Refused => "token_refused",
            Self::Unavailable => "token_unavailable",
            Self::Malformed => "token_malformed",
            Self::Expired => "token_expired",
            Self::Source => "token_source",
            Self::Lost => "token_lost",
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::Unreachable => "token endpoint unreachable",
            Self::Timeout => "token request timed out",
            Self::Refused => "token request rejected",
            Self::Unavailable => "token endpoint unavailable",
            Self::Malformed => "unusable token response",
            Self::Expired => {
                "the token was already expired on arrival: the request took longer than its lifetime"
            }
            Self::Source => "token source failed",
            Self::Lost => "token renewal lost with its runtime",
        }
    }
}

/// The reason why no token could be obtained. Cheap to clone: all callers that wait for a renewal share its error.
#[derive(Clone)]
pub struct TokenError {
    kind: TokenErrorKind,
    /// The error for a call that fails for this reason. Its message is the description.
    error: Error,
}

impl TokenError {
    /// Creates the error for a [`TokenSource`](crate::TokenSource) or a [`CredentialSource`](crate::CredentialSource)
    /// that itself failed, for example because it can't read a file. `error` must not contain a secret.
    pub fn from_source(error: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::new(TokenErrorKind::Source).with_cause(error)
    }

    /// Creates the error for a [`TokenSource`](crate::TokenSource) whose identity provider rejected the request
    /// permanently.
    pub fn refused(code: impl Into<String>, description: impl AsRef<str>) -> Self {
        Self::new(TokenErrorKind::Refused)
            .with_code(code)
            .with_description(description)
    }

    /// Creates the error for a [`TokenSource`](crate::TokenSource) or a [`CredentialSource`](crate::CredentialSource)
    /// whose identity provider or credential store is temporarily unavailable.
    pub fn unavailable(description: impl AsRef<str>) -> Self {
        Self::new(TokenErrorKind::Unavailable).with_description(description)
    }

    pub(super) fn new(kind: TokenErrorKind) -> Self {
        use TokenErrorKind::{Expired, Lost, Timeout, Unavailable, Unreachable};
        let error = Error::new(
            match kind {
                TokenErrorKind::Refused => ErrorKind::Unauthenticated,
                _ => ErrorKind::TokenUnavailable,
            },
            Effect::NotSent,
            "",
        );
        let retryable = matches!(kind, Unreachable | Timeout | Unavailable | Expired | Lost);
        Self { kind, error }.with_retryable(retryable)
    }

    fn with(self, change: impl FnOnce(&mut Parts)) -> Self {
        let error = self.error.with(change);
        Self { error, ..self }
    }

    /// Sets the identity provider's error code.
    #[must_use]
    pub fn with_code(self, code: impl Into<String>) -> Self {
        self.with(|parts| parts.code = Some(TextKind::Code.of(&code.into())))
    }

    /// Sets a human-readable description, truncated to one line.
    #[must_use]
    pub fn with_description(self, description: impl AsRef<str>) -> Self {
        self.with(|parts| parts.message = one_line(description.as_ref()))
    }

    /// Sets the HTTP status of the identity provider's response.
    #[must_use]
    pub fn with_status(self, status: u16) -> Self {
        self.with(|parts| parts.status = Some(status))
    }

    /// Sets the identity provider's request ID.
    #[must_use]
    pub fn with_request_id(self, request_id: impl Into<String>) -> Self {
        self.with(|parts| parts.request_id = Some(TextKind::RequestId.of(&request_id.into())))
    }

    /// Sets whether the same request may succeed later.
    #[must_use]
    pub fn with_retryable(self, retryable: bool) -> Self {
        self.with(|parts| parts.retryable = retryable)
    }

    /// Sets the delay that the identity provider requested.
    #[must_use]
    pub fn with_retry_after(self, retry_after: Duration) -> Self {
        self.with(|parts| parts.retry_after = Some(retry_after))
    }

    pub(super) fn redacted(self, redactor: &Redactor) -> Self {
        let error = self.error.redacted(redactor);
        Self { error, ..self }
    }

    pub(super) fn with_cause(self, error: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        let error = self.error.with_cause(error);
        Self { error, ..self }
    }
}

impl TokenError {
    /// Returns the kind of the failure.
    #[must_use]
    pub fn kind(&self) -> TokenErrorKind {
        self.kind
    }

    /// Returns the token endpoint's error code, such as `invalid_client`.
    #[must_use]
    pub fn code(&self) -> Option<&str> {
        self.error.code()
    }

    /// Returns the description from the token endpoint or the SDK.
    #[must_use]
    pub fn description(&self) -> Option<&str> {
        Some(self.error.message()).filter(|it| !it.is_empty())
    }

    /// Returns the HTTP status of the token endpoint's response, if it responded.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        self.error.status()
    }

    /// Returns the request ID, which the token endpoint's operators need.
    #[must_use]
    pub fn request_id(&self) -> Option<&str> {
        self.error.request_id()
    }

    /// Whether the same request may succeed later without a change.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        self.error.is_retryable()
    }

    /// Returns the delay that the token endpoint requested.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        self.error.retry_after()
    }

    pub(crate) fn into_error(self) -> Error {
        let message = TextKind::Hint.of(&self.summary());
        let error = self.error.clone();
        let error = error.with(|parts| (parts.message, parts.status) = (message, None));
        error.with_cause(self)
    }

    /// Returns the message without error code and request ID, which the outer error adds.
    fn summary(&self) -> String {
        let mut summary = self.kind.words().to_owned();
        if let Some(status) = self.status() {
            let _ = write!(summary, " (status {status})");
        }
        let source = || Some(one_line(&self.source()?.to_string()));
        if let Some(description) = self.description().map(str::to_owned).or_else(source) {
            summary.extend([": ", &description]);
        }
        summary
    }
}

impl fmt::Display for TokenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.summary())?;
        if let Some(code) = self.code() {
            write!(f, " [{code}]")?;
        }
        if let Some(id) = self.request_id() {
            write!(f, " [request {id}]")?;
        }
        Ok(())
    }
}

impl StdError for TokenError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.error.source()
    }
}

debug_fields! {
    TokenError |it|
    kind: it.kind, message: it.to_string(), retryable: it.is_retryable(),
    retry_after: it.retry_after(), source: it.source()
}

/// Converts a panic into an error for all waiters. Its message names `what`, the part that panicked.
pub(super) async fn catch_panic<T>(
    what: &str,
    answer: impl Future<Output = Result<T, TokenError>>,
) -> Result<T, TokenError> {
    // Unwind safe: the future is not polled again, and only its author's state can be inconsistent.
    let answer = AssertUnwindSafe(answer).catch_unwind().await;
    unless_panicked(answer).unwrap_or_else(|| {
        let error = TokenError::new(TokenErrorKind::Source);
        Err(error.with_description(format!("{what} panicked")))
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::TokenErrorKind;

    #[test]
    fn all_lists_each_kind_once_with_a_unique_name() {
        let all = TokenErrorKind::ALL;
        let names: HashSet<_> = all.iter().map(|kind| kind.as_str()).collect();
        assert_eq!(names.len(), all.len());
        for (place, kind) in all.iter().enumerate() {
            assert_eq!(*kind as usize, place, "{kind:?} is not in its place");
        }
        let last = *all.last().unwrap();
        assert_eq!(
            last,
            TokenErrorKind::Lost,
            "update this test for the new last kind"
        );
    }
}
