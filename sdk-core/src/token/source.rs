//! The source of tokens, its request and its result.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::macros::debug_fields;
use crate::secret::value::Secret;
use crate::token::error::TokenError;

/// The future of a [`TokenSource`].
pub type TokenFuture<'a> =
    Pin<Box<dyn Future<Output = Result<AccessToken, TokenError>> + Send + 'a>>;

/// Obtains tokens. Implement it for your own identity provider.
///
/// The engine caches each token. It calls the source once for all waiting callers, in a separate task. It calls the
/// source again only when the token needs renewal, or when the backoff after a failure has passed. The source decides
/// whether it retries within a call. See [the guide](crate::guide::authentication) for when the source is called.
///
/// ```
/// use std::time::Duration;
/// use sdk_core::{AccessToken, TokenError, TokenFuture, TokenRequest, TokenSource};
///
/// /// Reads the token that a sidecar writes to a file.
/// struct FileTokenSource(std::path::PathBuf);
///
/// impl TokenSource for FileTokenSource {
///     fn token<'a>(&'a self, _request: &'a TokenRequest) -> TokenFuture<'a> {
///         Box::pin(async move {
///             let token = std::fs::read_to_string(&self.0).map_err(TokenError::from_source)?;
///             Ok(AccessToken::new(token.trim()).with_lifetime(Duration::from_secs(60)))
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

/// The audience and scopes to request. Equal requests share a token.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
#[must_use]
pub struct TokenRequest {
    audience: Option<String>,
    scopes: Vec<String>,
}

impl TokenRequest {
    /// Returns a request without audience and scopes. The identity provider then chooses both.
    pub fn new() -> Self {
        Self::default()
    }

    /// Requests a token for exactly this audience.
    pub fn with_audience(mut self, audience: impl Into<String>) -> Self {
        self.audience = Some(audience.into());
        self
    }

    /// Adds scopes to the request. Order and repetition don't matter.
    pub fn with_scopes<S: AsRef<str>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        for scope in scopes {
            let scopes = scope.as_ref().split_whitespace();
            self.scopes.extend(scopes.map(str::to_owned));
        }
        self.scopes.sort_unstable();
        self.scopes.dedup();
        self
    }

    /// Returns the requested audience.
    pub fn audience(&self) -> Option<&str> {
        self.audience.as_deref()
    }

    /// Returns the requested scopes, sorted and without duplicates.
    pub fn scopes(&self) -> &[String] {
        &self.scopes
    }
}

/// A token that a source returns.
#[derive(Clone)]
#[must_use]
pub struct AccessToken {
    secret: Secret,
    lifetime: Option<Duration>,
    scopes: Option<Vec<String>>,
    requested_at: Option<Instant>,
}

impl AccessToken {
    /// Creates a bearer token. Without [`with_lifetime`](Self::with_lifetime), the lifetime comes from the JWT, or else
    /// from [`TokenPolicy::default_lifetime`](crate::TokenPolicy::default_lifetime).
    pub fn new(secret: impl Into<Secret>) -> Self {
        Self {
            secret: secret.into(),
            lifetime: None,
            scopes: None,
            requested_at: None,
        }
    }

    /// Sets the lifetime, measured from the call of the source.
    pub fn with_lifetime(mut self, lifetime: Duration) -> Self {
        self.lifetime = Some(lifetime);
        self
    }

    /// Sets the granted scopes. Errors about a missing scope list them.
    pub fn with_scopes<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.scopes = Some(scopes.into_iter().map(Into::into).collect());
        self
    }

    /// Moves the start of the lifetime from the start of the renewal to its last attempt.
    pub(super) fn with_requested_at(mut self, instant: Instant) -> Self {
        self.requested_at = Some(instant);
        self
    }

    /// Returns the lifetime, if it is set.
    #[must_use]
    pub fn lifetime(&self) -> Option<Duration> {
        self.lifetime
    }

    /// Returns the granted scopes, if they are set.
    #[must_use]
    pub fn scopes(&self) -> Option<&[String]> {
        self.scopes.as_deref()
    }

    pub(super) fn requested_at(&self) -> Option<Instant> {
        self.requested_at
    }

    pub(super) fn expose(&self) -> &str {
        self.secret.expose()
    }
}

debug_fields! { AccessToken |it| secret: "[redacted]", lifetime: it.lifetime, scopes: it.scopes }
