//! Reads error bodies leniently.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::secret::redactor::Redactor;
use crate::text::TextKind;

/// The longest error body that is parsed; a longer one is only kept raw.
const LARGEST: usize = 256 * 1024;

/// The members of an error body that the SDK understands.
///
/// Two shapes are documented: the Platform's `{"error": {"code", "message", "requestId", "retryable"}}`, and that of a token
/// endpoint, `{"error": "code", "error_description": "..."}` (RFC 6749 section 5.2). The contract does not show the bodies of
/// the other applications, so only a plain `code` and `message` are read from them.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Envelope {
    pub(crate) code: Option<String>,
    pub(crate) message: Option<String>,
    pub(crate) request_id: Option<String>,
    pub(crate) retryable: Option<bool>,
}

impl Envelope {
    /// Reads the body of an application.
    pub(crate) fn parse(is_shown: bool, body: &[u8]) -> Self {
        let read = Self::read(body);
        Self {
            // It decides nothing where the contract does not show it.
            retryable: read.retryable.filter(|_| is_shown),
            ..read
        }
    }

    /// Reads the body of a token endpoint, the Platform's or another one.
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

    /// Whether the same call may succeed later, by the body where that says so, else by the status.
    pub(crate) fn is_retryable(&self, status: u16) -> bool {
        // Assumed: A42 and A50. The contract documents none of them, and resending doesn't implement anything (501, 505).
        let passing = matches!(status, 408 | 429 | 500 | 502..=504 | 506..=599);
        match self.retryable {
            // No body makes a rejected request retryable.
            Some(retryable) => retryable && (passing || !(400..500).contains(&status)),
            None => passing,
        }
    }

    /// The same as bounded lines, with confidential text redacted.
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

/// The members of an object. Only those that are understood are read, since any other may hold what no type does.
type Members<'a> = BTreeMap<String, &'a RawValue>;

fn decoded<'a, T: Deserialize<'a>>(value: &'a RawValue) -> Option<T> {
    serde_json::from_str(value.get()).ok()
}

#[cfg(test)]
mod tests {
    use super::Envelope;

    #[test]
    fn the_platform_envelope_is_read_whole() {
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
    fn a_member_that_no_type_holds_hides_no_other() {
        let deep = "[".repeat(500) + &"]".repeat(500);
        for odd in ["1e999", r#""\ud800""#, &deep] {
            let body = format!(r#"{{"odd":{odd},"error":{{"code":"x","odd":{odd}}}}}"#);
            let envelope = Envelope::read(body.as_bytes());
            assert_eq!(envelope.code.as_deref(), Some("x"), "{odd}");
        }
    }

    #[test]
    fn other_bodies_never_fail() {
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
