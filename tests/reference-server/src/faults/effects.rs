//! What a fault does. The members of its JSON form are named as the methods of [`Fault`](super::Fault) are.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderName, HeaderValue};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::message::Drip;
use crate::seconds;

/// Headers that say where a message ends, or what becomes of the connection. hyper writes them, and gives up on others.
const FRAMING: [&str; 8] = [
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
    #[serde(
        rename = "delaySeconds",
        with = "seconds",
        skip_serializing_if = "Duration::is_zero"
    )]
    pub(super) delay: Duration,
    /// Answered with this status, without serving the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) status: Option<u16>,
    /// Served, and then answered with this status.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reply_after_commit_with: Option<u16>,
    #[serde(
        deserialize_with = "text_or_number",
        skip_serializing_if = "Option::is_none"
    )]
    pub(super) retry_after: Option<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) headers: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) body: Option<Replacement>,
    /// Closed without serving the request.
    #[serde(skip_serializing_if = "is_false")]
    pub(super) close_connection: bool,
    /// Served, and then closed.
    #[serde(skip_serializing_if = "is_false")]
    pub(super) lose_reply: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub(super) truncate_body: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub(super) break_body: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) drip_body: Option<Drip>,
    #[serde(skip_serializing_if = "is_false")]
    pub(super) revoke_token: bool,
    #[serde(
        rename = "tokenLifetimeSeconds",
        with = "seconds::optional",
        skip_serializing_if = "Option::is_none"
    )]
    pub(super) token_lifetime: Option<Duration>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) token_expires_in: Option<Value>,
    #[serde(skip_serializing_if = "is_false")]
    pub(super) omit_expires_in: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub(super) unknown_enum: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub(super) unknown_member: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) schema_suffix: Option<String>,
    /// After so many pages the cursors begin again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cursor_loop: Option<usize>,
}

impl Effects {
    pub(super) fn is_empty(&self) -> bool {
        *self == Effects::default()
    }

    /// What no reply can carry, by the name of its member.
    pub(super) fn check(&self) -> Result<(), String> {
        let statuses = [
            ("status", self.status),
            ("replyAfterCommitWith", self.reply_after_commit_with),
        ];
        for (member, status) in statuses {
            if let Some(status) = status.filter(|status| !(200..=599).contains(status)) {
                return Err(format!("{member}: {status} is no status of a reply"));
            }
        }
        if self.drip_body.is_some_and(|drip| drip.bytes == 0) {
            return Err("dripBody.bytes: at least 1 is needed".to_owned());
        }
        for (name, value) in &self.headers {
            let member = format!("headers.{name}");
            match HeaderName::from_bytes(name.as_bytes()) {
                Err(_) => return Err(format!("{member}: it is no name of a header")),
                Ok(name) if FRAMING.contains(&name.as_str()) => {
                    return Err(format!(
                        "{member}: it frames the message, which is for the server to do"
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

    /// Whether only hyper can do this.
    pub(super) fn breaks_the_wire(&self) -> bool {
        self.break_body || self.drip_body.is_some()
    }

    /// Whether this concerns the token that a request gets.
    pub(super) fn shapes_tokens(&self) -> bool {
        self.token_lifetime.is_some() || self.token_expires_in.is_some() || self.omit_expires_in
    }

    /// The effects in one line for people, such as `retryAfter=1, status=503`.
    pub(super) fn summary(&self) -> String {
        words(self)
    }
}

fn check_value(member: &str, value: &str) -> Result<(), String> {
    let checked = HeaderValue::from_str(value).map(drop);
    checked.map_err(|_| format!("{member}: {value:?} is no value of a header"))
}

/// A body in place of the true one; an empty media type leaves the header out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "Text", into = "Text")]
pub(super) struct Replacement {
    pub(super) content: Bytes,
    pub(super) media_type: String,
}

/// The JSON form of a [`Replacement`].
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Text {
    text: String,
    #[serde(default)]
    media_type: String,
}

impl From<Text> for Replacement {
    fn from(text: Text) -> Replacement {
        Replacement {
            content: text.text.into(),
            media_type: text.media_type,
        }
    }
}

impl From<Replacement> for Text {
    fn from(body: Replacement) -> Text {
        let text = String::from_utf8_lossy(&body.content).into_owned();
        Text {
            text,
            media_type: body.media_type,
        }
    }
}

/// `Retry-After` is a number as often as a text.
fn text_or_number<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "retryAfter is a text or a number")]
    enum Given {
        Text(String),
        Number(serde_json::Number),
    }
    Ok(Some(match Given::deserialize(from)? {
        Given::Text(text) => text,
        Given::Number(number) => number.to_string(),
    }))
}

#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_false(value: &bool) -> bool {
    !value
}

/// The members of an object in one line for people.
pub(super) fn words(of: &impl Serialize) -> String {
    let Ok(Value::Object(members)) = serde_json::to_value(of) else {
        return String::new();
    };
    let words = members.into_iter().map(|(name, value)| match value {
        Value::Bool(_) => name,
        Value::String(text) => format!("{name}={text}"),
        value => format!("{name}={value}"),
    });
    words.collect::<Vec<_>>().join(", ")
}
