//! Failures on the way to the token endpoint.

use url::Url;

use crate::token::error::{TokenError, TokenErrorKind};
use crate::transport::cause;

/// Turns a failure of the HTTP client into a token error that names host and port of the endpoint and the proxy before it,
/// and no secret.
pub(super) fn failure(error: reqwest::Error, endpoint: &Url, proxy: Option<&str>) -> TokenError {
    let error = error.without_url();
    let kind = if error.is_timeout() {
        TokenErrorKind::Timeout
    } else {
        TokenErrorKind::Unreachable
    };
    // A certificate does not become valid, nor a request well-formed, by trying again.
    let lasting = error.is_builder() || cause::is_tls(&error);
    let description = format!(
        "{}: {}",
        cause::target(endpoint, proxy),
        cause::root(&error)
    );
    TokenError::new(kind)
        .with_description(description)
        .with_retryable(!lasting)
        .with_cause(error)
}
