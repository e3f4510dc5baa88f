//! Whether a stored command is unchanged since it was prepared.

use crate::command::prepared::{PreparedCommand, Terms, VERSION};
use crate::error::Error;

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
}
