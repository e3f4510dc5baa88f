//! The client identity that is exchanged for tokens.

use std::fmt;

use crate::secret::confidential::Confidential;
use crate::secret::value::Secret;

/// Where the client id and secret travel in a token exchange (RFC 6749, section 2.3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ClientAuthentication {
    /// An HTTP Basic `Authorization` header, both halves form-url-encoded first. Every server must support it.
    #[default]
    Basic,
    /// The form fields `client_id` and `client_secret`, for servers that read nothing else.
    RequestBody,
}

/// A client id and its secret, with what the token endpoint wants to know besides.
///
/// The form fields of the token request are not documented, so everything beyond `grant_type` can be
/// adjusted: [`with_form_field`](Self::with_form_field) adds or replaces a field, and
/// [`with_audience_field`](Self::with_audience_field) renames the one that carries the audience.
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
    audience_field: String,
    fields: Vec<(String, Secret)>,
}

impl ClientCredentials {
    /// Credentials that authenticate with HTTP Basic.
    pub fn new(id: impl Into<String>, secret: impl Into<Secret>) -> Self {
        Self {
            id: id.into(),
            secret: secret.into(),
            authentication: ClientAuthentication::default(),
            audience_field: "audience".to_owned(),
            fields: Vec::new(),
        }
    }

    /// Chooses where id and secret travel.
    pub fn with_authentication(mut self, authentication: ClientAuthentication) -> Self {
        self.authentication = authentication;
        self
    }

    /// Adds a form field to every exchange. A field of a name that the exchange would send by itself
    /// replaces that one; a field added twice is sent twice.
    pub fn with_form_field(mut self, name: impl Into<String>, value: impl Into<Secret>) -> Self {
        self.fields.push((name.into(), value.into()));
        self
    }

    /// Names the form field that carries the audience: `audience` unless set, `resource` with RFC 8707.
    pub fn with_audience_field(mut self, name: impl Into<String>) -> Self {
        self.audience_field = name.into();
        self
    }

    /// The client id, which is no secret.
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

    /// Adds what nobody may make us print.
    pub(crate) fn confide(&self, confidential: &mut Confidential) {
        confidential.add_secret(self.secret.expose());
        for (_, value) in &self.fields {
            confidential.add_secret(value.expose());
        }
    }

    pub(crate) fn extra_fields(&self) -> &[(String, Secret)] {
        &self.fields
    }
}

impl fmt::Debug for ClientCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.fields.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("ClientCredentials")
            .field("id", &self.id)
            .field("secret", &"[redacted]")
            .field("authentication", &self.authentication)
            .field("audience_field", &self.audience_field)
            .field("form_fields", &names)
            .finish()
    }
}
