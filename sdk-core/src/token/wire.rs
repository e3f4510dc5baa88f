//! Builds token requests and reads their responses, as pure functions. No error quotes a response that may contain a
//! token.

use std::borrow::Cow;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue};
use secrecy::zeroize::Zeroizing;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use url::form_urlencoded;

use crate::error::envelope::Envelope;
use crate::policy::retry::retry_after;
use crate::secret::redactor::Redactor;
use crate::text::TextKind;
use crate::token::bearer::sensitive_header;
use crate::token::credentials::{ClientAuthentication, ClientCredentials};
use crate::token::error::{TokenError, TokenErrorKind};
use crate::token::source::{AccessToken, TokenRequest};

/// The credential for HTTP Basic: the value of the `Authorization` header.
pub(super) struct Basic(pub(super) HeaderValue);

const SCHEME: &str = "Basic ";

impl Basic {
    /// Returns the encoded ID and secret, which are also confidential.
    pub(super) fn encoded(&self) -> &str {
        let value = self.0.to_str().unwrap_or_default();
        value.strip_prefix(SCHEME).unwrap_or(value)
    }
}

/// Builds the Basic credential from the form-url-encoded ID and secret (RFC 6749, section 2.3.1). Without this
/// encoding, a server misreads a `:` in the ID, or a `%` or `+` in either value.
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

/// Builds the form of a token request, in memory that is wiped on drop.
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
    let standard = own
        .into_iter()
        .flatten()
        .filter(|(name, _)| extra.iter().all(|(replaced, _)| replaced != name));
    // Large enough for most forms, because growth would leave unwiped copies behind.
    let mut form = form_urlencoded::Serializer::new(String::with_capacity(4096));
    form.extend_pairs(standard);
    form.extend_pairs(extra.iter().map(|(name, value)| (name, value.expose())));
    Bytes::from_owner(Zeroizing::new(form.finish().into_bytes()))
}

/// RFC 6749, section 5.1, read leniently: unknown fields are ignored, and malformed optional fields count as missing.
#[derive(Deserialize)]
struct Success<'a> {
    #[serde(borrow)]
    access_token: Cow<'a, str>,
    #[serde(default)]
    token_type: Option<Value>,
    #[serde(borrow, default)]
    expires_in: Option<&'a RawValue>,
    #[serde(default)]
    scope: Option<Value>,
}

pub(super) fn success(
    body: &[u8],
    request: &TokenRequest,
    redactor: &Redactor,
) -> Result<AccessToken, TokenError> {
    const NO_OBJECT: &str = "it is not a JSON object; check the address of the token endpoint";
    // Serde would also read an array, by position.
    if !body.trim_ascii_start().starts_with(b"{") {
        return Err(malformed(NO_OBJECT));
    }
    let response: Success<'_> = serde_json::from_slice(body).map_err(|error| {
        // The parser's message may quote the token.
        malformed(if error.is_data() {
            "`access_token` must be a string: got a different type or no value"
        } else {
            NO_OBJECT
        })
    })?;
    let is_bearer = |kind: &str| kind.eq_ignore_ascii_case("bearer");
    let token_type = response.token_type.as_ref();
    // The field is required, but servers that omit it mean a bearer token too.
    if !token_type.is_none_or(|kind| kind.as_str().is_some_and(is_bearer)) {
        return Err(malformed(
            "`token_type` must be Bearer: got a different type",
        ));
    }
    let mut echo = Redactor::default();
    echo.add(&response.access_token);
    let repeats = |value: &str| redactor.matches(value) || echo.matches(value);
    let mut token = AccessToken::new(&*response.access_token);
    if let Some(lifetime) = response.expires_in.and_then(seconds) {
        token = token.with_lifetime(lifetime);
    }
    match response.scope.as_ref().and_then(scopes) {
        // Errors and reports list scopes. A secret may contain a space, and its last part alone matches nothing.
        // Therefore, a `scope` value that repeats a secret is ignored.
        Some(granted)
            if granted.iter().any(|scope| repeats(scope))
                || granted.windows(2).any(|pair| repeats(&pair.join(" "))) => {}
        Some(granted) => token = token.with_scopes(granted),
        // "OPTIONAL, if identical to the scope requested by the client".
        None if !request.scopes().is_empty() => token = token.with_scopes(request.scopes()),
        None => {}
    }
    Ok(token)
}

/// Reads `expires_in` as a number, also in a string. A negative number counts as zero, any other value as missing.
fn seconds(value: &RawValue) -> Option<Duration> {
    let seconds: f64 = value.get().trim_matches('"').trim().parse().ok()?;
    // JSON numbers are unlimited, so cap a value that is too large for a duration. The policy's limit applies later.
    let lifetime = Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(Duration::MAX);
    (!seconds.is_nan()).then_some(lifetime)
}

/// Reads `scope` as a space-separated string or, leniently, as an array.
fn scopes(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::String(list) => Some(list.split_whitespace().map(str::to_owned).collect()),
        Value::Array(items) => items
            .iter()
            .map(|item| item.as_str().map(str::to_owned))
            .collect(),
        _ => None,
    }
}

/// Returns the error for any other response. The status decides, and the body may explain it.
pub(super) fn failure(
    status: u16,
    headers: &HeaderMap,
    body: &[u8],
    redactor: &Redactor,
) -> TokenError {
    if (300..400).contains(&status) {
        let redirect = "it is a redirect, which the SDK doesn't follow; check the address of the token endpoint";
        return malformed(redirect).with_status(status);
    }
    // A retry can't help if the server doesn't implement the request (assumption A50).
    let transient = matches!(status, 408 | 429 | 500 | 502..=504 | 506..);
    let kind = match () {
        () if transient || (500..600).contains(&status) => TokenErrorKind::Unavailable,
        () if (400..500).contains(&status) => TokenErrorKind::Refused,
        () => TokenErrorKind::Malformed,
    };
    let envelope = Envelope::read(body).redacted(redactor);
    // A server may forbid retries, but can't request them if the status rules them out.
    let mut error = TokenError::new(kind)
        .with_status(status)
        .with_retryable(transient && envelope.retryable != Some(false));
    if let Some(code) = envelope.code {
        error = error.with_code(code);
    }
    if let Some(description) = envelope.message {
        error = error.with_description(description);
    }
    let header_id = headers.get("x-request-id").and_then(|id| id.to_str().ok());
    let header_id = header_id.map(|id| redactor.line(TextKind::RequestId, id));
    if let Some(id) = envelope.request_id.or(header_id) {
        error = error.with_request_id(id);
    }
    match retry_after(headers) {
        Some(wait) => error.with_retry_after(wait),
        None => error,
    }
}

pub(super) fn malformed(description: &str) -> TokenError {
    TokenError::new(TokenErrorKind::Malformed).with_description(description)
}
