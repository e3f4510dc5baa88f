//! The key of the tokens: what it signs, and how others check that.

use std::io;

use serde_json::Value;

use crate::builder::Builder;
use crate::keys::{self, Key};

/// How tokens are signed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Signing {
    /// HMAC with SHA-256, under a key that the server alone has: nobody else can check a token.
    #[default]
    Hs256,
    /// ECDSA on P-256: a service checks tokens by the Platform's `/.well-known/jwks.json`, which its
    /// `/.well-known/oauth-authorization-server` names. Needs the feature `es256`.
    #[cfg(feature = "es256")]
    Es256,
}

/// The key of a server's tokens.
pub(crate) struct TokenKey {
    secret: Secret,
    /// The header of each token.
    pub(super) header: String,
    /// The public keys as RFC 7517 has them, if there are any.
    pub(super) public: Option<Value>,
}

enum Secret {
    Hs256(Key),
    #[cfg(feature = "es256")]
    Es256(Box<p256::ecdsa::SigningKey>),
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
            Signing::Hs256 => TokenKey {
                secret: Secret::Hs256(Key::of(&material)),
                header: r#"{"alg":"HS256","typ":"JWT"}"#.to_owned(),
                public: None,
            },
            #[cfg(feature = "es256")]
            Signing::Es256 => es256(material),
        })
    }

    pub(super) fn sign(&self, message: &[u8]) -> Vec<u8> {
        match &self.secret {
            Secret::Hs256(key) => key.sign(message).to_vec(),
            #[cfg(feature = "es256")]
            Secret::Es256(key) => {
                let signature: p256::ecdsa::Signature =
                    p256::ecdsa::signature::Signer::sign(&**key, message);
                signature.to_bytes().to_vec()
            }
        }
    }

    pub(super) fn verify(&self, message: &[u8], signature: &[u8]) -> bool {
        match &self.secret {
            Secret::Hs256(key) => signature.len() == 32 && key.verify(message, signature),
            #[cfg(feature = "es256")]
            Secret::Es256(key) => {
                use p256::ecdsa::signature::Verifier as _;
                let signature = p256::ecdsa::Signature::from_slice(signature);
                signature.is_ok_and(|it| key.verifying_key().verify(message, &it).is_ok())
            }
        }
    }
}

#[cfg(feature = "es256")]
fn es256(mut material: [u8; 32]) -> TokenKey {
    let key = loop {
        match p256::ecdsa::SigningKey::from_slice(&material) {
            Ok(key) => break Box::new(key),
            // One number of 2^32 is beyond the order of the curve.
            Err(_) => material = keys::digest(&material),
        }
    };
    // A tag, and two coordinates of 32 bytes.
    let point = key.verifying_key().to_sec1_point(false);
    let [x, y] = [1, 33].map(|from| keys::encode(&point.as_bytes()[from..from + 32]));
    // The thumbprint of RFC 7638.
    let members = format!(r#"{{"crv":"P-256","kty":"EC","x":"{x}","y":"{y}"}}"#);
    let id = keys::encode(&keys::digest(members.as_bytes()));
    let public = serde_json::json!({"keys": [
        {"kty": "EC", "crv": "P-256", "x": x, "y": y, "kid": id, "alg": "ES256", "use": "sig"},
    ]});
    TokenKey {
        secret: Secret::Es256(key),
        header: format!(r#"{{"alg":"ES256","typ":"JWT","kid":"{id}"}}"#),
        public: Some(public),
    }
}
