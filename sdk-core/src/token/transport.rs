//! Failures of the connection to the token endpoint.

use url::Url;

use crate::token::error::{TokenError, TokenErrorKind};
use crate::transport::cause;

/// Turns a failure of the HTTP client into a token error that names host, port and proxy of the endpoint, but no secret.
pub(super) fn failure(error: reqwest::Error, endpoint: &Url, proxy: Option<&str>) -> TokenError {
    let error = error.without_url();
    let kind = if error.is_timeout() {
        TokenErrorKind::Timeout
    } else {
        TokenErrorKind::Unreachable
    };
    // A retry helps neither a bad certificate nor a malformed request.
    let lasting = error.is_builder() || cause::is_tls(&error);
    let (target, root) = (cause::target(endpoint, proxy), cause::root(&error));
    TokenError::new(kind)
        .with_description(format!("{target}: {root}"))
        .with_retryable(!lasting)
        .with_cause(error)
}
