//! Whether a stored command is unchanged since it was prepared.

use hmac_sha256::HMAC as Hmac;

use crate::command::key::hex;
use crate::command::prepared::{PreparedCommand, Terms, VERSION};
use crate::error::Error;
use crate::secret::value::Secret;

/// Hashed first, so that a seal differs from any other use of the secret.
const SEAL: &[u8] = b"suite-sdk/prepared-command/seal/v1";

impl PreparedCommand {
    /// Checks that the command is unchanged since it was prepared. Sending does this first.
    ///
    /// # Errors
    /// If the stored form is of a later SDK, or any part does not match the digest.
    pub fn verify(&self) -> Result<(), Error> {
        let refuse = |message: String| Err(Error::prepared(message));
        if !(1..=VERSION).contains(&self.version) {
            return refuse(format!(
                "its stored form has version {}, but this SDK reads only 1 to {VERSION}",
                self.version
            ));
        }
        // The digest of version 1 does not cover the fields of later versions.
        let misplaced = self.prepared_at.is_some() || self.terms != Terms::default();
        // In the digest, the largest time stands for none.
        let no_time = self.prepared_at == Some(u64::MAX);
        if self.digest != self.compute_digest() || (self.version == 1 && misplaced) || no_time {
            return refuse(
                "its digest does not match: it was changed after it was prepared".to_owned(),
            );
        }
        Ok(())
    }

    /// Seals the command with a secret: HMAC-SHA-256 over its digest, which covers everything. Without the secret, nobody can
    /// make a command that [`verify_seal`](Self::verify_seal) accepts.
    ///
    /// The seal also covers whether the command [was sent](Self::was_sent). A command from an error with unknown effect was
    /// sent, so seal it again before you store it.
    ///
    /// # Errors
    /// If the secret has fewer than 16 bytes.
    pub fn seal(mut self, secret: &Secret) -> Result<Self, Error> {
        self.seal = Some(seal_of(&self.digest, secret)?);
        Ok(self)
    }

    /// Checks that the command was sealed with this secret and is unchanged since.
    ///
    /// # Errors
    /// If it has no seal or another one, or if the secret has fewer than 16 bytes.
    pub fn verify_seal(&self, secret: &Secret) -> Result<(), Error> {
        self.verify()?;
        let refuse = |message| Err(Error::prepared(message));
        let Some(seal) = &self.seal else {
            return refuse("it is not sealed");
        };
        let expected = seal_of(&self.digest, secret)?;
        // A comparison in constant time: it does not tell how much of a wrong seal is right.
        let pairs = expected.bytes().zip(seal.bytes());
        if expected.len() != seal.len() || pairs.fold(0, |all, (a, b)| all | (a ^ b)) != 0 {
            return refuse(
                "its seal does not match: it was changed after it was sealed, or it was sealed with another secret",
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
