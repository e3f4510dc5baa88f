//! Commands that can be stored before they are sent, and sent again exactly.

use std::fmt;
use std::sync::Arc;

use hmac_sha256::Hash as Sha256;
use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind};
use crate::idempotency::{IdempotencyKey, hex};

/// The version of the stored form; a later SDK reads every earlier one.
const VERSION: u32 = 1;

/// A command as it goes over the wire: operation, audience, path, idempotency key and exact body.
///
/// It serialises, so that a caller can store it in its own database, in its own transaction, before anything is
/// sent, and send it from any process with `send_prepared` of the application's client. Preparing it is also what a
/// caller does who may drop the call before it ends: whoever holds the command can always find out what became of it.
///
/// ```
/// # fn example(command: sdk_core::PreparedCommand) -> Result<(), Box<dyn std::error::Error>> {
/// let stored: String = serde_json::to_string(&command)?;
/// // later, perhaps elsewhere
/// let command: sdk_core::PreparedCommand = serde_json::from_str(&stored)?;
/// command.verify()?;
/// # Ok(()) }
/// ```
///
/// # Stored form
/// A JSON object with a version. Every later release reads every earlier version, and an earlier one refuses a later
/// one. A digest over everything makes sure that what is sent is what was prepared: it detects damage and edits, not
/// somebody who computes the digest anew, so the store is to be protected as the data in it demands.
///
/// `Debug` shows neither the key nor the body. The serialised form holds both, and the headers that were set on the
/// call: it is as confidential as the command. Tokens are never in it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PreparedCommand {
    version: u32,
    application: String,
    operation: String,
    method: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    audience: Option<String>,
    path: String,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "shared")]
    idempotency_key: Option<Arc<IdempotencyKey>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    headers: Vec<(String, String)>,
    body: String,
    digest: String,
}

/// What a command is made of, before it has a digest.
pub(crate) struct Parts<'a> {
    pub(crate) application: &'a str,
    pub(crate) operation: &'a str,
    pub(crate) method: &'a str,
    pub(crate) audience: Option<&'a str>,
    pub(crate) path: &'a str,
    pub(crate) key: Option<Arc<IdempotencyKey>>,
    /// Those that the caller set on the call itself.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: &'a [u8],
}

impl PreparedCommand {
    pub(crate) fn new(parts: Parts<'_>) -> Result<Self, Error> {
        let body = std::str::from_utf8(parts.body)
            .map_err(|_| Error::new(ErrorKind::PreparedCommand, "the body is not UTF-8 text"))?;
        let mut command = Self {
            version: VERSION,
            application: parts.application.to_owned(),
            operation: parts.operation.to_owned(),
            method: parts.method.to_owned(),
            audience: parts.audience.map(str::to_owned),
            path: parts.path.to_owned(),
            idempotency_key: parts.key,
            headers: parts.headers,
            body: body.to_owned(),
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

    /// The HTTP method.
    #[must_use]
    pub fn method(&self) -> &str {
        &self.method
    }

    /// The audience of the client that prepared it.
    #[must_use]
    pub fn audience(&self) -> Option<&str> {
        self.audience.as_deref()
    }

    /// The path and query, relative to the application's base URL.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The idempotency key; `None` for commands without a documented key.
    #[must_use]
    pub fn idempotency_key(&self) -> Option<&IdempotencyKey> {
        self.idempotency_key.as_deref()
    }

    /// The headers that the caller set on the call: neither the token nor what the SDK sets itself.
    pub fn headers(&self) -> impl Iterator<Item = (&str, &str)> {
        self.headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The exact body.
    #[must_use]
    pub fn body(&self) -> &str {
        &self.body
    }

    /// SHA-256 over everything above, in lower-case hexadecimal.
    #[must_use]
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// Whether everything is as it was when the command was prepared. Sending asks this first.
    ///
    /// # Errors
    /// When the stored form is of a later SDK, or any part does not match the digest.
    pub fn verify(&self) -> Result<(), Error> {
        let refuse = |message: String| Err(Error::new(ErrorKind::PreparedCommand, message));
        if self.version != VERSION {
            return refuse(format!(
                "its form has version {}, this SDK knows {VERSION}",
                self.version
            ));
        }
        if self.digest != self.compute_digest() {
            return refuse(
                "its digest does not match: operation, audience, path, key, headers or body were changed after it \
                 was prepared"
                    .to_owned(),
            );
        }
        Ok(())
    }

    pub(crate) fn shared_key(&self) -> Option<Arc<IdempotencyKey>> {
        self.idempotency_key.clone()
    }

    /// Each part is preceded by its length, an absent one by the largest length there is.
    fn compute_digest(&self) -> String {
        let mut hash = Sha256::new();
        hash.update(self.version.to_be_bytes());
        let mut add = |part: Option<&str>| match part {
            None => hash.update(u64::MAX.to_be_bytes()),
            Some(text) => {
                hash.update((text.len() as u64).to_be_bytes());
                hash.update(text);
            }
        };
        add(Some(&self.application));
        add(Some(&self.operation));
        add(Some(&self.method));
        add(self.audience.as_deref());
        add(Some(&self.path));
        add(self.idempotency_key().map(IdempotencyKey::as_str));
        for (name, value) in self.headers() {
            add(Some(name));
            add(Some(value));
        }
        // Marks the end of the headers, however many there are.
        add(None);
        add(Some(&self.body));
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

/// Keys are shared and not cloned; in the stored form they are plain text.
mod shared {
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::idempotency::IdempotencyKey;

    #[expect(clippy::ref_option, reason = "the signature is serde's")]
    pub(super) fn serialize<S: Serializer>(
        key: &Option<Arc<IdempotencyKey>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        key.as_deref().serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Arc<IdempotencyKey>>, D::Error> {
        Ok(Option::<IdempotencyKey>::deserialize(deserializer)?.map(Arc::new))
    }
}
