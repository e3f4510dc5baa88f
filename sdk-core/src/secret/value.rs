use std::fmt;

use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The minimum length in bytes of a secret that can't be guessed.
const SHORTEST_KEY: usize = 16;

/// The error for a secret that is short enough to guess. Contains its length.
#[derive(Debug, thiserror::Error)]
#[error("have at least {SHORTEST_KEY} bytes")]
pub(crate) struct ShortSecret(pub(crate) usize);

/// A confidential string, such as a client secret or an access token. It is never printed and is wiped on drop.
///
/// Serializing it writes the string, which is how it is sent. `Debug` redacts it.
#[derive(Clone)]
pub struct Secret(SecretString);

impl Secret {
    /// Returns the secret string.
    #[must_use]
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }

    /// Returns the string as the key of a digest, if it is long enough.
    pub(crate) fn as_key(&self) -> Result<&str, ShortSecret> {
        Some(self.expose())
            .filter(|key| key.len() >= SHORTEST_KEY)
            .ok_or(ShortSecret(self.expose().len()))
    }
}

impl From<&str> for Secret {
    fn from(secret: &str) -> Self {
        Self(SecretString::from(secret))
    }
}

impl From<String> for Secret {
    fn from(secret: String) -> Self {
        Self(SecretString::from(secret))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(redacted)")
    }
}

impl PartialEq for Secret {
    fn eq(&self, other: &Self) -> bool {
        self.expose() == other.expose()
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.expose())
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::from)
    }
}
