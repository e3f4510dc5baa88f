//! Responses of the token endpoint. The token is sent unchanged, exactly during its lifetime, and never appears in
//! messages.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sdk_core::Error;
use sdk_platform::types::TokenForm;
use tokio::time::{Instant, sleep};

use super::choice;
use super::stage::{SECRET, alone, hides, is_tidy, reply};
use crate::json::Json;

pub(super) fn run(data: &[u8]) {
    accepts(data);
}

/// Returns whether the response contains a usable token.
pub(super) fn accepts(data: &[u8]) -> bool {
    let (pick, body) = choice(data);
    let status = [200, 200, 200, 400, 401, 429, 503, 302][pick % 8];
    // Invalid UTF-8 in an unused field does not matter.
    let came = Json::read(&String::from_utf8_lossy(body));
    let token = came.as_ref().and_then(|it| it.field("access_token"));
    let token = token.and_then(Json::text).unwrap_or_default();
    let answer = reply(status, body.to_vec());
    let answers = vec![reply(200, "{}")];
    alone(
        |suite| suite,
        Some(answer),
        answers,
        async |stage| {
            if pick & 8 != 0 {
                let form = TokenForm::new().client_secret(SECRET);
                let result = stage.platform.oauth().token(&form).await;
                result.as_ref().err().into_iter().for_each(is_ours);
                if is_telling(token) {
                    hides(&format!("{result:?}"), &[token]);
                }
                return result.is_ok();
            }
            let (started, apps) = (Instant::now(), stage.platform.apps());
            let exchanges = || stage.script().forms.len();
            if let Err(error) = apps.list().await {
                assert!(
                    stage.script().seen.is_empty(),
                    "a call was sent without a token"
                );
                assert!(exchanges() <= 3 && started.elapsed() <= Duration::from_secs(30));
                is_ours(&error);
                if is_telling(token) {
                    hides(&format!("{error} {error:?}"), &[token]);
                }
                return false;
            }
            assert_eq!((status, exchanges()), (200, 1));
            let sent = format!("Bearer {token}");
            assert_eq!(stage.script().seen[0].headers()["authorization"], sent);
            let expiry = came.as_ref().and_then(|it| it.field("expires_in"));
            let Some(lifetime) = lifetime(token, expiry) else {
                return true;
            };
            sleep(lifetime.mul_f64(0.6)).await;
            let _ = apps.list().await;
            assert_eq!(exchanges(), 1, "a live token of {lifetime:?} was replaced");
            sleep(lifetime.mul_f64(0.4)).await;
            let _ = apps.list().await;
            assert_eq!(exchanges(), 2, "a token was used after {lifetime:?}");
            true
        },
    )
}

/// Checks an error. The suites here never get the usual token, so only the secret can leak.
fn is_ours(error: &Error) {
    is_tidy(error);
    hides(&format!("{error:?}"), &[SECRET]);
}

/// Returns whether the token is long enough not to occur in a message by accident.
fn is_telling(token: &str) -> bool {
    token.len() >= 12 && token.bytes().filter(u8::is_ascii_digit).count() >= 4
}

/// Returns the shorter of the stated lifetime and the lifetime in the JWT, limited to 1 to 300 seconds. Returns `None`
/// if `expires_in` is an invalid string.
fn lifetime(token: &str, stated: Option<&Json>) -> Option<Duration> {
    let stated = match stated {
        Some(Json::Text(text)) if !text.bytes().all(|it| it.is_ascii_digit()) => return None,
        Some(Json::Text(text)) if !text.is_empty() => Some(text.parse().ok()?),
        other => other.and_then(float),
    };
    let parts: Vec<&str> = token.split('.').collect();
    let claims = parts.get(1).filter(|_| parts.len() == 3).and_then(|it| {
        let bytes = URL_SAFE_NO_PAD.decode(it.trim_end_matches('=')).ok()?;
        Json::read(str::from_utf8(&bytes).ok()?)
    });
    let claim = |name| float(claims.as_ref()?.field(name)?).filter(|it| it.is_finite());
    let claimed = claim("exp").zip(claim("iat")).map(|(exp, iat)| exp - iat);
    // Ignores a difference that exceeds `Duration`.
    let claimed = claimed.filter(|it| *it > 0.0 && Duration::try_from_secs_f64(*it).is_ok());
    let known = [stated.map(|it| it.max(0.0)), claimed];
    let seconds = known.into_iter().flatten().reduce(f64::min).unwrap_or(60.0);
    Some(Duration::from_secs_f64(seconds.clamp(1.0, 300.0)))
}

fn float(json: &Json) -> Option<f64> {
    match json {
        Json::Plain(text) => text.parse().ok(),
        _ => None,
    }
}
