//! The server's keys and signatures.

use std::io;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

/// Returns random key material, for keys that grant rights.
pub(crate) fn random() -> io::Result<[u8; 32]> {
    let mut material = [0; 32];
    getrandom::fill(&mut material).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(material)
}

/// Derives key material from the seed, for keys that must be the same in every run.
pub(crate) fn seeded(purpose: &str, seed: u64) -> [u8; 32] {
    digest(format!("{purpose}\n{seed}").as_bytes())
}

#[derive(Clone)]
pub(crate) struct Key(Hmac<Sha256>);

impl Key {
    pub(crate) fn of_seed(purpose: &str, seed: u64) -> Key {
        Key::of(&seeded(purpose, seed))
    }

    pub(crate) fn of(material: &[u8]) -> Key {
        Key(Hmac::new_from_slice(material).expect("HMAC takes a key of any length"))
    }

    pub(crate) fn sign(&self, message: &[u8]) -> [u8; 32] {
        let mut mac = self.0.clone();
        mac.update(message);
        mac.finalize().into_bytes().into()
    }

    /// Whether `signature`, which may be truncated, matches `message`.
    pub(crate) fn verify(&self, message: &[u8], signature: &[u8]) -> bool {
        let mut mac = self.0.clone();
        mac.update(message);
        mac.verify_truncated_left(signature).is_ok()
    }
}

pub(crate) fn digest(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// Returns a short digest that people can compare.
pub(crate) fn short_digest(bytes: &[u8]) -> String {
    format!("sha256:{}", encode(&digest(bytes)[..9]))
}

/// Encodes as URL-safe base64 without padding.
pub(crate) fn encode(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}
