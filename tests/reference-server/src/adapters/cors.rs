//! Cross-origin resource sharing (CORS): the origins whose pages may call the applications.
//!
//! A page sends its token in a header and never in a cookie. So even `*` gives a page no right that it doesn't already
//! have.

use http::Method;
use http::header::{self, HeaderMap, HeaderValue};

use crate::base::Base;
use crate::builder::Builder;
use crate::message::{Reply, Request};

const ANY: &str = "*";

const METHODS: &str = "GET, HEAD, POST, PUT, PATCH, DELETE";

/// The request headers of the contract. A page may also send the headers that its browser asks for.
const HEADERS: &str = "authorization, content-type, idempotency-key";

/// Parses the setting into the form that browsers send in `Origin`.
pub(crate) fn origin(value: &str) -> Result<String, String> {
    if value == ANY {
        return Ok(ANY.to_owned());
    }
    let base = Base::read("cors", value);
    let base = base.ok().filter(|base| base.origin() == base.url);
    let base = base.filter(|_| !value.ends_with('/'));
    base.map(|base| base.url).ok_or_else(|| {
        let rule = "must be * or an origin: http:// or https://, a host and a port, if any, without a path";
        format!("cors: {rule}: got {value:?}")
    })
}

pub(super) fn preflight(settings: &Builder, request: &Request) -> Option<Reply> {
    let headers = &request.headers;
    let asks = headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    if request.method != Method::OPTIONS || !asks || allowed(settings, headers).is_none() {
        return None;
    }
    let wanted = request.header(header::ACCESS_CONTROL_REQUEST_HEADERS.as_str());
    let named = wanted.map_or(HEADERS.to_owned(), |wanted| format!("{HEADERS}, {wanted}"));
    let reply = Reply::empty(204).with(header::ACCESS_CONTROL_ALLOW_METHODS, METHODS);
    Some(reply.with(header::ACCESS_CONTROL_ALLOW_HEADERS, &named))
}

/// Lets the page that sent a request read the response, whatever its status.
pub(super) fn share(settings: &Builder, headers: &HeaderMap, reply: &mut Reply) {
    if settings.origins.is_empty() {
        return;
    }
    let sent = &mut reply.headers;
    sent.append(header::VARY, HeaderValue::from_static("Origin"));
    if let Some(origin) = allowed(settings, headers) {
        sent.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        sent.insert(
            header::ACCESS_CONTROL_EXPOSE_HEADERS,
            HeaderValue::from_static("*"),
        );
    }
}

/// Returns the origin of the page that sent a request, if the settings allow it.
fn allowed<'r>(settings: &Builder, headers: &'r HeaderMap) -> Option<&'r HeaderValue> {
    let origin = headers.get(header::ORIGIN)?;
    let fits = |one: &String| one == ANY || one.as_bytes() == origin.as_bytes();
    settings.origins.iter().any(fits).then_some(origin)
}
