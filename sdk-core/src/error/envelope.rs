//! Parses error bodies leniently.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::secret::redactor::Redactor;
use crate::text::TextKind;

/// The longest error body that is parsed. Longer bodies are only stored raw.
const LARGEST: usize = 256 * 1024;

/// The fields of an error body that the SDK understands.
///
/// The contract documents two shapes: the Platform's `{"error": {"code", "message", "requestId", "retryable"}}`, and
/// the token endpoint's `{"error": "code", "error_description": "..."}` (RFC 6749 section 5.2). The error bodies of the
/// other applications are undocumented, so only a plain `code` and `message` are read from them.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Envelope {
    pub(crate) code: Option<String>,
    pub(crate) message: Option<String>,
    pub(crate) request_id: Option<String>,
    pub(crate) retryable: Option<bool>,
}

impl Envelope {
    /// Parses an application's error body. `retryable` is used only if the contract documents the body
    /// (`is_documented`).
    pub(crate) fn parse(is_documented: bool, body: &[u8]) -> Self {
        let read = Self::read(body);
        Self {
            retryable: read.retryable.filter(|_| is_documented),
            ..read
        }
    }

    pub(crate) fn read(body: &[u8]) -> Self {
        if body.len() > LARGEST {
            return Self::default();
        }
        let Ok(top) = serde_json::from_slice::<Members<'_>>(body) else {
            return Self::default();
        };
        let error = top.get("error").copied();
        let nested: Option<Members<'_>> = error.and_then(decoded);
        let nested = nested.unwrap_or_default();
        let text = |name: &str| decoded(nested.get(name).or_else(|| top.get(name))?);
        Self {
            code: text("code").or_else(|| decoded(error?)),
            message: text("message").or_else(|| text("error_description")),
            request_id: text("requestId"),
            retryable: decoded(nested.get("retryable").unwrap_or(&RawValue::NULL)),
        }
    }

    /// Whether the same call may succeed later. The body's `retryable` decides, or else the status.
    pub(crate) fn is_retryable(&self, status: u16) -> bool {
        // Except for 503, the contract documents none of these statuses. 501 and 505 are not retryable, because the
        // server won't support the request later either (assumptions A42 and A50).
        let passing = matches!(status, 408 | 429 | 500 | 502..=504 | 506..=599);
        match self.retryable {
            // A body cannot make a rejected request retryable.
            Some(retryable) => retryable && (passing || !(400..500).contains(&status)),
            None => passing,
        }
    }

    /// Limits each field to one bounded line and redacts confidential strings.
    pub(crate) fn redacted(self, redactor: &Redactor) -> Self {
        let line =
            |kind: TextKind, text: Option<String>| text.map(|text| redactor.line(kind, &text));
        Self {
            code: line(TextKind::Code, self.code),
            message: line(TextKind::Message, self.message),
            request_id: line(TextKind::RequestId, self.request_id),
            retryable: self.retryable,
        }
    }
}

/// The fields of an object. They stay raw, because an unknown field may have a value that fits no Rust type.
type Members<'a> = BTreeMap<String, &'a RawValue>;

fn decoded<'a, T: Deserialize<'a>>(value: &'a RawValue) -> Option<T> {
    serde_json::from_str(value.get()).ok()
}

#[cfg(test)]
mod tests {
    use super::Envelope;

    #[test]
    fn the_platforms_error_body_is_parsed_completely() {
        let body = br#"{"error":{"code":"insufficient_scope","message":"no","requestId":"r1","retryable":false}}"#;
        let envelope = Envelope::parse(true, body);
        assert_eq!(envelope.code.as_deref(), Some("insufficient_scope"));
        assert_eq!(envelope.message.as_deref(), Some("no"));
        assert_eq!(envelope.request_id.as_deref(), Some("r1"));
        assert_eq!(envelope.retryable, Some(false));
        assert_eq!(Envelope::read(body), envelope);
        assert_eq!(Envelope::parse(false, body).retryable, None);
    }

    #[test]
    fn an_undecodable_field_does_not_hide_the_others() {
        let deep = "[".repeat(500) + &"]".repeat(500);
        for odd in ["1e999", r#""\ud800""#, &deep] {
            let body = format!(r#"{{"odd":{odd},"error":{{"code":"x","odd":{odd}}}}}"#);
            let envelope = Envelope::read(body.as_bytes());
            assert_eq!(envelope.code.as_deref(), Some("x"), "{odd}");
        }
    }

    #[test]
    fn other_bodies_are_ignored() {
        for body in [
            &b""[..],
            b"<html>",
            b"[1]",
            b"{\"error\":1}",
            b"\xff",
            b"{\"code\":7}",
        ] {
            assert_eq!(Envelope::parse(false, body), Envelope::default());
        }
        let rfc = Envelope::parse(
            true,
            br#"{"error":"invalid_client","error_description":"who?"}"#,
        );
        assert_eq!(
            (rfc.code.as_deref(), rfc.message.as_deref()),
            (Some("invalid_client"), Some("who?"))
        );
    }
}
