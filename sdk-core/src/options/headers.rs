//! Which headers a caller may set.

use http::{HeaderName, HeaderValue, header};

use crate::error::Error;

/// The header of the idempotency key (contract, Endpoints / Calendar and Accounting).
pub(crate) const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// Headers that only the SDK sets.
const PROTECTED: [HeaderName; 22] = [
    header::AUTHORIZATION,
    header::PROXY_AUTHORIZATION,
    header::COOKIE,
    header::HOST,
    // `SuiteBuilder::user_agent` adds the program's name.
    header::USER_AGENT,
    // The form of body and reply.
    header::ACCEPT,
    header::ACCEPT_ENCODING,
    header::CONTENT_TYPE,
    header::CONTENT_LENGTH,
    header::CONTENT_ENCODING,
    // The connection to the next hop.
    header::TRANSFER_ENCODING,
    header::CONNECTION,
    header::EXPECT,
    header::TE,
    header::TRAILER,
    header::UPGRADE,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    HeaderName::from_static("http2-settings"),
    // They could turn a read into a command, or one command into another.
    HeaderName::from_static("x-http-method"),
    HeaderName::from_static("x-http-method-override"),
    HeaderName::from_static("x-method-override"),
];

/// Headers that servers are meant to repeat, so that people can find a request.
const CORRELATING: [&str; 4] = [
    "x-request-id",
    "x-correlation-id",
    "traceparent",
    "tracestate",
];

/// The most headers that a caller may add: far more than anybody needs, and far fewer than any server takes.
const MOST: usize = 128;

/// A header from a caller who has set `count` of them before.
pub(crate) fn parse(
    name: &str,
    value: &str,
    count: usize,
) -> Result<(HeaderName, HeaderValue), Error> {
    let refused = |rule: &str, found: &str| {
        let name = format!("header {name}");
        Err(Error::invalid(&name, rule, found))
    };
    let Ok(header) = name.parse::<HeaderName>() else {
        return refused("have a valid HTTP header name", "an invalid one");
    };
    if header == IDEMPOTENCY_KEY {
        return refused("be set with `idempotency_key` on the call", "a header");
    }
    if PROTECTED.contains(&header) {
        return refused("be left to the SDK", "one from the caller");
    }
    if count >= MOST {
        let rule = format!("be one of at most {MOST} headers");
        return refused(&rule, "one more");
    }
    match HeaderValue::from_str(value) {
        Ok(value) if value.to_str().is_ok() => Ok((header, value)),
        _ => refused("have only visible ASCII characters", "others"),
    }
}

/// Whether the value of a header may appear in texts, because servers are meant to repeat it.
pub(super) fn is_correlating(name: &HeaderName) -> bool {
    CORRELATING.contains(&name.as_str())
}
