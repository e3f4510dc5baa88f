//! Reads the lifetime of a JWT. Verifying the token is the service's task.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use secrecy::zeroize::Zeroizing;
use serde::Deserialize;

#[derive(Deserialize)]
struct Claims {
    exp: f64,
    iat: f64,
}

/// `exp - iat`, which needs no clock, if the token is a JWT and the difference is positive.
pub(super) fn lifetime(token: &str) -> Option<Duration> {
    let [_header, payload, _signature] = *token.split('.').collect::<Vec<_>>() else {
        return None;
    };
    let payload = Zeroizing::new(URL_SAFE_NO_PAD.decode(payload.trim_end_matches('=')).ok()?);
    let claims: Claims = serde_json::from_slice(&payload).ok()?;
    let seconds = claims.exp - claims.iat;
    let lifetime = Duration::try_from_secs_f64(seconds).ok();
    lifetime.filter(|_| seconds > 0.0)
}
