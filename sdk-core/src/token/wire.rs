//! The request and the response of a token exchange: pure functions. No error quotes a response that may contain a token.

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

/// RFC 6749, section 5.1, read leniently: unknown members are ignored, and malformed optional ones count as missing.
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

/// Reads the reply to a successful exchange.
pub(super) fn success(
    body: &[u8],
    request: &TokenRequest,
    redactor: &Redactor,
) -> Result<AccessToken, TokenError> {
    const NO_OBJECT: &str = "it is not a JSON object; check the address of the token endpoint";
    // Serde would read an array too, by position.
    if !body.trim_ascii_start().starts_with(b"{") {
        return Err(malformed(NO_OBJECT));
    }
    let reply: Success<'_> = serde_json::from_slice(body).map_err(|error| {
        // The text of this error may quote the token.
        malformed(if error.is_data() {
            "`access_token` must be a string: got another value or none"
        } else {
            NO_OBJECT
        })
    })?;
    let is_bearer = |kind: &str| kind.eq_ignore_ascii_case("bearer");
    let token_type = reply.token_type.as_ref();
    // The member is required, but servers that omit it mean a bearer token too.
    if !token_type.is_none_or(|kind| kind.as_str().is_some_and(is_bearer)) {
        return Err(malformed("`token_type` must be Bearer: got another type"));
    }
    let mut echo = Redactor::default();
    echo.add(&reply.access_token);
    let repeats = |text: &str| redactor.matches(text) || echo.matches(text);
    let mut token = AccessToken::new(&*reply.access_token);
    if let Some(lifetime) = reply.expires_in.and_then(seconds) {
        token = token.with_lifetime(lifetime);
    }
    match reply.scope.as_ref().and_then(scopes) {
        // Errors and reports show scopes. A secret may contain a space, and its last part alone matches nothing, so a text that
        // repeats a secret counts as no list of scopes.
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

/// `expires_in` as a number or as a number in a string. A negative number counts as zero, any other value as missing.
fn seconds(value: &RawValue) -> Option<Duration> {
    let seconds: f64 = value.get().trim_matches('"').trim().parse().ok()?;
    // JSON numbers have no limit: one that is too large for a duration is capped, like any beyond the policy.
    let lifetime = Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(Duration::MAX);
    (!seconds.is_nan()).then_some(lifetime)
}

/// `scope` as a space-separated string or, leniently, as an array.
fn scopes(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::String(text) => Some(text.split_whitespace().map(str::to_owned).collect()),
        Value::Array(items) => items
            .iter()
            .map(|item| item.as_str().map(str::to_owned))
            .collect(),
        _ => None,
    }
}

/// The error of any other reply: the status decides, and the body may explain it.
pub(super) fn failure(
    status: u16,
    headers: &HeaderMap,
    body: &[u8],
    redactor: &Redactor,
) -> TokenError {
    if (300..400).contains(&status) {
        let redirect =
            "it is a redirect, which is never followed; check the address of the token endpoint";
        return malformed(redirect).with_status(status);
    }
    // Assumed: A50. Retrying does not help where something is not implemented.
    let transient = matches!(status, 408 | 429 | 500 | 502..=504 | 506..);
    let kind = match () {
        () if transient || (500..600).contains(&status) => TokenErrorKind::Unavailable,
        () if (400..500).contains(&status) => TokenErrorKind::Refused,
        () => TokenErrorKind::Malformed,
    };
    let envelope = Envelope::read(body).redacted(redactor);
    // A server may forbid retries, but not ask for them where the status rules them out.
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
