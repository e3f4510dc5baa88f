//! Keys that make a command safe to repeat.

use std::fmt;

use hmac_sha256::{HMAC as Hmac, Hash as Sha256};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::policy::random::RandomSource;
use crate::text::counted;

/// How many characters a key has (contract, Limits).
const LENGTH: std::ops::RangeInclusive<usize> = 16..=160;

/// Hashed first by [`IdempotencyKey::derive`], so that its keys differ from any other use of SHA-256.
const DERIVATION: &[u8] = b"suite-sdk/idempotency-key/v1";

/// The same for [`IdempotencyKey::derive_keyed`].
const KEYED_DERIVATION: &[u8] = b"suite-sdk/idempotency-key/keyed/v1";

/// An `Idempotency-Key`: 16 to 160 characters out of `A-Z a-z 0-9 . _ : -` (contract, Endpoints / Calendar).
///
/// A key stands for one command. In the Calendar it is scoped to the actor: the same key with the same parsed command
/// replays the stored result, and with another command fails with `IDEMPOTENCY_CONFLICT` (contract, Endpoints / Calendar).
/// Accounting requires a key of the same form; that it treats it alike is assumed (A51). `Debug` does not show the key,
/// because with it and the actor's token anybody can get the command's result.
///
/// [The guide](crate::guide::commands) says which key to take.
///
/// ```
/// use sdk_core::IdempotencyKey;
///
/// let fresh = IdempotencyKey::random();
/// assert_eq!(fresh.as_str().len(), 32);
///
/// // The same business data always gives the same key, in every process and version.
/// let first = IdempotencyKey::derive("billing/invoice-draft", ["order-4711", "2026-11"]);
/// let again = IdempotencyKey::derive("billing/invoice-draft", ["order-4711", "2026-11"]);
/// assert_eq!(first, again);
///
/// let own: IdempotencyKey = "order-4711.attempt-1".parse()?;
/// # Ok::<(), sdk_core::Error>(())
/// ```
///
/// # One key, one command
/// A key cannot be cloned: it moves into its command. To send a command twice, `prepare()` it, which binds the key to that
/// body.
///
/// ```compile_fail,E0382
/// # use sdk_core::IdempotencyKey;
/// # fn command(title: &str, key: IdempotencyKey) {}
/// let key = IdempotencyKey::random();
/// command("Kick-off", key);
/// command("Another one", key); // the key has moved into the first command
/// ```
///
/// [`derive`](Self::derive) and parsing can still make the same key a second time. If it is used for another command, only
/// the service can notice: the Calendar answers with `IDEMPOTENCY_CONFLICT`
/// ([`Error::is_idempotency_conflict`](crate::Error::is_idempotency_conflict)).
#[derive(PartialEq, Eq, Hash)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    /// A new key: 128 random bits as 32 hexadecimal characters.
    ///
    /// # Panics
    /// If the operating system provides no random bytes.
    #[must_use]
    pub fn random() -> Self {
        Self::drawn_from(&RandomSource::default())
    }

    /// A new key of a suite. Without a seed nobody can guess it: whoever does can get the result of its command, or use the key
    /// first.
    pub(crate) fn drawn_from(random: &RandomSource) -> Self {
        Self(hex(&random.bits()))
    }

    /// A key derived from business data, the same in every process, version and platform.
    ///
    /// The namespace names the kind of command, the parts identify the command: `derive("billing/invoice-draft",
    /// [order_id])`. Put everything that distinguishes two commands into the parts; otherwise the second one is a conflict.
    ///
    /// # Who can guess it
    /// Anybody who guesses the parts can compute the key, and so check whether a key they saw stands for certain data. Where
    /// that matters, use [`derive_keyed`](Self::derive_keyed).
    ///
    /// # Algorithm
    /// It never changes. The key is the lower-case hexadecimal SHA-256 of the text `suite-sdk/idempotency-key/v1`, the
    /// namespace, and each part. The namespace and each part are preceded by their length in bytes as a 64-bit big-endian
    /// number, so `["ab", "c"]` and `["a", "bc"]` give different keys.
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

    /// [`derive`](Self::derive) under a secret.
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

    /// Checks the form of a key.
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

    /// The key itself; nothing else shows it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The rule that a malformed key breaks.
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

/// Lower-case hexadecimal.
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
    /// Writes the key itself, so that it can be stored.
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
        // Published vectors: a change here breaks every caller who derived a key with an earlier version. Any SHA-256 tool
        // confirms them by the description of `derive`.
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
