//! Whether a stored command is still what was prepared.

use hmac_sha256::HMAC as Hmac;

use crate::command::key::hex;
use crate::command::prepared::{PreparedCommand, Terms, VERSION};
use crate::error::Error;
use crate::secret::value::Secret;

/// What a seal hashes first, so that it differs from any other use of the secret.
const SEAL: &[u8] = b"suite-sdk/prepared-command/seal/v1";

impl PreparedCommand {
    /// Whether everything is as it was when the command was prepared. Sending asks this first.
    ///
    /// # Errors
    /// When the stored form is of a later SDK, or any part does not match the digest.
    pub fn verify(&self) -> Result<(), Error> {
        let refuse = |message: String| Err(Error::prepared(message));
        if !(1..=VERSION).contains(&self.version) {
            return refuse(format!(
                "its form has version {}, this SDK knows 1 to {VERSION}",
                self.version
            ));
        }
        // What version 1 has no place for, its digest does not cover.
        let misplaced = self.prepared_at.is_some() || self.terms != Terms::default();
        if self.digest != self.compute_digest() || (self.version == 1 && misplaced) {
            return refuse(
                "its digest does not match: operation, audience, path, key, headers or body were changed after it \
                 was prepared"
                    .to_owned(),
            );
        }
        Ok(())
    }

    /// Seals the command with a secret: HMAC-SHA-256 over its digest, which covers everything. Only who has the secret can
    /// make a command that [`verify_seal`](Self::verify_seal) accepts.
    ///
    /// The seal covers whether it [was sent](Self::was_sent). A sealed command that comes back out of an error whose effect is
    /// unknown says so for the first time, and is to be sealed anew before it is stored.
    ///
    /// # Errors
    /// When the secret has fewer than 16 bytes.
    pub fn seal(mut self, secret: &Secret) -> Result<Self, Error> {
        self.seal = Some(seal_of(&self.digest, secret)?);
        Ok(self)
    }

    /// Whether the command was sealed with this secret and is as it was then.
    ///
    /// # Errors
    /// When it has no seal, or another one, or the secret has fewer than 16 bytes.
    pub fn verify_seal(&self, secret: &Secret) -> Result<(), Error> {
        self.verify()?;
        let refuse = |message| Err(Error::prepared(message));
        let Some(seal) = &self.seal else {
            return refuse("it has no seal");
        };
        let expected = seal_of(&self.digest, secret)?;
        // All of it is compared, however early it differs: the time tells nothing about how much of it is right.
        let pairs = expected.bytes().zip(seal.bytes());
        if expected.len() != seal.len() || pairs.fold(0, |all, (a, b)| all | (a ^ b)) != 0 {
            return refuse(
                "its seal does not match: it was changed after it was sealed, or sealed with another secret",
            );
        }
        Ok(())
    }
}

/// The seal of a command with this digest.
fn seal_of(digest: &str, secret: &Secret) -> Result<String, Error> {
    let mut hash = Hmac::new(secret.as_key().map_err(Error::short_secret)?);
    hash.update(SEAL);
    hash.update(digest);
    Ok(hex(&hash.finalize()))
}
