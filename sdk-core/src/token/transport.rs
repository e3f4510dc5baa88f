//! Failures on the way to the token endpoint.

use std::error::Error as StdError;
use std::io;

use super::{TokenError, TokenErrorKind};

/// Turns a failure of the HTTP client into a token error that shows no address and no secret.
pub(super) fn failure(error: reqwest::Error) -> TokenError {
    let error = error.without_url();
    let kind = if error.is_timeout() {
        TokenErrorKind::Timeout
    } else {
        TokenErrorKind::Unreachable
    };
    // A certificate does not become valid, nor a request well-formed, by trying again.
    let lasting = error.is_builder() || is_tls(&error);
    let cause = root(&error).to_string();
    TokenError::new(kind)
        .with_description(cause)
        .with_retryable(!lasting)
        .with_cause(error)
}

fn root<'a>(error: &'a (dyn StdError + 'static)) -> &'a (dyn StdError + 'static) {
    std::iter::successors(Some(error), |error| inner(*error))
        .last()
        .unwrap_or(error)
}

/// A TLS library reports a refused handshake as an I/O error of invalid data.
fn is_tls(error: &(dyn StdError + 'static)) -> bool {
    std::iter::successors(Some(error), |error| inner(*error))
        .filter_map(|error| error.downcast_ref::<io::Error>())
        .any(|error| error.kind() == io::ErrorKind::InvalidData)
}

/// The next error inwards. An I/O error hides what it wraps from `source`.
fn inner<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a (dyn StdError + 'static)> {
    match error
        .downcast_ref::<io::Error>()
        .and_then(io::Error::get_ref)
    {
        Some(wrapped) => Some(wrapped),
        None => error.source(),
    }
}
