//! The access token: a JWT signed with HMAC-SHA-256. The contract does not show the names of its claims.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::keys::{self, Key};

const HEADER: &str = r#"{"alg":"HS256","typ":"JWT"}"#;

/// The claims of a token.
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
    /// The same under other names, by which they are read too.
    pub(crate) fn renamed(&self) -> Value {
        let mut claims = json!(self);
        for (name, other) in [("scope", "scp"), ("client_id", "azp")] {
            let claim = claims.as_object_mut().and_then(|all| all.remove(name));
            claims[other] = claim.into();
        }
        claims
    }

    /// The number in `jti`, which counts the tokens of this server.
    pub(crate) fn number(&self) -> Option<u64> {
        self.jti.strip_prefix("tok-")?.parse().ok()
    }
}

/// Writes and signs a token.
pub(crate) fn issue(key: &Key, claims: &impl Serialize) -> String {
    let claims = serde_json::to_vec(claims).expect("claims are plain JSON");
    let signed = format!(
        "{}.{}",
        keys::encode(HEADER.as_bytes()),
        keys::encode(&claims)
    );
    let signature = keys::encode(&key.sign(signed.as_bytes()));
    format!("{signed}.{signature}")
}

/// The claims of a token with a valid signature. The caller checks time and audience.
pub(crate) fn verify(key: &Key, token: &str) -> Option<Claims> {
    let (signed, signature) = token.rsplit_once('.')?;
    let (header, claims) = signed.split_once('.')?;
    if keys::decode(header)? != HEADER.as_bytes() {
        return None;
    }
    let signature = keys::decode(signature).filter(|bytes| bytes.len() == 32)?;
    if !key.verify(signed.as_bytes(), &signature) {
        return None;
    }
    serde_json::from_slice(&keys::decode(claims)?).ok()
}
