//! The client identity that is exchanged for tokens.

use std::borrow::Cow;

use crate::macros::debug_fields;
use crate::secret::confidential::Recent;
use crate::secret::value::Secret;

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
/// [The guide](crate::guide::credentials) says where a secret may come from.
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
    pub(crate) fn keep(&self, known: &Recent) {
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
