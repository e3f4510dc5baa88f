//! A request, before it is sent.

use std::fmt::{self, Write as _};

use serde_json::Value;

#[derive(Clone)]
pub(crate) struct Request {
    pub(crate) path: String,
    pub(crate) query: Vec<(String, String)>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) media_type: Option<&'static str>,
    pub(crate) body: Vec<u8>,
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let body = String::from_utf8_lossy(&self.body);
        write!(
            f,
            "{} {:?} {:?} {body}",
            self.target(),
            self.headers,
            self.media_type
        )
    }
}

impl Request {
    /// The path with its query, everything encoded that could mean something else.
    pub(crate) fn target(&self) -> String {
        let mut target = self.path.clone();
        for (place, (name, value)) in self.query.iter().enumerate() {
            let joint = if place == 0 { '?' } else { '&' };
            let _ = write!(target, "{joint}{}={}", encoded(name), encoded(value));
        }
        target
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    pub(crate) fn with_json(&self, body: &Value) -> Request {
        Request {
            body: body.to_string().into_bytes(),
            ..self.clone()
        }
    }

    /// Without a parameter, and then with the given values of it.
    pub(crate) fn with_query(&self, name: &str, values: &[&str]) -> Request {
        let mut request = self.clone();
        request.query.retain(|(known, _)| known != name);
        request.query.extend(
            values
                .iter()
                .map(|value| (name.to_owned(), (*value).to_owned())),
        );
        request
    }

    pub(crate) fn with_header(&self, name: &str, values: &[&str]) -> Request {
        let mut request = self.clone();
        request.headers.retain(|(known, _)| known != name);
        request.headers.extend(
            values
                .iter()
                .map(|value| (name.to_owned(), (*value).to_owned())),
        );
        request
    }
}

pub(crate) fn encoded(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}
