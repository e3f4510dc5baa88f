//! The control endpoint: what a Rust test does through [`ReferenceServer`](crate::ReferenceServer), over HTTP and JSON.
//!
//! `control.yaml` describes it. Requests are routed and checked by that document, as those of an application are by
//! theirs. It has a separate port on loopback, since anyone who can reach it controls the server.

mod access;
#[cfg(test)]
mod conformance;
mod seen;
mod steer;

use std::sync::OnceLock;

use http::{Method, header};
use serde_json::json;

use crate::app::App;
use crate::call::{Answer, Call, Handler};
use crate::message::{Reply, Request};
use crate::refusal::Refusal;
use crate::routing;
use crate::schema::{self, Contract};
use crate::suite::Suite;
use crate::token::exchange::Terms;
use crate::{hosts, pages};

/// The description of this endpoint.
const DOCUMENT: &str = include_str!("control.yaml");

fn contract() -> &'static Contract {
    static READ: OnceLock<Contract> = OnceLock::new();
    READ.get_or_init(|| {
        // An operation must have an application; nothing here depends on it.
        let read = Contract::read(App::Platform, DOCUMENT);
        read.expect("a test reads the document")
    })
}

/// The handler of an operation. A test finds one for each operation of the document.
fn handler(operation_id: &str) -> Option<Handler> {
    Some(match operation_id {
        "getHealth" => seen::health,
        "getDocument" => seen::document,
        "getState" => seen::state,
        "getCounters" => seen::counters,
        "listRequests" => seen::requests,
        "addData" => steer::add_data,
        "listFaults" => steer::faults,
        "addFaults" => steer::add_faults,
        "clearFaults" => steer::clear_faults,
        "removeFault" => steer::remove_fault,
        "getFaultLog" => steer::fault_log,
        "getClock" => steer::clock,
        "setClock" => steer::set_clock,
        "reset" => steer::reset,
        "getTokens" => access::tokens,
        "setTokens" => access::set_tokens,
        "revokeTokens" => access::revoke_tokens,
        "listClients" => access::clients,
        "addClient" => access::add_client,
        "removeClient" => access::remove_client,
        _ => return None,
    })
}

/// Answers one request at the control port.
pub(crate) fn answer(suite: &Suite, request: &Request) -> Reply {
    serve(suite, request)
        .unwrap_or_else(|refusal| refused(&refusal))
        .with(header::CACHE_CONTROL, "no-store")
}

/// The error body of the control port.
pub(crate) fn refused(refusal: &Refusal) -> Reply {
    let reply = Reply::json(refusal.status, &json!({"error": refusal.message}));
    refusal.with_challenge(reply)
}

fn serve(suite: &Suite, request: &Request) -> Answer {
    let is_read = matches!(request.method, Method::GET | Method::HEAD);
    hosts::check(&suite.settings, request)?;
    if !is_read && is_foreign(request) {
        let message = "this server takes no commands from a foreign page in a browser";
        return Err(Refusal::new(403, "foreign_origin", message));
    }
    if is_read && request.path == "/" {
        return Ok(pages::page(suite, None));
    }
    let operations = &contract().operations;
    let path = routing::plain(&request.path);
    let route = routing::route(operations, &request.method, &path)?;
    let (sent, broken) = schema::read(route.operation, request, &route.params);
    broken.refused()?;
    let call = Call {
        suite,
        operation: route.operation,
        request,
        sent,
        params: route.params,
        caller: None,
        terms: Terms::default(),
        now: suite.clock.now(),
    };
    let handler = handler(&call.operation.id);
    handler.expect("a test finds a handler for each operation")(&call)
}

/// Whether a browser sends this on behalf of a page that is not this server's: the own page names the host that the
/// request is for, which was found to be one of this server's.
fn is_foreign(request: &Request) -> bool {
    let host = request.header(header::HOST.as_str()).unwrap_or_default();
    let own = format!("http://{host}");
    let mut origins = request.headers.get_all(header::ORIGIN).iter();
    origins.any(|origin| origin.as_bytes() != own.as_bytes())
}
