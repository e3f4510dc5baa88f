//! Failures of the connection to the token endpoint.

use url::Url;

use crate::token::error::{TokenError, TokenErrorKind};
use crate::transport::error::{SendState, TransportError, describe_target, is_tls, root_cause};

/// Turns a failure of the transport into a token error that names host, port and proxy of the endpoint, but no secret.
pub(super) fn failure(error: TransportError, endpoint: &Url, proxy: Option<&str>) -> TokenError {
    let kind = match error.send_state() {
        SendState::Redirected => TokenErrorKind::Malformed,
        _ if error.is_timeout() => TokenErrorKind::Timeout,
        _ => TokenErrorKind::Unreachable,
    };
    // A retry helps neither a bad certificate nor a malformed request.
    let lasting = matches!(
        error.send_state(),
        SendState::Unsendable | SendState::Redirected
    );
    let retryable = !lasting && !is_tls(&error);
    let (target, root) = (describe_target(endpoint, proxy), root_cause(&error));
    TokenError::new(kind)
        .with_description(format!("{target}: {root}"))
        .with_retryable(retryable)
        .with_cause(error)
}
