//! What a port or an origin leads to, and the way of a request through it: the same on a socket and in memory.

use std::error::Error;
use std::io;
use std::pin::pin;

use bytes::Buf;
use http::{Method, StatusCode, header};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Body;

use super::body::ReplyBody;
use super::headers;
use crate::app::App;
use crate::control;
use crate::message::{Ending, LONGEST_BODY, Reply, Request, RequestBody};
use crate::refusal::Refusal;
use crate::suite::Suite;

/// How much of an oversized body is read and discarded.
const LONGEST_SURPLUS: usize = 64 << 20;

/// What is behind a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Door {
    App(App),
    Control,
}

impl Door {
    pub(super) fn answer(self, suite: &Suite, request: &Request) -> Reply {
        match self {
            Door::App(app) => suite.handle(app, request),
            Door::Control => control::answer(suite, request),
        }
    }

    /// The reply to a request that did not arrive whole; it is neither recorded nor counted.
    pub(super) fn unread(self, problem: &io::Error) -> Reply {
        let refusal = if problem.kind() == io::ErrorKind::TimedOut {
            Refusal::new(408, "request_timeout", "the body did not arrive in time")
        } else {
            let message = format!("the body is not framed as HTTP says: {problem}");
            Refusal::invalid(message)
        };
        let reply = match self {
            Door::App(app) => refusal.into_reply(app, "none"),
            Door::Control => control::refused(&refusal),
        };
        reply.with(header::CONNECTION, "close")
    }
}

/// Reads a request whole, in the time that the settings allow for it.
pub(super) async fn receive<B>(suite: &Suite, incoming: http::Request<B>) -> io::Result<Request>
where
    B: Body<Error: Into<Box<dyn Error + Send + Sync>>>,
{
    let (parts, body) = incoming.into_parts();
    let body = tokio::time::timeout(suite.settings.read_timeout, read(body)).await??;
    Ok(Request {
        method: parts.method,
        version: parts.version,
        path: parts.uri.path().to_owned(),
        query: parts.uri.query().map(str::to_owned),
        authority: parts.uri.authority().map(ToString::to_string),
        headers: parts.headers,
        body,
    })
}

/// Hands a reply out, late if it must be, without its content to `HEAD`; an error closes the connection.
pub(super) async fn deliver(
    suite: &Suite,
    mut reply: Reply,
    to: &Method,
) -> io::Result<http::Response<ReplyBody>> {
    if !reply.fate.delay.is_zero() {
        tokio::time::sleep(reply.fate.delay).await;
    }
    match reply.fate.ending {
        Ending::Closed => return Err(io::ErrorKind::ConnectionReset.into()),
        Ending::Stalled => std::future::pending().await,
        Ending::Delivered | Ending::Broken => {}
    }
    headers::date(&mut reply.headers, suite.clock.now());
    if to == Method::HEAD {
        let length = reply.body.len().to_string();
        if reply.status != StatusCode::NO_CONTENT && reply.status != StatusCode::NOT_MODIFIED {
            reply.set(header::CONTENT_LENGTH, &length);
        }
        reply.body.clear();
    }
    let mut response = http::Response::new(ReplyBody::of(&reply));
    *response.status_mut() = reply.status;
    *response.headers_mut() = reply.headers;
    Ok(response)
}

/// Reads a body, keeping at most [`LONGEST_BODY`] in memory.
async fn read<B>(body: B) -> io::Result<RequestBody>
where
    B: Body<Error: Into<Box<dyn Error + Send + Sync>>>,
{
    let mut body = pin!(body);
    match Limited::new(body.as_mut(), LONGEST_BODY).collect().await {
        Ok(whole) => return Ok(RequestBody::Whole(whole.to_bytes())),
        Err(error) if error.is::<LengthLimitError>() => {}
        Err(error) => return Err(io::Error::other(error)),
    }
    // A client that is still writing does not read the refusal, so the rest is drained, within limits.
    let mut left = LONGEST_SURPLUS;
    while let Some(frame) = body.frame().await {
        let length = frame
            .ok()
            .and_then(|frame| Some(frame.data_ref()?.remaining()));
        match length.and_then(|length| left.checked_sub(length)) {
            Some(less) => left = less,
            None => break,
        }
    }
    Ok(RequestBody::TooLong)
}
