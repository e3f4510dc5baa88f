//! The control endpoint: what a Rust test does through [`ReferenceServer`](crate::ReferenceServer), over HTTP and JSON.
//!
//! It has a separate port on loopback, since anyone who can reach it controls the server.

mod clients;
mod data;
mod faults;
mod guard;
mod openapi;
mod routes;
mod seen;
mod time;
mod tokens;

use http::{Method, header};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::call::Answer;
use crate::message::{Reply, Request};
use crate::pages;
use crate::refusal::Refusal;
use crate::suite::Suite;
use routes::ROUTES;

/// Answers one request at the control port.
pub(crate) fn answer(suite: &Suite, request: &Request) -> Reply {
    let reply = guard::check(suite, request).and_then(|()| serve(suite, request));
    reply
        .unwrap_or_else(|refusal| refused(&refusal))
        .with(header::CACHE_CONTROL, "no-store")
}

/// The error body of the control port.
pub(crate) fn refused(refusal: &Refusal) -> Reply {
    let reply = Reply::json(refusal.status, &json!({"error": refusal.message}));
    refusal.with_challenge(reply)
}

fn serve(suite: &Suite, request: &Request) -> Answer {
    let head = request.method == Method::HEAD;
    let method = if head { "GET" } else { request.method.as_str() };
    if request.path == "/" && method == "GET" {
        return Ok(pages::page(suite, None));
    }
    let mut allowed = Vec::new();
    for route in ROUTES {
        let Some(parameter) = route.matches(&request.path) else {
            continue;
        };
        if route.method == method {
            return (route.run)(suite, request, parameter);
        }
        allowed.push(route.method);
    }
    if allowed.is_empty() {
        return Err(Refusal::not_found("no such path; / lists all paths"));
    }
    if allowed.contains(&"GET") {
        allowed.push("HEAD");
    }
    Err(Refusal::method_not_allowed(allowed.join(", ")))
}

/// The JSON body of a request.
fn body<T: DeserializeOwned>(request: &Request) -> Result<T, Refusal> {
    let bytes = bytes(request)?;
    // A struct would take its members from an array, one after the other.
    if !bytes.trim_ascii_start().starts_with(b"{") {
        return Err(Refusal::invalid(
            "the body must be a JSON object".to_owned(),
        ));
    }
    let body = serde_json::from_slice(bytes);
    body.map_err(|error| Refusal::invalid(error.to_string()))
}

/// The body of a request, which must be declared as JSON: a page in a browser cannot do that across origins.
fn bytes(request: &Request) -> Result<&[u8], Refusal> {
    if request.media_type().as_deref() != Some("application/json") {
        let message = "Content-Type: must be application/json";
        return Err(Refusal::new(415, "unsupported_media_type", message));
    }
    Ok(&request.body)
}

fn ok(body: &impl Serialize) -> Answer {
    Ok(Reply::ok(body))
}
