//! Routes requests of a port or an origin to an application or the control endpoint, on sockets and in memory.

use std::error::Error;
use std::fmt::Display;
use std::io;
use std::pin::Pin;

use bytes::Bytes;
use http::header::{self, HeaderMap};
use http::{Method, StatusCode};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Body;

use super::body::ResponseBody;
use super::{cors, headers};
use crate::app::App;
use crate::control;
use crate::message::{Ending, LONGEST_BODY, Reply, Request};
use crate::refusal::Refusal;
use crate::suite::Suite;

/// The target of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Door {
    App(App),
    Control,
}

impl Door {
    pub(super) fn answer(self, suite: &Suite, request: &Request) -> Reply {
        let Door::App(app) = self else {
            return control::answer(suite, request);
        };
        let preflight = cors::preflight(&suite.settings, request);
        let mut reply = preflight.unwrap_or_else(|| suite.handle(app, request));
        cors::share(&suite.settings, &request.headers, &mut reply);
        reply
    }

    /// Returns the length limit of request bodies, in bytes.
    pub(super) fn longest_body(self, suite: &Suite) -> usize {
        match self {
            Door::App(_) => LONGEST_BODY,
            Door::Control => suite.settings.data_limit,
        }
    }

    /// Responds to a request whose body did not arrive completely. The request is neither recorded nor counted.
    pub(super) fn unread(self, suite: &Suite, headers: &HeaderMap, problem: &io::Error) -> Reply {
        let refusal = match problem.kind() {
            io::ErrorKind::TimedOut => {
                Refusal::new(408, "request_timeout", "the body did not arrive in time")
            }
            io::ErrorKind::FileTooLarge => {
                let settable = match self {
                    Door::App(_) => "",
                    Door::Control => "; --data-limit or Builder::data_limit sets the limit",
                };
                Refusal::new(413, "content_too_large", format!("{problem}{settable}"))
            }
            _ => Refusal::invalid(format!("the body is not framed correctly: {problem}")),
        };
        let mut reply = match self {
            Door::App(app) => refusal.into_reply(app, "none"),
            Door::Control => control::refused(&refusal),
        };
        if self != Door::Control {
            cors::share(&suite.settings, headers, &mut reply);
        }
        reply.with(header::CONNECTION, "close")
    }
}

/// Reads a body within the time limit of the settings. Rejects a body that has or declares more than `longest` bytes.
pub(super) async fn receive<B>(
    suite: &Suite,
    longest: usize,
    headers: &HeaderMap,
    body: Pin<&mut B>,
) -> io::Result<Bytes>
where
    B: Body<Error: Into<Box<dyn Error + Send + Sync>>>,
{
    let declared = headers.get(header::CONTENT_LENGTH);
    let declared = declared.and_then(|length| length.to_str().ok()?.parse().ok());
    let declared = declared.unwrap_or(body.size_hint().lower());
    if declared > longest as u64 {
        return Err(too_long(longest, declared));
    }
    let whole = Limited::new(body, longest).collect();
    match tokio::time::timeout(suite.settings.read_timeout, whole).await? {
        Ok(whole) => Ok(whole.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(too_long(longest, "more")),
        Err(error) => Err(io::Error::other(error)),
    }
}

pub(super) fn too_long(longest: usize, length: impl Display) -> io::Error {
    let problem = format!("the body: must have at most {longest} bytes: got {length}");
    io::Error::new(io::ErrorKind::FileTooLarge, problem)
}

/// Delivers a response after its scripted delay, without the content for `HEAD`. An error closes the connection.
pub(super) async fn deliver(
    suite: &Suite,
    mut reply: Reply,
    to: &Method,
) -> io::Result<http::Response<ResponseBody>> {
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
    let mut response = http::Response::new(ResponseBody::of(&reply));
    *response.status_mut() = reply.status;
    *response.headers_mut() = reply.headers;
    Ok(response)
}
