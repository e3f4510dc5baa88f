//! The server's secret, and what it signs with it.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

/// A signing key; another seed or another issuer has another key.
#[derive(Clone)]
pub(crate) struct Key(Hmac<Sha256>);

impl Key {
    pub(crate) fn new(purpose: &str, seed: u64, issuer: &str) -> Key {
        let material = format!("{purpose}\n{seed}\n{issuer}");
        let digest = Sha256::digest(material.as_bytes());
        Key(Hmac::new_from_slice(&digest).expect("HMAC takes a key of any length"))
    }

    pub(crate) fn sign(&self, message: &[u8]) -> [u8; 32] {
        let mut mac = self.0.clone();
        mac.update(message);
        mac.finalize().into_bytes().into()
    }

    /// Whether `signature`, which may be shortened, is of `message`.
    pub(crate) fn verify(&self, message: &[u8], signature: &[u8]) -> bool {
        let mut mac = self.0.clone();
        mac.update(message);
        mac.verify_truncated_left(signature).is_ok()
    }
}

/// The SHA-256 of some bytes.
pub(crate) fn digest(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// A short digest for people to compare.
pub(crate) fn short_digest(bytes: &[u8]) -> String {
    format!("sha256:{}", encode(&digest(bytes)[..9]))
}

/// URL-safe base64 without padding.
pub(crate) fn encode(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// The reverse of [`encode`].
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}
