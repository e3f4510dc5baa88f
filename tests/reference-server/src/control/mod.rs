//! The control endpoint: the methods of [`ReferenceServer`](crate::ReferenceServer) over HTTP and JSON.
//!
//! `control.yaml` describes it, and its requests are routed and checked by that document. It has its own port on
//! loopback, because anyone who can reach it controls the server.

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

const DOCUMENT: &str = include_str!("control.yaml");

fn contract() -> &'static Contract {
    static READ: OnceLock<Contract> = OnceLock::new();
    READ.get_or_init(|| {
        // Every contract needs an application. Nothing here depends on the choice.
        let read = Contract::read(App::Platform, DOCUMENT);
        read.expect("a test reads the document")
    })
}

/// A test checks that every operation of the document has a handler.
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

pub(crate) fn answer(suite: &Suite, request: &Request) -> Reply {
    serve(suite, request)
        .unwrap_or_else(|refusal| refused(&refusal))
        .with(header::CACHE_CONTROL, "no-store")
}

pub(crate) fn refused(refusal: &Refusal) -> Reply {
    let reply = Reply::json(refusal.status, &json!({"error": refusal.message}));
    refusal.with_challenge(reply)
}

fn serve(suite: &Suite, request: &Request) -> Answer {
    let is_read = matches!(request.method, Method::GET | Method::HEAD);
    hosts::check(&suite.settings, request)?;
    if !is_read && is_foreign(request) {
        let message = "the control endpoint rejects commands from pages of other origins";
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

/// Whether a browser sent this request for a page of another origin. The server's own page has the origin of the
/// `Host` header, which was already checked.
fn is_foreign(request: &Request) -> bool {
    let host = request.header(header::HOST.as_str()).unwrap_or_default();
    let own = format!("http://{host}");
    let mut origins = request.headers.get_all(header::ORIGIN).iter();
    origins.any(|origin| origin.as_bytes() != own.as_bytes())
}
