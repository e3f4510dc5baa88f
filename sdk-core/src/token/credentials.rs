//! The client identity that is exchanged for tokens, and sources of one that changes while a program runs.

use std::borrow::Cow;
use std::future::ready;
use std::pin::Pin;
use std::sync::Arc;

use crate::macros::debug_fields;
use crate::secret::redactor::RecentSecrets;
use crate::secret::value::Secret;
use crate::token::error::TokenError;

/// Where a token exchange sends the client id and secret (RFC 6749, section 2.3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ClientAuthentication {
    /// In an HTTP Basic `Authorization` header, both form-url-encoded first. Every server must support it.
    #[default]
    Basic,
    /// In the form fields `client_id` and `client_secret`, for servers that accept nothing else.
    RequestBody,
}

impl ClientAuthentication {
    /// The method with this name in the registry of RFC 7591.
    pub(crate) fn of(name: &str) -> Option<Self> {
        match name {
            "client_secret_basic" => Some(Self::Basic),
            "client_secret_post" => Some(Self::RequestBody),
            _ => None,
        }
    }
}

/// A client id, its secret, and the form fields of a token exchange.
///
/// The contract does not show these fields, so they can be adjusted: [`with_form_field`](Self::with_form_field) adds or
/// replaces one, and [`with_audience_field`](Self::with_audience_field) renames the one with the audience.
/// [The guide](crate::guide::authentication) says where a secret may come from.
///
/// ```
/// use sdk_core::{ClientAuthentication, ClientCredentials};
///
/// let credentials = ClientCredentials::new("reporting-service", "correct horse")
///     .with_authentication(ClientAuthentication::RequestBody)
///     .with_form_field("organization", "ORG-0123456789AB");
/// assert!(!format!("{credentials:?}").contains("horse"));
/// ```
#[derive(Clone)]
#[must_use]
pub struct ClientCredentials {
    id: String,
    secret: Secret,
    authentication: ClientAuthentication,
    audience_field: Cow<'static, str>,
    fields: Vec<(String, Secret)>,
}

impl ClientCredentials {
    /// Credentials that authenticate with HTTP Basic.
    pub fn new(id: impl Into<String>, secret: impl Into<Secret>) -> Self {
        Self {
            id: id.into(),
            secret: secret.into(),
            authentication: ClientAuthentication::default(),
            audience_field: Cow::Borrowed("audience"),
            fields: Vec::new(),
        }
    }

    /// Sets where id and secret are sent.
    pub fn with_authentication(mut self, authentication: ClientAuthentication) -> Self {
        self.authentication = authentication;
        self
    }

    /// Adds a form field to every exchange, in place of a standard field of the same name. A field that is added twice is sent
    /// twice.
    pub fn with_form_field(mut self, name: impl Into<String>, value: impl Into<Secret>) -> Self {
        self.fields.push((name.into(), value.into()));
        self
    }

    /// Names the form field with the audience: `audience` by default, `resource` in RFC 8707.
    pub fn with_audience_field(mut self, name: impl Into<String>) -> Self {
        self.audience_field = Cow::Owned(name.into());
        self
    }
}

impl ClientCredentials {
    /// Remembers the secret and the form fields as confidential.
    pub(crate) fn keep(&self, known: &RecentSecrets) {
        let fields = self.fields.iter().map(|(_, value)| value.expose());
        known.keep(std::iter::once(self.secret.expose()).chain(fields));
    }

    /// What it lacks.
    pub(crate) fn missing_fields(&self) -> impl Iterator<Item = &'static str> + use<> {
        let no_id = self.id.is_empty().then_some("client id");
        let no_secret = self.secret.expose().is_empty().then_some("secret");
        no_id.into_iter().chain(no_secret)
    }

    pub(crate) fn extra_fields(&self) -> &[(String, Secret)] {
        &self.fields
    }

    /// The client id, which is not secret.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    pub(crate) fn secret(&self) -> &Secret {
        &self.secret
    }

    pub(crate) fn method(&self) -> ClientAuthentication {
        self.authentication
    }

    pub(crate) fn audience_name(&self) -> &str {
        &self.audience_field
    }
}

debug_fields! {
    ClientCredentials |it|
    id: it.id, secret: "[redacted]", authentication: it.authentication,
    audience_field: it.audience_field,
    form_fields: it.fields.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>()
}

/// The future of a [`CredentialSource`].
pub type CredentialsFuture<'a> =
    Pin<Box<dyn Future<Output = Result<ClientCredentials, TokenError>> + Send + 'a>>;

/// Gives the client credential of the moment, so that a secret can be rotated without a restart: from a file that changes, or
/// from a vault. Set it with [`SuiteBuilder::credential_source`](crate::SuiteBuilder::credential_source).
///
/// The suite asks before each attempt at the token endpoint, which is every few minutes for each application in use. If the
/// endpoint rejects the credential, the renewal fails, and the suite asks again after a backoff of up to a second. Calls with a
/// live token do not notice that a source fails, is slow or panics. Its time counts against
/// [`TokenPolicy::renewal_timeout`](crate::TokenPolicy::renewal_timeout). [The guide](crate::guide::authentication) shows a mounted
/// file and a vault.
///
/// ```
/// use sdk_core::{ClientCredentials, CredentialSource, CredentialsFuture, TokenError};
///
/// /// Reads the secret from a file that is replaced when it is rotated.
/// struct SecretFile(std::path::PathBuf);
///
/// impl CredentialSource for SecretFile {
///     fn credentials(&self) -> CredentialsFuture<'_> {
///         let path = self.0.clone();
///         Box::pin(async move {
///             // Reading may block, if only on a network drive: not on a thread that serves others.
///             let read = tokio::task::spawn_blocking(|| std::fs::read_to_string(path)).await;
///             let secret = read.map_err(TokenError::from_source)?.map_err(TokenError::from_source)?;
///             Ok(ClientCredentials::new("reporting-service", secret.trim()))
///         })
///     }
/// }
/// ```
pub trait CredentialSource: Send + Sync + 'static {
    /// The credential to send now.
    ///
    /// # Errors
    /// When there is none, as [`TokenError::from_source`] or [`TokenError::unavailable`]. Only the latter is retried at once;
    /// after either, the suite asks again when the backoff between renewals has passed.
    fn credentials(&self) -> CredentialsFuture<'_>;
}

impl<S: CredentialSource + ?Sized> CredentialSource for Arc<S> {
    fn credentials(&self) -> CredentialsFuture<'_> {
        (**self).credentials()
    }
}

/// Always the same.
impl CredentialSource for ClientCredentials {
    fn credentials(&self) -> CredentialsFuture<'_> {
        Box::pin(ready(Ok(self.clone())))
    }
}
