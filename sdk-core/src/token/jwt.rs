//! Reading a JWT's lifetime. Nothing is verified: the token is not ours to judge.

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

/// `exp - iat`, which needs no clock, if the token is a JWT that has both in a sensible order.
pub(super) fn lifetime(token: &str) -> Option<Duration> {
    let mut parts = token.split('.');
    let (_header, payload, _signature) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() {
        return None;
    }
    let payload = Zeroizing::new(URL_SAFE_NO_PAD.decode(payload.trim_end_matches('=')).ok()?);
    let claims: Claims = serde_json::from_slice(&payload).ok()?;
    let seconds = claims.exp - claims.iat;
    (seconds > 0.0)
        .then(|| Duration::try_from_secs_f64(seconds).ok())
        .flatten()
}
