//! Conversions of the caller's strings into idempotency keys, which are checked before anything is sent.

use std::borrow::Cow;
use std::convert::Infallible;
use std::str::FromStr;

use crate::command::key::IdempotencyKey;
use crate::error::Error;
use crate::secret::value::Secret;

impl IdempotencyKey {
    /// Derives a key from confidential parts, such as customers, people or amounts. Without the secret, the key cannot
    /// be computed, and the parts cannot be guessed from the key.
    ///
    /// All processes that derive the same keys need the same secret. Use at least 16 random bytes and protect them like
    /// a password. A new secret gives new keys, so don't replace it while commands are waiting to be resent.
    ///
    /// # Algorithm
    /// The algorithm never changes. It is the algorithm of [`derive`](Self::derive), with HMAC-SHA-256 under the secret
    /// instead of SHA-256, and with the string `suite-sdk/idempotency-key/keyed/v1`.
    ///
    /// # Errors
    /// If the secret has fewer than 16 bytes, for example because a variable is unset.
    ///
    /// ```
    /// # use sdk_core::{IdempotencyKey, Secret};
    /// let secret = Secret::from("sixteen bytes from the vault");
    /// let key = IdempotencyKey::derive_keyed(&secret, "payroll/bonus", ["ann@example.com", "2026"])?;
    /// assert_eq!(key.as_str(), "4a34c22e43e18ea03d98d1626a498a2277223f3ae7eb5138df70643b24d08758");
    /// # Ok::<(), sdk_core::Error>(())
    /// ```
    pub fn derive_keyed<P: AsRef<[u8]>>(
        secret: &Secret,
        namespace: &str,
        parts: impl IntoIterator<Item = P>,
    ) -> Result<Self, Error> {
        let secret = secret.as_key().map_err(Error::short_secret)?;
        Ok(Self::derive_under(secret, namespace, parts))
    }
}

impl FromStr for IdempotencyKey {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::checked(text).map_err(|malformed| {
            Error::invalid("Idempotency-Key", malformed.rule, &malformed.found)
                .with_cause(malformed)
        })
    }
}

/// A type that can become a command's key: an [`IdempotencyKey`], or a string to check.
///
/// An invalid string fails the call before it is sent. You can implement the trait for your own type. The guide says
/// [which key to choose](crate::guide::commands).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an idempotency key",
    label = "not a key",
    note = "a key is an `IdempotencyKey`, such as `IdempotencyKey::derive(\"billing/invoice-draft\", [order])`, or a \
            string of 16 to 160 characters from A-Z a-z 0-9 . _ : -"
)]
pub trait IntoKey {
    /// Converts the value into a key.
    ///
    /// # Errors
    /// If the string is not a valid key.
    fn into_key(self) -> Result<IdempotencyKey, Error>;
}

impl IntoKey for IdempotencyKey {
    fn into_key(self) -> Result<IdempotencyKey, Error> {
        Ok(self)
    }
}

impl IntoKey for &str {
    fn into_key(self) -> Result<IdempotencyKey, Error> {
        self.parse()
    }
}

impl IntoKey for String {
    fn into_key(self) -> Result<IdempotencyKey, Error> {
        self.parse()
    }
}

impl IntoKey for &String {
    fn into_key(self) -> Result<IdempotencyKey, Error> {
        self.parse()
    }
}

impl IntoKey for Cow<'_, str> {
    fn into_key(self) -> Result<IdempotencyKey, Error> {
        self.parse()
    }
}

impl TryFrom<&str> for IdempotencyKey {
    type Error = Error;

    fn try_from(text: &str) -> Result<Self, Error> {
        text.parse()
    }
}

impl TryFrom<String> for IdempotencyKey {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        text.parse()
    }
}

impl TryFrom<&String> for IdempotencyKey {
    type Error = Error;

    fn try_from(text: &String) -> Result<Self, Error> {
        text.parse()
    }
}

impl TryFrom<Cow<'_, str>> for IdempotencyKey {
    type Error = Error;

    fn try_from(text: Cow<'_, str>) -> Result<Self, Error> {
        text.parse()
    }
}

/// Lets `?` convert the error of infallible conversions, such as parsing an enumeration that accepts unknown values.
impl From<Infallible> for Error {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

#[cfg(test)]
mod tests {
    use crate::IdempotencyKey;

    #[test]
    fn a_key_is_validated_and_the_error_hides_it() {
        let long = "k".repeat(161);
        for bad in [
            "",
            "fifteen-chars-k",
            &long,
            "a key with spaces in",
            "sixteen-chars-\r\n",
            "sixteen-chars-üü",
        ] {
            let error = bad.parse::<IdempotencyKey>().unwrap_err();
            assert!(error.is_invalid_input());
            assert!(
                bad.is_empty() || !error.to_string().contains(bad),
                "{error}"
            );
        }
        for good in ["sixteen-chars-k.", &"k".repeat(160)] {
            assert!(good.parse::<IdempotencyKey>().is_ok(), "{good}");
        }
    }
}
