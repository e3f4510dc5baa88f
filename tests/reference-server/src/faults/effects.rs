//! The effects of a fault. Their JSON fields have the names of the methods of [`Fault`](super::Fault).

use std::collections::BTreeMap;

use bytes::Bytes;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::message::{Drip, Seconds};

/// Headers that frame a message or control the connection. hyper writes them itself, and fails if they are set.
pub(crate) const FRAMING: [&str; 8] = [
    "connection",
    "content-length",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// The effects of one fault. Unset effects do nothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each of them is one independent thing to do"
)]
pub(super) struct Effects {
    #[serde(rename = "delaySeconds")]
    pub(super) delay: Seconds,
    pub(super) status: Option<u16>,
    pub(super) reply_after_commit_with: Option<u16>,
    #[serde(deserialize_with = "text_or_number")]
    pub(super) retry_after: Option<String>,
    pub(super) headers: BTreeMap<String, String>,
    pub(super) body: Option<Replacement>,
    pub(super) refuse_connection: bool,
    pub(super) close_connection: bool,
    pub(super) lose_reply: bool,
    pub(super) stall: bool,
    pub(super) truncate_body: bool,
    pub(super) break_body: bool,
    pub(super) drip_body: Option<Drip>,
    pub(super) revoke_token: bool,
    #[serde(rename = "tokenLifetimeSeconds")]
    pub(super) token_lifetime: Option<Seconds>,
    pub(super) token_expires_in: Option<Value>,
    pub(super) omit_expires_in: bool,
    pub(super) unknown_enum: bool,
    pub(super) unknown_member: bool,
    pub(super) schema_suffix: Option<String>,
    /// The number of pages after which the cursors repeat.
    pub(super) cursor_loop: Option<usize>,
}

impl Effects {
    pub(super) fn is_empty(&self) -> bool {
        *self == Effects::default()
    }

    /// Whether an effect changes issued tokens.
    pub(super) fn shapes_tokens(&self) -> bool {
        self.token_lifetime.is_some() || self.token_expires_in.is_some() || self.omit_expires_in
    }
}

/// A body that replaces the original. An empty media type removes the header.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Replacement {
    #[serde(rename = "text", with = "text")]
    pub(super) content: Bytes,
    #[serde(default)]
    pub(super) media_type: String,
}

/// Converts bytes to a JSON string; invalid UTF-8 is replaced.
mod text {
    use super::{Bytes, Deserialize, Deserializer, Serialize};

    pub(super) fn serialize<S: serde::Serializer>(of: &Bytes, to: S) -> Result<S::Ok, S::Error> {
        String::from_utf8_lossy(of).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Bytes, D::Error> {
        String::deserialize(from).map(Bytes::from)
    }
}

/// Reads `Retry-After`, which may be a number or a string.
fn text_or_number<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    match Value::deserialize(from)? {
        Value::String(text) => Ok(Some(text)),
        Value::Number(number) => Ok(Some(number.to_string())),
        _ => Err(D::Error::custom("must be a string or a number")),
    }
}
