//! Commands that can be stored before they are sent, and sent again exactly.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hmac_sha256::Hash as Sha256;
use serde::{Deserialize, Serialize};

use crate::command::key::{IdempotencyKey, hex};

/// The version of the stored form; a later SDK reads every earlier one. Version 1 did not say when it was prepared.
pub(crate) const VERSION: u32 = 2;

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
/// one. A digest over everything detects accidents: damage, and edits by mistake. It does not stop somebody who can write to
/// the table, and computes it anew. For tables that others can write to, [`seal`](Self::seal) a command with a secret that
/// they do not have, and send it with [`sealed_by`](crate::SendPrepared::sealed_by).
///
/// `Debug` shows neither the key nor the body, the query or the values of headers. The serialised form holds them all, those
/// that are defaults of the client included: it is as confidential as the command. Tokens are never in it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PreparedCommand {
    pub(crate) version: u32,
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
    /// In milliseconds since the beginning of 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) prepared_at: Option<u64>,
    #[serde(flatten)]
    pub(crate) terms: Terms,
    pub(crate) digest: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) seal: Option<String>,
}

/// What is known of a command beside its request. Version 1 has none of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Terms {
    /// Whether it was sent before it was stored.
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) sent: bool,
    /// Whether the contract shows what an exact replay does.
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) replay_shown: bool,
    /// Whether the caller wanted it to go without a token, though its operation takes one.
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) without_token: bool,
    /// Whether the caller allowed repeats of it, or forbade them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) replay_exact: Option<bool>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature is serde's"
)]
fn is_false(value: &bool) -> bool {
    !value
}

/// What a command is made of, before it has a digest.
pub(crate) struct Parts<'a> {
    pub(crate) application: &'a str,
    pub(crate) operation: &'a str,
    pub(crate) method: &'a str,
    pub(crate) audience: Option<&'a str>,
    pub(crate) path: &'a str,
    pub(crate) key: Option<Arc<IdempotencyKey>>,
    /// Those of the call and of its client's defaults.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: &'a str,
    /// When it was prepared, or first sent.
    pub(crate) at: SystemTime,
    pub(crate) terms: Terms,
}

impl PreparedCommand {
    pub(crate) fn new(parts: Parts<'_>) -> Self {
        let mut command = Self {
            version: VERSION,
            application: parts.application.to_owned(),
            operation: parts.operation.to_owned(),
            method: parts.method.to_owned(),
            audience: parts.audience.map(str::to_owned),
            path: parts.path.to_owned(),
            idempotency_key: parts.key,
            headers: parts.headers,
            body: parts.body.to_owned(),
            prepared_at: parts
                .at
                .duration_since(UNIX_EPOCH)
                .ok()
                .and_then(|since| u64::try_from(since.as_millis()).ok()),
            terms: parts.terms,
            digest: String::new(),
            seal: None,
        };
        command.digest = command.compute_digest();
        command
    }

    /// The same command after it may have been sent. That is another statement, which a seal of before does not cover.
    pub(crate) fn into_sent(mut self) -> Self {
        if !self.was_sent() {
            self.terms.sent = true;
            self.digest = self.compute_digest();
            self.seal = None;
        }
        self
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

    /// When it was prepared, by the wall clock of the machine that did; `None` for a form of version 1.
    #[must_use]
    pub fn prepared_at(&self) -> Option<SystemTime> {
        UNIX_EPOCH.checked_add(Duration::from_millis(self.prepared_at?))
    }

    /// Whether it may have been sent before it was stored: it comes out of an error whose effect was unknown, or its form is
    /// of version 1, which does not say so.
    #[must_use]
    pub fn was_sent(&self) -> bool {
        self.version == 1 || self.terms.sent
    }

    /// Whether sending it again gives the result of the first time: it has a key, or the contract shows that for its
    /// operation.
    #[must_use]
    pub fn is_replayable(&self) -> bool {
        self.idempotency_key.is_some() || self.terms.replay_shown
    }

    pub(crate) fn terms(&self) -> Terms {
        self.terms
    }

    /// The headers that it goes out with: the call's and its client's, neither the token nor what the SDK sets itself.
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

    pub(crate) fn shared_key(&self) -> Option<Arc<IdempotencyKey>> {
        self.idempotency_key.clone()
    }

    /// Over everything that must stay as it is. Each part is preceded by its length, an absent one by the largest length there
    /// is.
    pub(crate) fn compute_digest(&self) -> String {
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
        if self.version > 1 {
            hash.update(self.prepared_at.unwrap_or(u64::MAX).to_be_bytes());
            let Terms {
                sent,
                replay_shown,
                without_token,
                replay_exact,
            } = self.terms;
            let replay_exact = replay_exact.map_or(2, u8::from);
            let flags = [sent, replay_shown, without_token].map(u8::from);
            hash.update(flags);
            hash.update([replay_exact]);
        }
        hex(&hash.finalize())
    }
}

impl fmt::Debug for PreparedCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreparedCommand")
            .field("application", &self.application)
            .field("operation", &self.operation)
            .field("path", &self.path.split('?').next())
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

    use crate::command::key::IdempotencyKey;

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
