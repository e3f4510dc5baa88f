//! The input and output of a handler, independent of any HTTP library.

use std::time::Duration;

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Version, header};
use serde::{Deserialize, Serialize};

/// The longest body that an application accepts, and by default the control endpoint.
pub(crate) const LONGEST_BODY: usize = 1 << 20;

/// A reply has no more: the map of headers panics beyond some 24,000, and the server adds a few of its own.
pub(crate) const MOST_HEADERS: usize = 20_000;

/// A request as received: the path still encoded, the body complete.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: Method,
    /// Says whether the request must have a `Host`.
    pub(crate) version: Version,
    pub(crate) path: String,
    pub(crate) query: Option<String>,
    /// The host in the target, which most requests name in a header only.
    pub(crate) authority: Option<String>,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Request {
    pub(crate) fn new(head: Parts, body: Bytes) -> Request {
        Request {
            method: head.method,
            version: head.version,
            path: head.uri.path().to_owned(),
            query: head.uri.query().map(str::to_owned),
            authority: head.uri.authority().map(ToString::to_string),
            headers: head.headers,
            body,
        }
    }

    /// The value of a header that occurs exactly once and is text.
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

/// A reply, and how it is delivered.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) fate: Fate,
}

/// What happens to a reply between the handler and the caller.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Fate {
    pub(crate) delay: Duration,
    pub(crate) drip: Option<Drip>,
    pub(crate) ending: Ending,
}

/// A body that is sent in small pieces.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Drip {
    /// The size of a piece.
    pub(crate) bytes: usize,
    /// The pause between two pieces.
    #[serde(rename = "pauseSeconds")]
    pub(crate) pause: Seconds,
}

/// A duration whose JSON form is a number of seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub(crate) struct Seconds(pub(crate) Duration);

impl From<Seconds> for f64 {
    fn from(seconds: Seconds) -> f64 {
        seconds.0.as_secs_f64()
    }
}

impl TryFrom<f64> for Seconds {
    type Error = String;

    /// Refuses a negative duration, or one too long for the clock.
    fn try_from(seconds: f64) -> Result<Seconds, String> {
        Duration::try_from_secs_f64(seconds)
            .ok()
            .filter(|duration| i64::try_from(duration.as_millis()).is_ok())
            .map(Seconds)
            .ok_or_else(|| format!("{seconds} is not a duration in seconds"))
    }
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
    /// The connection stays open, and nothing comes.
    Stalled,
}

impl Reply {
    pub(crate) fn json(status: u16, body: &(impl Serialize + ?Sized)) -> Reply {
        let body = serde_json::to_vec(body).expect("replies are plain JSON");
        Reply::text(status, "application/json", body)
    }

    pub(crate) fn text(status: u16, media_type: &str, body: impl Into<Bytes>) -> Reply {
        let mut reply = Reply::empty(status);
        reply.body = body.into();
        reply.set(header::CONTENT_TYPE, media_type);
        reply
    }

    pub(crate) fn ok(body: &(impl Serialize + ?Sized)) -> Reply {
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

    /// Sets a header; an invalid value is skipped, and so is one too many.
    pub(crate) fn set(&mut self, name: HeaderName, value: &str) {
        if let Ok(value) = HeaderValue::from_str(value)
            && self.headers.len() < MOST_HEADERS
        {
            self.headers.insert(name, value);
        }
    }

    pub(crate) fn with(mut self, name: HeaderName, value: &str) -> Reply {
        self.set(name, value);
        self
    }
}
