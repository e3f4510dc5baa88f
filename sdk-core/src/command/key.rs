//! Keys that make a command safe to repeat.

use std::fmt;

use hmac_sha256::{HMAC as Hmac, Hash as Sha256};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::policy::random::RandomSource;
use crate::text::counted;

/// The allowed length of a key in characters (contract, Limits).
const LENGTH: std::ops::RangeInclusive<usize> = 16..=160;

/// Prefix of the hash input of [`IdempotencyKey::derive`], so that its keys differ from any other use of SHA-256.
const DERIVATION: &[u8] = b"suite-sdk/idempotency-key/v1";

/// Prefix of the hash input of [`IdempotencyKey::derive_keyed`].
const KEYED_DERIVATION: &[u8] = b"suite-sdk/idempotency-key/keyed/v1";

/// An `Idempotency-Key` of 16 to 160 characters from `A-Z a-z 0-9 . _ : -` (contract, Endpoints / Calendar).
///
/// A key identifies one command. In the Calendar, keys are scoped to the actor. The same key with the same parsed
/// command replays the stored result; with another command, it fails with `IDEMPOTENCY_CONFLICT` (contract, Endpoints /
/// Calendar). Accounting requires a key of the same form and presumably treats it the same way (assumption A51).
///
/// `Debug` hides the key. With the key and the actor's token, anyone could get the command's result.
///
/// The guide says [which key to choose](crate::guide::commands).
///
/// ```
/// use sdk_core::IdempotencyKey;
///
/// let fresh = IdempotencyKey::random();
/// assert_eq!(fresh.as_str().len(), 32);
///
/// // The same business data always gives the same key, in every process and SDK version.
/// let first = IdempotencyKey::derive("billing/invoice-draft", ["order-4711", "2026-11"]);
/// let again = IdempotencyKey::derive("billing/invoice-draft", ["order-4711", "2026-11"]);
/// assert_eq!(first, again);
///
/// let own: IdempotencyKey = "order-4711.attempt-1".parse()?;
/// # Ok::<(), sdk_core::Error>(())
/// ```
///
/// # One key, one command
/// A key cannot be cloned. Passing it to a command moves it. To send a command twice, call `prepare()`, which binds the
/// key to that body.
///
/// ```compile_fail,E0382
/// # use sdk_core::IdempotencyKey;
/// # fn command(title: &str, key: IdempotencyKey) {}
/// let key = IdempotencyKey::random();
/// command("Kick-off", key);
/// command("Follow-up", key); // error: the key has moved into the first command
/// ```
///
/// [`derive`](Self::derive) and parsing can still create the same key again. If it is used for another command, only
/// the service can detect that. The Calendar answers with `IDEMPOTENCY_CONFLICT`
/// ([`Error::is_idempotency_conflict`](crate::Error::is_idempotency_conflict)).
#[derive(PartialEq, Eq, Hash)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    /// Generates a random key: 128 random bits as 32 hexadecimal characters.
    ///
    /// # Panics
    /// If the operating system provides no random bytes.
    #[must_use]
    pub fn random() -> Self {
        Self::drawn_from(&RandomSource::default())
    }

    /// Generates a key with the suite's random source. Without a seed, the key cannot be guessed. With a guessed key,
    /// others could get the command's result or use the key first.
    pub(crate) fn drawn_from(random: &RandomSource) -> Self {
        Self(hex(&random.bits()))
    }

    /// Derives a key from business data. The result is the same in every process, version and platform.
    ///
    /// The namespace names the kind of command and the parts identify the command: `derive("billing/invoice-draft",
    /// [order_id])`. Put everything that distinguishes two commands into the parts; otherwise the second command fails
    /// with a conflict.
    ///
    /// # Guessable keys
    /// Anyone who can guess the parts can compute the key, and so check whether a known key belongs to certain data. If
    /// that matters, use [`derive_keyed`](Self::derive_keyed).
    ///
    /// # Algorithm
    /// The algorithm never changes. The key is the lowercase hexadecimal SHA-256 of the string
    /// `suite-sdk/idempotency-key/v1`, the namespace, and each part. The namespace and each part are preceded by their
    /// length in bytes as a 64-bit big-endian number, so `["ab", "c"]` and `["a", "bc"]` give different keys.
    ///
    /// ```
    /// # use sdk_core::IdempotencyKey;
    /// let key = IdempotencyKey::derive("n", ["ab", "c"]);
    /// assert_eq!(key.as_str(), "698b64a2369b98becbea9b167b2b61730df03ae0ff1015b6f3bd9fe8e0bfc1bc");
    /// ```
    #[must_use]
    pub fn derive<P: AsRef<[u8]>>(namespace: &str, parts: impl IntoIterator<Item = P>) -> Self {
        let mut hash = Sha256::new();
        hash.update(DERIVATION);
        with_lengths(namespace, parts, |piece| hash.update(piece));
        Self(hex(&hash.finalize()))
    }

    /// Derives a key as [`derive`](Self::derive) does, with HMAC under a secret.
    pub(crate) fn derive_under<P: AsRef<[u8]>>(
        secret: &str,
        namespace: &str,
        parts: impl IntoIterator<Item = P>,
    ) -> Self {
        let mut hash = Hmac::new(secret);
        hash.update(KEYED_DERIVATION);
        with_lengths(namespace, parts, |piece| hash.update(piece));
        Self(hex(&hash.finalize()))
    }

    pub(crate) fn checked(text: &str) -> Result<Self, MalformedKey> {
        let length = text.chars().count();
        if !LENGTH.contains(&length) {
            return Err(MalformedKey {
                rule: "have 16 to 160 characters",
                found: counted(length, "character"),
            });
        }
        // The error names the invalid character, but not the key.
        let odd = |c: &char| !(c.is_ascii_alphanumeric() || "._:-".contains(*c));
        match text.chars().find(odd) {
            Some(character) => Err(MalformedKey {
                rule: "match ^[A-Za-z0-9._:-]+$",
                found: format!("the character {character:?}"),
            }),
            None => Ok(Self(text.to_owned())),
        }
    }

    /// Returns the key itself. Nothing else prints it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[derive(Debug, thiserror::Error)]
