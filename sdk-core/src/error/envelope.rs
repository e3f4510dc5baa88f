//! Reads error bodies leniently.

use serde_json::Value;

use crate::secret::confidential::Confidential;
use crate::text::Line;

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
        let Ok(Value::Object(top)) = serde_json::from_slice(body) else {
            return Self::default();
        };
        let error = top.get("error");
        let nested = error.and_then(Value::as_object);
        let text = |name: &str| {
            nested
                .and_then(|error| error.get(name))
                .or_else(|| top.get(name))
                .and_then(Value::as_str)
                .map(str::to_owned)
        };
        Self {
            code: text("code").or_else(|| error.and_then(Value::as_str).map(str::to_owned)),
            message: text("message").or_else(|| text("error_description")),
            request_id: text("requestId"),
            retryable: nested
                .and_then(|error| error.get("retryable"))
                .and_then(Value::as_bool),
        }
    }

    /// The same as bounded lines, with confidential text redacted.
    pub(crate) fn shown(self, confidential: &Confidential) -> Self {
        let line =
            |line: Line, text: Option<String>| text.map(|text| confidential.line(line, &text));
        Self {
            code: line(Line::Code, self.code),
            message: line(Line::Message, self.message),
            request_id: line(Line::RequestId, self.request_id),
            retryable: self.retryable,
        }
    }
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
