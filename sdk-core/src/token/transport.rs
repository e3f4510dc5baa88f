//! Failures on the way to the token endpoint.

use url::Url;

use super::{TokenError, TokenErrorKind};
use crate::cause;

/// Turns a failure of the HTTP client into a token error that names the endpoint's host and port, and no secret.
pub(super) fn failure(error: reqwest::Error, endpoint: &Url) -> TokenError {
    let error = error.without_url();
    let kind = if error.is_timeout() {
        TokenErrorKind::Timeout
    } else {
        TokenErrorKind::Unreachable
    };
    // A certificate does not become valid, nor a request well-formed, by trying again.
    let lasting = error.is_builder() || cause::is_tls(&error);
    let description = format!("{}: {}", cause::authority(endpoint), cause::root(&error));
    TokenError::new(kind)
        .with_description(description)
        .with_retryable(!lasting)
        .with_cause(error)
}
