//! Commands in a form that can be stored and resent unchanged.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hmac_sha256::Hash as Sha256;
use serde::{Deserialize, Serialize};

use crate::command::key::{IdempotencyKey, hex};
use crate::macros::debug_fields;

/// The version of the stored form. Later SDKs read all earlier versions. Version 1 has no preparation time.
pub(crate) const VERSION: u32 = 2;

/// Begins the hash input of [`PreparedCommand::approval_digest`], so that it differs from any other use of SHA-256.
const APPROVAL: &str = "suite-approval/v1\n";

/// A command in its exact wire form, ready to store and send: operation, audience, path, idempotency key and body.
///
/// It implements `Serialize`. Before sending it, store it in your own database, in your own transaction. Any process
/// can then send it with the client's `send_prepared`. You should also prepare a command if its call might be dropped
/// before it ends. With the prepared command, you can still find out whether it was applied ([the
/// guide](crate::guide::unknown_effect)).
///
/// ```
/// # fn example(command: sdk_core::PreparedCommand) -> Result<(), Box<dyn std::error::Error>> {
/// let stored: String = serde_json::to_string(&command)?;
/// // later, perhaps in another process
/// let command: sdk_core::PreparedCommand = serde_json::from_str(&stored)?;
/// command.verify()?;
/// # Ok(()) }
/// ```
///
/// # Stored form
/// A JSON object with a version. Every release reads all earlier versions and rejects later ones. A digest over all
/// fields detects damage and mistakes. It doesn't protect against a person or program with write access to the table,
/// because they can recompute it. If others can write to the table,
/// [sign the stored form](crate::guide::outbox#sign-stored-commands) with a secret that they don't have.
///
/// `Debug` hides the key, the body, the query and the values of headers. The serialized form contains all of them,
/// including the client's default headers, so it is as confidential as the command. It never contains a token. It
/// doesn't record which fields of the body are secret. If the service repeats such a field, errors redact it only if
/// its name suggests a secret, such as `clientSecret` or `password`.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PreparedCommand {
    pub(crate) version: u32,
    pub(crate) application: String,
    pub(crate) operation: String,
    pub(crate) method: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) audience: Option<String>,
    pub(crate) path: String,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "shared")]
    pub(crate) idempotency_key: Option<Arc<IdempotencyKey>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
    /// In milliseconds since the Unix epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) prepared_at: Option<u64>,
    #[serde(flatten)]
    pub(crate) flags: CommandFlags,
    pub(crate) digest: String,
}

/// Facts about a command besides its request. Version 1 lacks them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct CommandFlags {
    /// Whether the command may have been sent before it was stored.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) sent: bool,
    /// Whether the contract documents the effect of an exact resend.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) replay_shown: bool,
    /// Whether the caller sends the command without a token although its operation takes one.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) without_token: bool,
    /// Whether the caller allowed or forbade retries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) replay_exact: Option<bool>,
}

impl PreparedCommand {
    pub(crate) fn digested(mut self) -> Self {
        self.digest = self.compute_digest();
        self
    }

    pub(crate) fn into_sent(mut self) -> Self {
        if self.was_sent() {
            return self;
        }
        self.flags.sent = true;
        self.digested()
    }
}

impl PreparedCommand {
    /// The application that receives the command, such as `calendar`.
    #[must_use]
    pub fn application(&self) -> &str {
        &self.application
    }

    /// The command's `operationId`.
    #[must_use]
    pub fn operation(&self) -> &str {
        &self.operation
    }

    /// The HTTP method.
    #[must_use]
    pub fn method(&self) -> &str {
        &self.method
    }

    /// The audience of the client that prepared the command.
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

    /// When the command was prepared, by the wall clock of that machine. `None` in a stored form of version 1.
    #[must_use]
    pub fn prepared_at(&self) -> Option<SystemTime> {
        UNIX_EPOCH.checked_add(Duration::from_millis(self.prepared_at?))
    }

    /// Whether the command may have been sent before it was stored. True if it comes from an error with an unknown
    /// effect, or if its stored form has version 1, which doesn't record this.
    #[must_use]
    pub fn was_sent(&self) -> bool {
        self.version == 1 || self.flags.sent
    }

    /// Whether a resend returns the first result: the command has a key, or the contract documents this for its
    /// operation.
    #[must_use]
    pub fn is_replayable(&self) -> bool {
        self.idempotency_key.is_some() || self.flags.replay_shown
    }

