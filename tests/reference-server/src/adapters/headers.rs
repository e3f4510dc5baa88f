//! Adds the headers that HTTP libraries add, for messages that never pass through a library.

use http::StatusCode;
use http::header::{self, HeaderMap, HeaderValue};
use hyper::body::Body;
use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimePrinter;

use super::body::ResponseBody;
use crate::message::Request;

/// Adds the `Host` header that a client would send.
pub(super) fn name_host<B>(request: &mut http::Request<B>) {
    let authority = request.uri().authority();
    let host = authority.and_then(|authority| authority.as_str().rsplit('@').next());
    if let Some(Ok(host)) = host.map(HeaderValue::from_str) {
        request.headers_mut().entry(header::HOST).or_insert(host);
    }
}

/// Adds the `Content-Length` header that a client would send.
pub(super) fn announce_length(request: &mut Request) {
    if !request.body.is_empty() {
        let length = HeaderValue::from(request.body.len());
        let known = request.headers.entry(header::CONTENT_LENGTH);
        known.or_insert(length);
    }
}

/// Adds `Date` by the server's clock. An HTTP library would use the machine's clock.
pub(super) fn date(headers: &mut HeaderMap, now: Timestamp) {
    let date = DateTimePrinter::new().timestamp_to_rfc9110_string(&now);
    if let Ok(Ok(date)) = date.map(HeaderValue::try_from) {
        headers.entry(header::DATE).or_insert(date);
    }
}

/// Adds the headers that a server's HTTP library would add, and removes the content where HTTP allows none.
pub(super) fn complete(response: &mut http::Response<ResponseBody>) {
    let status = response.status();
    let bare = status.is_informational()
        || matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED);
    let length = response.body().size_hint().exact().filter(|_| !bare);
    if bare {
        *response.body_mut() = ResponseBody::default();
    }
    if let Some(length) = length {
        let announced = response.headers_mut().entry(header::CONTENT_LENGTH);
        announced.or_insert(HeaderValue::from(length));
    }
}
