//! The input and output of a handler, independent of any HTTP library.

use std::time::Duration;

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Version, header};
use serde::{Deserialize, Serialize};

/// The length limit of bodies for the applications, and the default for the control endpoint.
pub(crate) const LONGEST_BODY: usize = 1 << 20;

/// The limit of headers in a response. `HeaderMap` panics beyond about 24,000, and the server adds some of its own.
pub(crate) const MOST_HEADERS: usize = 20_000;

/// A complete request. The path is still percent-encoded.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: Method,
    /// Determines whether the request must have a `Host` header.
    pub(crate) version: Version,
    pub(crate) path: String,
    pub(crate) query: Option<String>,
    /// The host in the request target. Most requests have it only in a header.
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

    /// Returns the value of a header that occurs exactly once and is a string.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.get_all(name).iter();
        let value = values.next()?.to_str().ok()?;
        values.next().is_none().then_some(value)
    }

    /// Returns the media type of the body in lower case, without its parameters.
    pub(crate) fn media_type(&self) -> Option<String> {
        let value = self.header(header::CONTENT_TYPE.as_str())?;
        let essence = value.split(';').next().unwrap_or_default();
        Some(essence.trim().to_ascii_lowercase())
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) fate: Fate,
}

/// The delivery of a response, from the handler to the caller.
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

    /// Rejects a negative duration, or a duration that exceeds the clock's range.
    fn try_from(seconds: f64) -> Result<Seconds, String> {
        Duration::try_from_secs_f64(seconds)
            .ok()
            .filter(|duration| i64::try_from(duration.as_millis()).is_ok())
            .map(Seconds)
            .ok_or_else(|| format!("{seconds} is not a duration in seconds"))
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Ending {
    #[default]
    Delivered,
    /// The connection closes before the first byte of the response.
    Closed,
    /// The connection closes in the middle of the body.
    Broken,
    /// The connection stays open without a response.
    Stalled,
}

impl Reply {
    pub(crate) fn json(status: u16, body: &(impl Serialize + ?Sized)) -> Reply {
        let body = serde_json::to_vec(body).expect("response bodies serialize to JSON");
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

    /// Sets a header. An invalid value or a header beyond the limit is skipped.
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
