//! What goes into a handler and what comes out of it, independent of any HTTP library's server.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use serde_json::Value;

/// A request as the wire gave it: the path still encoded, the body whole.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) query: Option<String>,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Request {
    /// The value of a header, if it is there once and is text.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.get_all(name).iter();
        let value = values.next()?.to_str().ok()?;
        values.next().is_none().then_some(value)
    }

    /// The media type of the body without its parameters, in lower case.
    pub(crate) fn media_type(&self) -> Option<String> {
        let value = self.header(header::CONTENT_TYPE.as_str())?;
        let essence = value.split(';').next().unwrap_or_default();
        Some(essence.trim().to_ascii_lowercase())
    }
}

/// A reply, and what becomes of it on the way.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) fate: Fate,
}

/// What happens to a reply between the handler and the caller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fate {
    pub(crate) delay: Duration,
    pub(crate) ending: Ending,
}

/// How the exchange ends on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The reply arrives whole.
    #[default]
    Delivered,
    /// The connection closes before the first byte of the reply.
    Closed,
    /// The connection closes in the middle of the body.
    Broken,
}

impl Reply {
    pub(crate) fn json(status: u16, body: &Value) -> Reply {
        let mut reply = Reply::empty(status);
        reply.body = Bytes::from(body.to_string());
        reply.set(header::CONTENT_TYPE, "application/json");
        reply
    }

    pub(crate) fn ok(body: &Value) -> Reply {
        Reply::json(200, body)
    }

    pub(crate) fn empty(status: u16) -> Reply {
        Reply {
            status: StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
            headers: HeaderMap::new(),
            body: Bytes::new(),
            fate: Fate::default(),
        }
    }

    /// Sets a header; a value that cannot be one is left out.
    pub(crate) fn set(&mut self, name: HeaderName, value: &str) {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.headers.insert(name, value);
        }
    }

    pub(crate) fn with(mut self, name: HeaderName, value: &str) -> Reply {
        self.set(name, value);
        self
    }
}
