//! Commands that can be stored before they are sent, and sent again exactly.

use std::fmt;

use bytes::Bytes;
use hmac_sha256::Hash as Sha256;
use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind};
use crate::idempotency::{IdempotencyKey, hex};
use crate::operation::Operation;

/// The version of the stored form; a later SDK reads every earlier one.
const VERSION: u32 = 1;

/// A command as it goes over the wire: operation, audience, path, idempotency key and exact body.
///
/// It serialises, so that a caller can store it in its own database, in its own transaction, before anything is
/// sent, and send it from any process with `send_prepared` of the application's client. A digest over everything
/// makes sure that what is sent is what was prepared.
///
/// `Debug` shows neither the key nor the body. The serialised form holds both: it is as confidential as the command.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PreparedCommand {
    version: u32,
    application: String,
    operation: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    audience: Option<String>,
    path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    idempotency_key: Option<IdempotencyKey>,
    body: String,
    digest: String,
}

impl PreparedCommand {
    pub(crate) fn new(
        operation: &'static Operation,
        audience: Option<&str>,
        path: String,
        idempotency_key: Option<IdempotencyKey>,
        body: &Bytes,
    ) -> Result<Self, Error> {
        let body = String::from_utf8(body.to_vec()).map_err(|_| {
            Error::new(ErrorKind::PreparedCommand, "the body is not UTF-8 text").of(operation)
        })?;
        let mut command = Self {
            version: VERSION,
            application: operation.application.to_owned(),
            operation: operation.id.to_owned(),
            audience: audience.map(str::to_owned),
            path,
            idempotency_key,
            body,
            digest: String::new(),
        };
        command.digest = command.compute_digest();
        Ok(command)
    }

    /// The application that takes the command, such as `calendar`.
    #[must_use]
    pub fn application(&self) -> &str {
        &self.application
    }

    /// The `operationId` of the command.
    #[must_use]
    pub fn operation(&self) -> &str {
        &self.operation
    }

    /// The audience of the client that prepared it.
    #[must_use]
    pub fn audience(&self) -> Option<&str> {
        self.audience.as_deref()
    }

    /// The idempotency key; `None` for commands without a documented key.
    #[must_use]
    pub fn idempotency_key(&self) -> Option<&IdempotencyKey> {
        self.idempotency_key.as_ref()
    }

    /// The exact body.
    #[must_use]
    pub fn body(&self) -> &str {
        &self.body
    }

    /// The path and query, relative to the application's base URL.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// SHA-256 over everything above, in lower-case hexadecimal.
    #[must_use]
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// Whether everything is as it was when the command was prepared.
    ///
    /// # Errors
    /// When the stored form is of a later SDK, or any part does not match the digest.
    pub fn verify(&self) -> Result<(), Error> {
        if self.version != VERSION {
            return Err(Error::new(
                ErrorKind::PreparedCommand,
                format!(
                    "its form has version {}, this SDK knows {VERSION}",
                    self.version
                ),
            ));
        }
        if self.digest != self.compute_digest() {
            return Err(Error::new(
                ErrorKind::PreparedCommand,
                "its digest does not match: operation, audience, path, key or body were changed after it was prepared",
            ));
        }
        Ok(())
    }

    /// Each part is preceded by its length, an absent one by the largest length there is.
    fn compute_digest(&self) -> String {
        let mut hash = Sha256::new();
        let parts = [
            Some(self.application.as_str()),
            Some(self.operation.as_str()),
            self.audience.as_deref(),
            Some(self.path.as_str()),
            self.idempotency_key.as_ref().map(IdempotencyKey::as_str),
            Some(self.body.as_str()),
        ];
        hash.update(self.version.to_be_bytes());
        for part in parts {
            match part {
                None => hash.update(u64::MAX.to_be_bytes()),
                Some(text) => {
                    hash.update((text.len() as u64).to_be_bytes());
                    hash.update(text);
                }
            }
        }
        hex(&hash.finalize())
    }
}

impl fmt::Debug for PreparedCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreparedCommand")
            .field("application", &self.application)
            .field("operation", &self.operation)
            .field("path", &self.path)
            .field("keyed", &self.idempotency_key.is_some())
            .field("body_bytes", &self.body.len())
            .field("digest", &self.digest)
            .finish_non_exhaustive()
    }
}
