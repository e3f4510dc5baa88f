//! The access token, a signed JWT. The contract doesn't document the names of its claims.

use serde::{Deserialize, Serialize};

use super::key::TokenKey;
use crate::keys;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Claims {
    pub(crate) iss: String,
    pub(crate) sub: String,
    pub(crate) aud: String,
    #[serde(alias = "scp")]
    pub(crate) scope: String,
    pub(crate) iat: i64,
    pub(crate) exp: i64,
    /// The exact expiry; `exp` is rounded down to whole seconds.
    pub(crate) exp_ms: i64,
    pub(crate) jti: String,
    #[serde(alias = "azp")]
    pub(crate) client_id: String,
    pub(crate) actor: String,
    pub(crate) entitlements: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) workspace: Option<String>,
}

impl Claims {
    /// Returns the number in `jti`, which counts the tokens of this server.
    pub(crate) fn number(&self) -> Option<u64> {
        self.jti.strip_prefix("tok-")?.parse().ok()
    }
}

/// Writes and signs a token. `renamed` uses the other names that two claims are also read by.
pub(crate) fn issue(key: &TokenKey, claims: &Claims, renamed: bool) -> String {
    let mut claims = serde_json::to_string(claims).expect("claims are plain JSON");
    if renamed {
        // Values can't match, because quotes inside values are escaped.
        claims = claims.replace("\"scope\":", "\"scp\":");
        claims = claims.replace("\"client_id\":", "\"azp\":");
    }
    let signed = format!(
        "{}.{}",
        keys::encode(key.header.as_bytes()),
        keys::encode(claims.as_bytes())
    );
    let signature = keys::encode(&key.sign(signed.as_bytes()));
    format!("{signed}.{signature}")
}

/// Returns the claims of a token with a valid signature. The caller checks time and audience.
pub(crate) fn verify(key: &TokenKey, token: &str) -> Option<Claims> {
    let (signed, signature) = token.rsplit_once('.')?;
    let (header, claims) = signed.split_once('.')?;
    if keys::decode(header)? != key.header.as_bytes() {
        return None;
    }
    if !key.verify(signed.as_bytes(), &keys::decode(signature)?) {
        return None;
    }
    serde_json::from_slice(&keys::decode(claims)?).ok()
}
