//! What the clients share that have no token engine: the exchange, and headers made of it.

use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use serde::Deserialize;
use std::time::Duration;
use uuid::Uuid;

use super::Failure;

/// Exchanges the client credential for a token.
pub async fn exchange(http: &reqwest::Client, origin: &str) -> Result<(String, Duration), Failure> {
    #[derive(Deserialize)]
    struct Reply {
        access_token: String,
        expires_in: u64,
    }

    let reply: Reply = http
        .post(format!("{origin}/oauth/token"))
        .basic_auth("bench", Some("secret"))
        .header("Content-Type", "application/x-www-form-urlencoded")
        .body("grant_type=client_credentials")
        .send()
        .await?
        .error_for_status()?
        .json()
        .await?;
    Ok((reply.access_token, Duration::from_secs(reply.expires_in)))
}

/// The header with a token that is never renewed.
pub async fn authorization(http: &reqwest::Client, origin: &str) -> Result<HeaderValue, Failure> {
    let (token, _) = exchange(http, origin).await?;
    let mut header = HeaderValue::from_maybe_shared(format!("Bearer {token}"))?;
    header.set_sensitive(true);
    Ok(header)
}

/// The headers of a command, as cheap as they can be made.
pub fn command_headers(headers: &mut HeaderMap) -> Result<(), Failure> {
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(
        "idempotency-key",
        HeaderValue::from_str(Uuid::new_v4().simple().encode_lower(&mut [0; 32]))?,
    );
    Ok(())
}
