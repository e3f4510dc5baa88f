//! The request of a token exchange: pure functions.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::HeaderValue;
use secrecy::zeroize::Zeroizing;
use url::form_urlencoded;

use crate::token::bearer::sensitive_header;
use crate::token::credentials::{ClientAuthentication, ClientCredentials};
use crate::token::error::TokenError;
use crate::token::source::TokenRequest;

/// The credential as HTTP Basic sends it: the value of the `Authorization` header.
pub(super) struct Basic(pub(super) HeaderValue);

/// What stands before the encoded credential.
const SCHEME: &str = "Basic ";

impl Basic {
    /// The encoded id and secret in it, which must not be shown either.
    pub(super) fn encoded(&self) -> &str {
        let value = self.0.to_str().unwrap_or_default();
        value.strip_prefix(SCHEME).unwrap_or(value)
    }
}

/// The Basic credential, id and secret form-url-encoded first (RFC 6749, section 2.3.1). Otherwise a server misreads a `:` in
/// the id, and a `%` or `+` in either.
pub(super) fn basic(credentials: &ClientCredentials) -> Result<Basic, TokenError> {
    let mut pair = Zeroizing::new(String::new());
    pair.extend(form_urlencoded::byte_serialize(credentials.id().as_bytes()));
    pair.push(':');
    pair.extend(form_urlencoded::byte_serialize(
        credentials.secret().expose().as_bytes(),
    ));
    let encoded = Zeroizing::new(STANDARD.encode(pair.as_bytes()));
    let header = [SCHEME, &encoded].concat().into_bytes();
    sensitive_header(Zeroizing::new(header)).map(Basic)
}

/// The form that asks for a token, in memory that is wiped on drop.
pub(super) fn body(credentials: &ClientCredentials, request: &TokenRequest) -> Bytes {
    let scope = request.scopes().join(" ");
    let in_body = credentials.method() == ClientAuthentication::RequestBody;
    let own = [
        Some(("grant_type", "client_credentials")),
        in_body.then(|| ("client_id", credentials.id())),
        in_body.then(|| ("client_secret", credentials.secret().expose())),
        request
            .audience()
            .map(|audience| (credentials.audience_name(), audience)),
        (!scope.is_empty()).then_some(("scope", scope.as_str())),
    ];
    let extra = credentials.extra_fields();
    let kept = own
        .into_iter()
        .flatten()
        .filter(|(name, _)| extra.iter().all(|(replaced, _)| replaced != name));
    // Large enough for most forms: growth would leave unwiped copies behind.
    let mut form = form_urlencoded::Serializer::new(String::with_capacity(4096));
    form.extend_pairs(kept);
    form.extend_pairs(extra.iter().map(|(name, value)| (name, value.expose())));
    Bytes::from_owner(Zeroizing::new(form.finish().into_bytes()))
}
