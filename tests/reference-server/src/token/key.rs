//! The key that signs tokens, and its public part for services that check them.

use std::io;

use serde_json::Value;

use crate::builder::Builder;
use crate::keys::{self, Key};

/// The algorithm that signs tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Signing {
    /// HMAC with SHA-256. Only the server has the key, so nothing else can check a token.
    #[default]
    Hs256,
    /// ECDSA on P-256. Services check tokens with the key at the Platform's `/.well-known/jwks.json`, which its
    /// `/.well-known/oauth-authorization-server` names. Needs the `es256` feature.
    #[cfg(feature = "es256")]
    Es256,
}

pub(crate) struct TokenKey {
    secret: Secret,
    /// The encoded header of each token.
    pub(super) header: String,
    /// The public keys as a JWK set (RFC 7517), if there are any.
    pub(super) public: Option<Value>,
}

enum Secret {
    Hs256(Key),
    #[cfg(feature = "es256")]
    Es256(Box<p256::ecdsa::SigningKey>),
}

impl TokenKey {
    /// Creates a random key, or derives it from the seed if `seeded`.
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
            // About one in 2^32 numbers exceeds the order of the curve.
            Err(_) => material = keys::digest(&material),
        }
    };
    // The point is a tag followed by two coordinates of 32 bytes.
    let point = key.verifying_key().to_sec1_point(false);
    let [x, y] = [1, 33].map(|from| keys::encode(&point.as_bytes()[from..from + 32]));
    // The key ID is the thumbprint of RFC 7638.
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
