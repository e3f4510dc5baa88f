//! Failures of the connection to the token endpoint.

use url::Url;

use crate::token::error::{TokenError, TokenErrorKind};
use crate::transport::cause;
use crate::transport::error::{Stage, TransportError};

/// Turns a failure of the transport into a token error that names host, port and proxy of the endpoint, but no secret.
pub(super) fn failure(error: TransportError, endpoint: &Url, proxy: Option<&str>) -> TokenError {
    let kind = match error.stage() {
        Stage::Redirected => TokenErrorKind::Malformed,
        _ if error.is_timeout() => TokenErrorKind::Timeout,
        _ => TokenErrorKind::Unreachable,
    };
    // A retry helps neither a bad certificate nor a malformed request.
    let lasting = matches!(error.stage(), Stage::Refused | Stage::Redirected);
    let retryable = !lasting && !cause::is_tls(&error);
    let (target, root) = (cause::target(endpoint, proxy), cause::root(&error));
    TokenError::new(kind)
        .with_description(format!("{target}: {root}"))
        .with_retryable(retryable)
        .with_cause(error)
}
