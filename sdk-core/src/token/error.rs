//! Why no token could be had.

use std::error::Error as StdError;
use std::fmt::{self, Write as _};
use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;

use crate::secret::confidential::Confidential;
use crate::text::{one_line, one_line_of};

/// The kinds of [`TokenError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TokenErrorKind {
    /// The token endpoint could not be reached, or the connection broke.
    Unreachable,
    /// The token endpoint, or the token source, did not answer in time.
    Timeout,
    /// The token endpoint refused: the credentials, the audience or the scopes are wrong.
    Refused,
    /// The token endpoint is overloaded or out of order (5xx, 429, 408).
    Unavailable,
    /// The reply cannot be used: no JSON, no token, not a bearer token, too large, or a redirect.
    Malformed,
    /// The token was dead when it came: the exchange took longer than the token lives.
    Expired,
    /// A token source other than the built-in one failed or panicked.
    Source,
    /// The renewal was lost with the runtime that it ran on.
    Lost,
}

impl TokenErrorKind {
    /// A short name for metrics and traces (`error.type`), which never changes.
    #[must_use]
    pub fn as_str(self) -> &'static str {
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

    fn describe(self) -> &'static str {
        match self {
            Self::Unreachable => "token endpoint unreachable",
            Self::Timeout => "token exchange timed out",
            Self::Refused => "token refused",
            Self::Unavailable => "token endpoint unavailable",
            Self::Malformed => "unusable token reply",
            Self::Expired => {
                "the token was dead on arrival: the exchange took longer than it lives"
            }
            Self::Source => "token source failed",
            Self::Lost => "token renewal lost with its runtime",
        }
    }
}

/// Why no token could be had. Cheap to clone: all callers that waited for one renewal share its error.
#[derive(Debug, Clone)]
pub struct TokenError(Arc<Parts>);

#[derive(Debug, Clone)]
struct Parts {
    kind: TokenErrorKind,
    code: Option<String>,
    description: Option<String>,
    status: Option<StatusCode>,
    request_id: Option<String>,
    retryable: bool,
    retry_after: Option<Duration>,
    source: Option<Arc<dyn StdError + Send + Sync>>,
}

impl TokenError {
    /// For a [`TokenSource`](crate::TokenSource): something of its own failed. `error` must not show a secret.
    pub fn from_source(error: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::new(TokenErrorKind::Source).with_cause(error)
    }

    /// For a [`TokenSource`](crate::TokenSource): the identity provider refused, and will refuse again.
    pub fn refused(code: impl Into<String>, description: impl AsRef<str>) -> Self {
        Self::new(TokenErrorKind::Refused)
            .with_code(code)
            .with_description(description)
    }

    /// For a [`TokenSource`](crate::TokenSource): the identity provider cannot answer for now.
    pub fn unavailable(description: impl AsRef<str>) -> Self {
        Self::new(TokenErrorKind::Unavailable).with_description(description)
    }

    pub(super) fn new(kind: TokenErrorKind) -> Self {
        use TokenErrorKind::{Expired, Lost, Timeout, Unavailable, Unreachable};
        Self(Arc::new(Parts {
            kind,
            code: None,
            description: None,
            status: None,
            request_id: None,
            retryable: matches!(kind, Unreachable | Timeout | Unavailable | Expired | Lost),
            retry_after: None,
            source: None,
        }))
    }

    fn with(mut self, change: impl FnOnce(&mut Parts)) -> Self {
        change(Arc::make_mut(&mut self.0));
        self
    }

    /// States the error code of the identity provider.
    #[must_use]
    pub fn with_code(self, code: impl Into<String>) -> Self {
        self.with(|parts| parts.code = Some(one_line_of(&code.into(), 100)))
    }

    /// Says what is wrong, for a human. It is cut to a line of moderate length.
    #[must_use]
    pub fn with_description(self, description: impl AsRef<str>) -> Self {
        self.with(|parts| parts.description = Some(one_line(description.as_ref())))
    }

    /// States the HTTP status of the identity provider's reply.
    #[must_use]
    pub fn with_status(self, status: StatusCode) -> Self {
        self.with(|parts| parts.status = Some(status))
    }

    /// States the id under which the identity provider knows the request.
    #[must_use]
    pub fn with_request_id(self, request_id: impl Into<String>) -> Self {
        self.with(|parts| parts.request_id = Some(one_line_of(&request_id.into(), 200)))
    }

    /// Overrides whether the same request may succeed later.
    #[must_use]
    pub fn with_retryable(self, retryable: bool) -> Self {
        self.with(|parts| parts.retryable = retryable)
    }

    /// States how long the identity provider wants to be left alone.
    #[must_use]
    pub fn with_retry_after(self, retry_after: Duration) -> Self {
        self.with(|parts| parts.retry_after = Some(retry_after))
    }

    /// The same error without what must not be shown.
    pub(super) fn withheld(self, confidential: &Confidential) -> Self {
        let hide = |text: &mut Option<String>| {
            if let Some(shown) = text.as_deref().filter(|text| confidential.is_in(text)) {
                *text = Some(confidential.line(shown));
            }
        };
        self.with(|parts| {
            hide(&mut parts.code);
            hide(&mut parts.description);
            hide(&mut parts.request_id);
        })
    }

    pub(super) fn with_cause(self, error: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.with(|parts| parts.source = Some(Arc::from(error.into())))
    }

    /// What kind of failure it is.
    pub fn kind(&self) -> TokenErrorKind {
        self.0.kind
    }

    /// The error code of the token endpoint, such as `invalid_client`.
    pub fn code(&self) -> Option<&str> {
        self.0.code.as_deref()
    }

    /// What the token endpoint, or this library, has to say about it.
    pub fn description(&self) -> Option<&str> {
        self.0.description.as_deref()
    }

    /// The HTTP status of the token endpoint's reply, if one came.
    pub fn status(&self) -> Option<StatusCode> {
        self.0.status
    }

    /// The id to quote to whoever operates the token endpoint.
    pub fn request_id(&self) -> Option<&str> {
        self.0.request_id.as_deref()
    }

    /// Whether the same request may succeed later, without a change of configuration.
    pub fn is_retryable(&self) -> bool {
        self.0.retryable
    }

    /// How long the token endpoint asked to be left alone.
    pub fn retry_after(&self) -> Option<Duration> {
        self.0.retry_after
    }
}

impl TokenError {
    /// What happened, without the code and the request id, which an error that wraps this one says itself.
    pub(crate) fn gist(&self) -> String {
        let Parts {
            kind,
            status,
            description,
            source,
            ..
        } = &*self.0;
        let mut gist = kind.describe().to_owned();
        if let Some(status) = status {
            let _ = write!(gist, " (status {})", status.as_u16());
        }
        match (description, source) {
            (Some(description), _) => gist.extend([": ", description]),
            (None, Some(source)) => gist.extend([": ", &one_line(&source.to_string())]),
            (None, None) => {}
        }
        gist
    }
}

impl fmt::Display for TokenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = &*self.0;
        f.write_str(&self.gist())?;
        if let Some(code) = &parts.code {
            write!(f, " [{code}]")?;
        }
        if let Some(id) = &parts.request_id {
            write!(f, " [request {id}]")?;
        }
        Ok(())
    }
}

impl StdError for TokenError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}