    /// The headers set by the call and the client, without those that the SDK sets itself.
    pub fn headers(&self) -> impl Iterator<Item = (&str, &str)> {
        self.headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The exact body, as sent.
    #[must_use]
    pub fn body(&self) -> &str {
        &self.body
    }

    /// The SHA-256 digest over all fields above, in lowercase hexadecimal.
    #[must_use]
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// The SHA-256 digest that a person approves: the exact request, its origin and the client ID that sends it, in
    /// lowercase hexadecimal.
    ///
    /// Use it if a person or another program must approve a command before it is sent. `origin` is the client's
    /// `origin()`. `client` is the client ID of the credential that sends the command. The contract scopes keys to the
    /// actor (contract, Endpoints / Calendar), so another credential with the same key can apply the command a second
    /// time.
    ///
    /// Preparing the same command again gives the same digest, unlike [`digest`](Self::digest), which includes the
    /// preparation time. It covers neither that time nor [`was_sent`](Self::was_sent).
    ///
    /// # Algorithm
    /// The algorithm of this version never changes. It is the SHA-256 of the line `suite-approval/v1` with its newline,
    /// and of these parts: origin, client ID, application, operation, method, audience, path with query, idempotency
    /// key, the name and value of each header, an absent part, and the body. Each part is preceded by its length in
    /// bytes as a 64-bit big-endian number; for an absent part, all bits of the length are set. Three bytes end the
    /// input. They are the stored form's `replayShown` and `withoutToken`, each 0 or 1, and `replayExact`, which is 0, 1,
    /// or 2 if it is absent.
    ///
    /// ```
    /// # fn example(approved: &str, prepared: &sdk_core::PreparedCommand) -> Result<(), String> {
    /// if prepared.approval_digest("https://calendar.example.com", "billing-service") != approved {
    ///     return Err("this is not the command that was approved".to_owned());
    /// }
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn approval_digest(&self, origin: &str, client: &str) -> String {
        let mut hash = Sha256::new();
        hash.update(APPROVAL);
        add(&mut hash, Some(origin));
        add(&mut hash, Some(client));
        self.add_request(&mut hash);
        let CommandFlags {
            replay_shown,
            without_token,
            replay_exact,
            sent: _,
        } = self.flags;
        hash.update([replay_shown, without_token].map(u8::from));
        hash.update([replay_exact.map_or(2, u8::from)]);
        hex(&hash.finalize())
    }

    /// Computes the digest over everything that must not change.
    pub(crate) fn compute_digest(&self) -> String {
        let mut hash = Sha256::new();
        hash.update(self.version.to_be_bytes());
        self.add_request(&mut hash);
        if self.version > 1 {
            hash.update(self.prepared_at.unwrap_or(u64::MAX).to_be_bytes());
            let CommandFlags {
                sent,
                replay_shown,
                without_token,
                replay_exact,
            } = self.flags;
            let replay_exact = replay_exact.map_or(2, u8::from);
            let flags = [sent, replay_shown, without_token].map(u8::from);
            hash.update(flags);
            hash.update([replay_exact]);
        }
        hex(&hash.finalize())
    }

    fn add_request(&self, hash: &mut Sha256) {
        add(hash, Some(&self.application));
        add(hash, Some(&self.operation));
        add(hash, Some(&self.method));
        add(hash, self.audience.as_deref());
        add(hash, Some(&self.path));
        add(hash, self.idempotency_key().map(IdempotencyKey::as_str));
        for (name, value) in self.headers() {
            add(hash, Some(name));
            add(hash, Some(value));
        }
        // Marks the end of the headers.
        add(hash, None);
        add(hash, Some(&self.body));
    }
}

/// Adds a part of a digest after its length. The largest possible length marks an absent part.
fn add(hash: &mut Sha256, part: Option<&str>) {
    hash.update(
        part.map_or(u64::MAX, |text| text.len() as u64)
            .to_be_bytes(),
    );
    hash.update(part.unwrap_or_default());
}

debug_fields! {
    PreparedCommand |it|
    application: it.application, operation: it.operation, path: it.path.split('?').next(),
    keyed: it.idempotency_key.is_some(), body_bytes: it.body.len(), digest: it.digest
}

/// Serializes a shared key as a string.
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
