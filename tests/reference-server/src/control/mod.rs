//! The control endpoint: what a Rust test does through [`ReferenceServer`](crate::ReferenceServer), over HTTP and JSON.
//!
//! It has a port of its own, on loopback, since whoever reaches it commands the server.

mod clients;
mod faults;
mod guard;
mod routes;
mod seen;
mod time;
mod tokens;

use std::fmt::Display;

use http::{Method, StatusCode, header};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::message::{Reply, Request};
use crate::pages;
use crate::suite::Suite;
pub(crate) use routes::ROUTES;

/// What a control operation gives: a reply, or why there is none.
type Outcome = Result<Reply, Problem>;

/// A status, and a sentence for the person at the other end.
#[derive(Debug)]
struct Problem(StatusCode, String);

impl Problem {
    #[allow(
        clippy::needless_pass_by_value,
        reason = "a reference would be one more `&` at each call"
    )]
    fn invalid(message: impl Display) -> Problem {
        Problem(StatusCode::BAD_REQUEST, message.to_string())
    }

    #[allow(clippy::needless_pass_by_value, reason = "as above")]
    fn not_found(message: impl Display) -> Problem {
        Problem(StatusCode::NOT_FOUND, message.to_string())
    }
}

/// Answers one request at the control port.
pub(crate) fn answer(suite: &Suite, request: &Request) -> Reply {
    let reply = guard::check(suite, request).and_then(|()| serve(suite, request));
    let reply = reply.unwrap_or_else(|Problem(status, message)| {
        Reply::json(status.as_u16(), &json!({"error": message}))
    });
    reply.with(header::CACHE_CONTROL, "no-store")
}

fn serve(suite: &Suite, request: &Request) -> Outcome {
    if request.path == "/" && request.method == Method::GET {
        return Ok(pages::control(suite));
    }
    let mut allowed = Vec::new();
    for route in ROUTES {
        let Some(parameter) = route.matches(&request.path) else {
            continue;
        };
        if route.method == request.method.as_str() {
            return (route.run)(suite, request, parameter);
        }
        allowed.push(route.method);
    }
    if allowed.is_empty() {
        return Err(Problem::not_found(
            "no such path; / lists those that there are",
        ));
    }
    let message = format!("this path has {}", allowed.join(", "));
    Err(Problem(StatusCode::METHOD_NOT_ALLOWED, message))
}

/// The JSON body of a request.
fn body<T: DeserializeOwned>(request: &Request) -> Result<T, Problem> {
    serde_json::from_slice(bytes(request)?).map_err(Problem::invalid)
}

/// The body of a request, which must say that it is JSON: a page in a browser cannot say so to another origin.
fn bytes(request: &Request) -> Result<&[u8], Problem> {
    if request.media_type().as_deref() != Some("application/json") {
        let message = "Content-Type: application/json is needed".to_owned();
        return Err(Problem(StatusCode::UNSUPPORTED_MEDIA_TYPE, message));
    }
    let body = request
        .body()
        .map_err(|_| Problem::invalid("the body is longer than 1 MiB"))?;
    Ok(body)
}

#[allow(
    clippy::unnecessary_wraps,
    reason = "all operations have one signature"
)]
fn ok(body: &impl Serialize) -> Outcome {
    Ok(Reply::ok(body))
}
