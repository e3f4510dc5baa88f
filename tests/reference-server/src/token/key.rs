//! The key of the tokens: what it signs, and how others check that.

use std::io;

use serde_json::Value;
#[cfg(feature = "es256")]
use serde_json::json;

use crate::builder::Builder;
use crate::keys::{self, Key};

/// How tokens are signed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Signing {
    /// HMAC with SHA-256 (HS256), under a key that the server alone has: a token is opaque to everybody else.
    #[default]
    Hs256,
    /// ECDSA on P-256 (ES256), with a `kid` in the header: a service checks tokens by the Platform's
    /// `/.well-known/jwks.json`, which its `/.well-known/oauth-authorization-server` names. Needs the feature `es256`.
    #[cfg(feature = "es256")]
    Es256,
}

/// The key of a server's tokens.
pub(crate) enum TokenKey {
    Hs256(Key),
    #[cfg(feature = "es256")]
    Es256 {
        key: Box<p256::ecdsa::SigningKey>,
        id: String,
        header: String,
    },
}

impl TokenKey {
    /// A random key, or the one of the seed if `seeded`.
    pub(crate) fn new(settings: &Builder, seeded: bool) -> io::Result<TokenKey> {
        let material = if seeded {
            keys::seeded("token", settings.seed)
        } else {
            keys::random()?
        };
        Ok(match settings.signing {
            Signing::Hs256 => TokenKey::Hs256(Key::of(&material)),
            #[cfg(feature = "es256")]
            Signing::Es256 => es256(material),
        })
    }

    /// The header of each token.
    pub(super) fn header(&self) -> &str {
        match self {
            TokenKey::Hs256(_) => r#"{"alg":"HS256","typ":"JWT"}"#,
            #[cfg(feature = "es256")]
            TokenKey::Es256 { header, .. } => header,
        }
    }

    pub(super) fn sign(&self, message: &[u8]) -> Vec<u8> {
        match self {
            TokenKey::Hs256(key) => key.sign(message).to_vec(),
            #[cfg(feature = "es256")]
            TokenKey::Es256 { key, .. } => {
                use p256::ecdsa::signature::Signer as _;
                let signature: p256::ecdsa::Signature = key.sign(message);
                signature.to_bytes().to_vec()
            }
        }
    }

    pub(super) fn verify(&self, message: &[u8], signature: &[u8]) -> bool {
        match self {
            TokenKey::Hs256(key) => signature.len() == 32 && key.verify(message, signature),
            #[cfg(feature = "es256")]
            TokenKey::Es256 { key, .. } => {
                use p256::ecdsa::signature::Verifier as _;
                p256::ecdsa::Signature::from_slice(signature)
                    .is_ok_and(|signature| key.verifying_key().verify(message, &signature).is_ok())
            }
        }
    }

    /// The public keys as RFC 7517 has them, if there are any.
    pub(crate) fn public(&self) -> Option<Value> {
        match self {
            TokenKey::Hs256(_) => None,
            #[cfg(feature = "es256")]
            TokenKey::Es256 { key, id, .. } => {
                let [x, y] = coordinates(key);
                let purpose = json!({"kid": id, "alg": "ES256", "use": "sig"});
                let mut jwk = json!({"kty": "EC", "crv": "P-256", "x": x, "y": y});
                jwk.as_object_mut()?.extend(purpose.as_object()?.clone());
                Some(json!({"keys": [jwk]}))
            }
        }
    }
}

#[cfg(feature = "es256")]
fn es256(mut material: [u8; 32]) -> TokenKey {
    let key = loop {
        match p256::ecdsa::SigningKey::from_slice(&material) {
            Ok(key) => break Box::new(key),
            // Of 2^32 numbers, one is beyond the order of the curve.
            Err(_) => material = keys::digest(&material),
        }
    };
    let [x, y] = coordinates(&key);
    // The thumbprint of RFC 7638.
    let members = format!(r#"{{"crv":"P-256","kty":"EC","x":"{x}","y":"{y}"}}"#);
    let id = keys::encode(&keys::digest(members.as_bytes()));
    let header = format!(r#"{{"alg":"ES256","typ":"JWT","kid":"{id}"}}"#);
    TokenKey::Es256 { key, id, header }
}

#[cfg(feature = "es256")]
fn coordinates(key: &p256::ecdsa::SigningKey) -> [String; 2] {
    // A tag, and two coordinates of 32 bytes.
    let point = key.verifying_key().to_sec1_point(false);
    [1, 33].map(|from| keys::encode(&point.as_bytes()[from..from + 32]))
}
