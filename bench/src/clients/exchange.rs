//! The token exchange of the clients that have no token engine.

use std::time::Duration;

use serde::Deserialize;

use super::Failure;

/// Exchanges the client credential for a token.
pub async fn exchange(http: &reqwest::Client, url: &str) -> Result<(String, Duration), Failure> {
    #[derive(Deserialize)]
    struct Reply {
        access_token: String,
        expires_in: u64,
    }

    let reply: Reply = http
        .post(url)
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
