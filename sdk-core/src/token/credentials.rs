//! The client credential for token requests, and sources of a credential that changes while a program runs.

use std::borrow::Cow;
use std::future::ready;
use std::pin::Pin;
use std::sync::Arc;

use crate::macros::debug_fields;
use crate::secret::redactor::RecentSecrets;
use crate::secret::value::Secret;
use crate::token::error::TokenError;

/// The part of a token request that carries the client ID and secret (RFC 6749, section 2.3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ClientAuthentication {
    /// An HTTP Basic `Authorization` header, with both values form-url-encoded. Every server must support it.
    #[default]
    Basic,
    /// The form fields `client_id` and `client_secret`, for servers that accept nothing else.
    RequestBody,
}

impl ClientAuthentication {
    /// Returns the method with this name in the registry of RFC 7591.
    pub(crate) fn of(name: &str) -> Option<Self> {
        match name {
            "client_secret_basic" => Some(Self::Basic),
            "client_secret_post" => Some(Self::RequestBody),
            _ => None,
        }
    }
}

/// A client ID, its secret, and the form fields of a token request.
///
/// The contract doesn't document these fields, so you can adjust them. [`with_form_field`](Self::with_form_field) adds
/// or replaces a field, and [`with_audience_field`](Self::with_audience_field) renames the audience field. See
/// [the guide](crate::guide::authentication) for where to store a secret.
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
    /// Creates credentials that authenticate with HTTP Basic.
    pub fn new(id: impl Into<String>, secret: impl Into<Secret>) -> Self {
        Self {
            id: id.into(),
            secret: secret.into(),
            authentication: ClientAuthentication::default(),
            audience_field: Cow::Borrowed("audience"),
            fields: Vec::new(),
        }
    }

    /// Sets where the ID and secret are sent.
    pub fn with_authentication(mut self, authentication: ClientAuthentication) -> Self {
        self.authentication = authentication;
        self
    }

    /// Adds a form field to every token request. It replaces a standard field of the same name. A field that is added
    /// twice is sent twice.
    pub fn with_form_field(mut self, name: impl Into<String>, value: impl Into<Secret>) -> Self {
        self.fields.push((name.into(), value.into()));
        self
    }

    /// Sets the name of the form field with the audience. The default is `audience`; RFC 8707 uses `resource`.
    pub fn with_audience_field(mut self, name: impl Into<String>) -> Self {
        self.audience_field = Cow::Owned(name.into());
        self
    }
}

impl ClientCredentials {
    /// Adds the secret and the form fields to the confidential values.
    pub(crate) fn keep(&self, known: &RecentSecrets) {
        let fields = self.fields.iter().map(|(_, value)| value.expose());
        known.keep(std::iter::once(self.secret.expose()).chain(fields));
    }

    pub(crate) fn empty_fields(&self) -> impl Iterator<Item = &'static str> + use<> {
        let no_id = self.id.is_empty().then_some("client id");
        let no_secret = self.secret.expose().is_empty().then_some("secret");
        no_id.into_iter().chain(no_secret)
    }

    pub(crate) fn extra_fields(&self) -> &[(String, Secret)] {
        &self.fields
    }

    /// Returns the client ID, which is not secret.
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

/// The argument of [`SuiteBuilder::credentials`](crate::SuiteBuilder::credentials). Only [`ClientCredentials`]
/// implements it.
///
/// The trait exists so that the compiler's message shows the correct call.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a client credential",
    label = "write `.credentials(ClientCredentials::new(id, secret))`"
)]
pub trait IntoCredentials: Into<ClientCredentials> {}

impl IntoCredentials for ClientCredentials {}

/// The future of a [`CredentialSource`].
pub type CredentialsFuture<'a> =
    Pin<Box<dyn Future<Output = Result<ClientCredentials, TokenError>> + Send + 'a>>;

/// Returns the current client credential, so that a secret can be rotated without a restart. It can read a file that
/// changes, or a vault. Set it with [`SuiteBuilder::credential_source`](crate::SuiteBuilder::credential_source).
///
/// The SDK calls the source before each attempt at the token endpoint, every few minutes for each application in use.
/// If the endpoint rejects the credential, the renewal fails, and the SDK calls the source again after a backoff of
/// up to a second. Calls with a live token are not affected if the source fails, is slow or panics. The source's time
/// counts against [`TokenPolicy::renewal_timeout`](crate::TokenPolicy::renewal_timeout). See
/// [the guide](crate::guide::authentication) for examples with a mounted file and a vault.
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
///             // Reading may block, for instance on a network drive, so use a separate thread.
///             let read = tokio::task::spawn_blocking(|| std::fs::read_to_string(path)).await;
///             let secret = read.map_err(TokenError::from_source)?.map_err(TokenError::from_source)?;
///             Ok(ClientCredentials::new("reporting-service", secret.trim()))
///         })
///     }
/// }
/// ```
pub trait CredentialSource: Send + Sync + 'static {
    /// Returns the current credential.
    ///
    /// # Errors
    /// If there is no credential. Return [`TokenError::unavailable`] to retry within the same renewal, or else
    /// [`TokenError::from_source`]. After a failed renewal, the SDK calls the source again when the backoff has
    /// passed.
    fn credentials(&self) -> CredentialsFuture<'_>;
}

impl<S: CredentialSource + ?Sized> CredentialSource for Arc<S> {
    fn credentials(&self) -> CredentialsFuture<'_> {
        (**self).credentials()
    }
}

/// A fixed credential.
impl CredentialSource for ClientCredentials {
    fn credentials(&self) -> CredentialsFuture<'_> {
        Box::pin(ready(Ok(self.clone())))
    }
}
