//! What a fault does. The members of its JSON form are named as the methods of [`Fault`](super::Fault) are.

use std::collections::BTreeMap;

use bytes::Bytes;
use http::{HeaderName, HeaderValue};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::adapters::Transport;
use crate::message::{Drip, MOST_HEADERS};
use crate::seconds::Seconds;
use crate::token::registry;

/// Headers that say where a message ends, or control the connection. hyper writes them itself and fails if they are
/// set.
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

/// The effects of one fault; those that are not set do nothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each of them is one independent thing to do"
)]
pub(super) struct Effects {
    #[serde(rename = "delaySeconds")]
    pub(super) delay: Seconds,
    /// Answers with this status without serving the request.
    pub(super) status: Option<u16>,
    /// Serves the request, then answers with this status.
    pub(super) reply_after_commit_with: Option<u16>,
    #[serde(deserialize_with = "text_or_number")]
    pub(super) retry_after: Option<String>,
    pub(super) headers: BTreeMap<String, String>,
    pub(super) body: Option<Replacement>,
    /// Keeps the request from being sent.
    pub(super) refuse_connection: bool,
    /// Closes the connection without serving the request.
    pub(super) close_connection: bool,
    /// Serves the request, then closes the connection.
    pub(super) lose_reply: bool,
    /// Serves the request, then keeps the connection open without a reply.
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
    /// The cursors repeat after this many pages.
    pub(super) cursor_loop: Option<usize>,
}

impl Effects {
    pub(super) fn is_empty(&self) -> bool {
        *self == Effects::default()
    }

    /// Names the first member whose value no reply can carry.
    pub(super) fn check(&self) -> Result<(), String> {
        let statuses = [
            ("status", self.status),
            ("replyAfterCommitWith", self.reply_after_commit_with),
        ];
        for (member, status) in statuses {
            if let Some(status) = status.filter(|status| !(200..=599).contains(status)) {
                return Err(format!(
                    "{member}: {status} is not a status from 200 to 599"
                ));
            }
        }
        if let Some(Seconds(asked)) = self.token_lifetime {
            registry::lifetime("tokenLifetimeSeconds", asked)?;
        }
        if self.drip_body.is_some_and(|drip| drip.bytes == 0) {
            return Err("dripBody.bytes: must be at least 1".to_owned());
        }
        if self.headers.len() > MOST_HEADERS / 2 {
            return Err(format!("headers: more than {}", MOST_HEADERS / 2));
        }
        for (name, value) in &self.headers {
            let member = format!("headers.{name}");
            match HeaderName::from_bytes(name.as_bytes()) {
                Err(_) => return Err(format!("{member}: not a valid header name")),
                Ok(name) if FRAMING.contains(&name.as_str()) => {
                    return Err(format!(
                        "{member}: it frames the message, which the server does itself"
                    ));
                }
                Ok(_) => check_value(&member, value)?,
            }
        }
        if let Some(body) = &self.body {
            check_value("body.mediaType", &body.media_type)?;
        }
        match &self.retry_after {
            Some(value) if !value.is_ascii() => Err(format!("retryAfter: {value:?} is not ASCII")),
            Some(value) => check_value("retryAfter", value),
            None => Ok(()),
        }
    }

    /// Names the members that a server with this transport cannot do.
    pub(super) fn check_transport(&self, transport: Transport) -> Result<(), String> {
        let beyond_wiremock = self.break_body || self.drip_body.is_some() || self.stall;
        if beyond_wiremock && transport == Transport::Wiremock {
            let needs = "need Transport::Hyper or a server in memory";
            return Err(format!("breakBody, dripBody and stall {needs}"));
        }
        if self.refuse_connection && transport != Transport::InMemory {
            return Err("refuseConnection needs a server in memory".to_owned());
        }
        Ok(())
    }

    /// Whether this concerns the token that a request gets.
    pub(super) fn shapes_tokens(&self) -> bool {
        self.token_lifetime.is_some() || self.token_expires_in.is_some() || self.omit_expires_in
    }
}

fn check_value(member: &str, value: &str) -> Result<(), String> {
    let checked = HeaderValue::from_str(value).map(drop);
    checked.map_err(|_| format!("{member}: {value:?} is not a valid header value"))
}

/// A body in place of the true one; an empty media type leaves the header out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Replacement {
    #[serde(rename = "text", with = "text")]
    pub(super) content: Bytes,
    #[serde(default)]
    pub(super) media_type: String,
}

/// Bytes as JSON text; invalid UTF-8 is replaced.
mod text {
    use super::{Bytes, Deserialize, Deserializer, Serialize};

    pub(super) fn serialize<S: serde::Serializer>(of: &Bytes, to: S) -> Result<S::Ok, S::Error> {
        String::from_utf8_lossy(of).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Bytes, D::Error> {
        String::deserialize(from).map(Bytes::from)
    }
}

/// `Retry-After` may be written as a number or a string.
fn text_or_number<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    match Value::deserialize(from)? {
        Value::String(text) => Ok(Some(text)),
        Value::Number(number) => Ok(Some(number.to_string())),
        _ => Err(D::Error::custom("retryAfter: must be a string or a number")),
    }
}

/// The members that differ from the default, as JSON.
pub(super) fn given<T: Default + Serialize>(of: &T) -> Map<String, Value> {
    let members = |of: &T| match serde_json::to_value(of) {
        Ok(Value::Object(members)) => members,
        _ => Map::new(),
    };
    let (mut given, usual) = (members(of), members(&T::default()));
    given.retain(|name, value| usual.get(name) != Some(value));
    given
}

/// The members that differ from the default in one readable line, such as `retryAfter=1, status=503`.
pub(super) fn summary<T: Default + Serialize>(of: &T) -> String {
    let words = given(of).into_iter().map(|(name, value)| match value {
        Value::Bool(_) => name,
        Value::String(text) => format!("{name}={text}"),
        value => format!("{name}={value}"),
    });
    words.collect::<Vec<_>>().join(", ")
}