#[error("an idempotency key must {rule}: got {found}")]
pub(crate) struct MalformedKey {
    pub(crate) rule: &'static str,
    pub(crate) found: String,
}

/// Hashes a namespace and its parts, each preceded by its length.
fn with_lengths<P: AsRef<[u8]>>(
    namespace: &str,
    parts: impl IntoIterator<Item = P>,
    mut update: impl FnMut(&[u8]),
) {
    let mut add = |part: &[u8]| {
        update(&(part.len() as u64).to_be_bytes());
        update(part);
    };
    add(namespace.as_bytes());
    for part in parts {
        add(part.as_ref());
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut digits = vec![0; bytes.len() * 2];
    for (pair, byte) in digits.chunks_exact_mut(2).zip(bytes) {
        pair[0] = DIGITS[usize::from(byte >> 4)];
        pair[1] = DIGITS[usize::from(byte & 15)];
    }
    String::from_utf8(digits).expect("hexadecimal digits are ASCII")
}

impl fmt::Debug for IdempotencyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IdempotencyKey(redacted)")
    }
}

impl Serialize for IdempotencyKey {
    /// Serializes the key itself, so that it can be stored.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for IdempotencyKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::checked(&text).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::IdempotencyKey;

    #[test]
    fn derived_keys_are_pinned() {
        // Published vectors. A change here breaks every caller who derived a key with an earlier version. Any SHA-256
        // tool reproduces them from the docs of `derive`.
        let vectors: [(&str, &[&str], &str); 4] = [
            (
                "",
                &[],
                "e116742c2f9dfb50b746edaf44bfa9c6ddcd2e8ff67072075a1f57dc3eb0a714",
            ),
            (
                "billing/invoice-draft",
                &["order-4711", "2026-11"],
                "ee9b94fe57ea859957468d4a202828e5613decf00bd5bab4c121ae6d55b8440e",
            ),
            (
                "n",
                &["ab", "c"],
                "698b64a2369b98becbea9b167b2b61730df03ae0ff1015b6f3bd9fe8e0bfc1bc",
            ),
            (
                "n",
                &["a", "bc"],
                "f49376c39f2bc179dd46f272683fafa0e8e94f7241b6007e1054fe4661b7ee49",
            ),
        ];
        for (namespace, parts, key) in vectors {
            assert_eq!(IdempotencyKey::derive(namespace, parts).as_str(), key);
        }
    }
}
