//! What gives tokens, what it is asked, and what it answers.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use tokio::time::Instant;

use crate::token::error::TokenError;

/// The future of a [`TokenSource`].
pub type TokenFuture<'a> =
    Pin<Box<dyn Future<Output = Result<AccessToken, TokenError>> + Send + 'a>>;

/// Gives tokens. Implement it for your own identity provider.
///
/// The engine caches what it gives, calls it once for any number of waiting callers, in a task of its own, and
/// never again before the token needs renewal or the backoff after a failure has passed. Retries within one
/// call are the source's affair.
///
/// ```
/// use std::time::Duration;
/// use sdk_core::{AccessToken, TokenError, TokenFuture, TokenRequest, TokenSource};
///
/// /// Reads the token that a sidecar keeps in a file.
/// struct FileTokenSource(std::path::PathBuf);
///
/// impl TokenSource for FileTokenSource {
///     fn token<'a>(&'a self, _request: &'a TokenRequest) -> TokenFuture<'a> {
///         Box::pin(async move {
///             let text = std::fs::read_to_string(&self.0).map_err(TokenError::from_source)?;
///             Ok(AccessToken::new(text.trim()).with_lifetime(Duration::from_secs(60)))
///         })
///     }
/// }
/// ```
pub trait TokenSource: Send + Sync + 'static {
    /// Obtains a new token for the audience and scopes of `request`.
    fn token<'a>(&'a self, request: &'a TokenRequest) -> TokenFuture<'a>;
}

impl<S: TokenSource + ?Sized> TokenSource for Arc<S> {
    fn token<'a>(&'a self, request: &'a TokenRequest) -> TokenFuture<'a> {
        (**self).token(request)
    }
}

/// What a token is asked for: an audience and scopes. Equal requests share one token.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
#[must_use]
pub struct TokenRequest {
    audience: Option<String>,
    scopes: Vec<String>,
}

impl TokenRequest {
    /// A request that names neither audience nor scopes, and leaves both to the identity provider.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks for a token for exactly this audience.
    pub fn with_audience(mut self, audience: impl Into<String>) -> Self {
        self.audience = Some(audience.into());
        self
    }

    /// Asks for these scopes, besides those already asked for. Order and repetition do not matter.
    pub fn with_scopes<S: AsRef<str>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        for scope in scopes {
            self.scopes
                .extend(scope.as_ref().split_whitespace().map(str::to_owned));
        }
        self.scopes.sort_unstable();
        self.scopes.dedup();
        self
    }

    /// The audience asked for.
    pub fn audience(&self) -> Option<&str> {
        self.audience.as_deref()
    }

    /// The scopes asked for, sorted, each once.
    pub fn scopes(&self) -> &[String] {
        &self.scopes
    }
}

/// A token as its source gives it.
#[derive(Clone)]
#[must_use]
pub struct AccessToken {
    secret: SecretString,
    lifetime: Option<Duration>,
    scopes: Option<Vec<String>>,
    requested_at: Option<Instant>,
}

impl AccessToken {
    /// A bearer token whose lifetime is read from it if it is a JWT, and otherwise
    /// [`TokenPolicy::default_lifetime`](crate::TokenPolicy::default_lifetime).
    pub fn new(secret: impl Into<SecretString>) -> Self {
        Self {
            secret: secret.into(),
            lifetime: None,
            scopes: None,
            requested_at: None,
        }
    }

    /// States how long the token lives, counted from when the source was asked for it.
    pub fn with_lifetime(mut self, lifetime: Duration) -> Self {
        self.lifetime = Some(lifetime);
        self
    }

    /// States the scopes that were granted, which an error about a missing scope will show.
    pub fn with_scopes<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.scopes = Some(scopes.into_iter().map(Into::into).collect());
        self
    }

    /// Moves the start of the lifetime from the beginning of the renewal to its last attempt.
    pub(super) fn with_requested_at(mut self, instant: Instant) -> Self {
        self.requested_at = Some(instant);
        self
    }

    /// The lifetime, if it was stated.
    pub fn lifetime(&self) -> Option<Duration> {
        self.lifetime
    }

    /// The granted scopes, if they were stated.
    pub fn scopes(&self) -> Option<&[String]> {
        self.scopes.as_deref()
    }

    pub(super) fn requested_at(&self) -> Option<Instant> {
        self.requested_at
    }

    pub(super) fn expose(&self) -> &str {
        self.secret.expose_secret()
    }
}

impl fmt::Debug for AccessToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccessToken")
            .field("secret", &"[redacted]")
            .field("lifetime", &self.lifetime)
            .field("scopes", &self.scopes)
            .finish_non_exhaustive()
    }
}
