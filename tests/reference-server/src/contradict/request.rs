//! Requests that are judged otherwise, and paths that are elsewhere.

use http::Method;
use jiff::Timestamp;
use serde_json::json;

use super::Assumption::{A02, A08, A74, A85};
use crate::app::App;
use crate::auth;
use crate::call::Call;
use crate::generated::operations::Operation;
use crate::message::{Reply, Request};
use crate::refusal::Refusal;
use crate::schema;
use crate::served::Served;
use crate::suite::Suite;

/// Where tokens come from, if not from where they are assumed to come from.
const ELSEWHERE: &str = "/identity/token";

/// The path of the token endpoint.
pub(crate) fn token_path(suite: &Suite) -> &'static str {
    if suite.contradicts(A02) {
        ELSEWHERE
    } else {
        Operation::ExchangeToken.path()
    }
}

/// The path by which an operation is known.
pub(crate) fn path<'p>(suite: &Suite, app: App, path: &'p str) -> Result<&'p str, Refusal> {
    let assumed = Operation::ExchangeToken.path();
    if app != App::Platform || !suite.contradicts(A02) {
        Ok(path)
    } else if path == ELSEWHERE {
        Ok(assumed)
    } else if path == assumed {
        Err(Refusal::not_found("no such path"))
    } else {
        Ok(path)
    }
}

/// What says where tokens come from (RFC 8414), where nobody could guess it.
pub(crate) fn page(suite: &Suite, app: App, request: &Request) -> Option<Reply> {
    let asked =
        request.method == Method::GET && request.path == "/.well-known/oauth-authorization-server";
    let found = || json!({"issuer": suite.origin(app), "token_endpoint": suite.token_url()});
    let known = asked && app == App::Platform && suite.contradicts(A02);
    known.then(|| Reply::ok(&found()))
}

/// Why a page is not for this caller.
pub(crate) fn bars(suite: &Suite, app: App, request: &Request, now: Timestamp) -> Option<Refusal> {
    let read = request.method == Method::GET || request.method == Method::HEAD;
    let barred = read && request.path == "/openapi.yaml" && suite.contradicts(A85);
    barred
        .then(|| auth::authenticate(suite, app, request, now).err())
        .flatten()
}

/// Whether an operation that needs a token needs none.
pub(crate) fn is_open(suite: &Suite, operation: Served<'_>) -> bool {
    operation.written() == Some(Operation::GetAccountingReadiness) && suite.contradicts(A08)
}

/// Refuses a parameter that the operation does not have.
pub(crate) fn check_query(call: &Call<'_>) -> Result<(), Refusal> {
    let Some(operation) = call
        .operation
        .written()
        .filter(|_| call.suite.contradicts(A74))
    else {
        return Ok(());
    };
    let described = schema::built_in(operation.app()).operation(operation.id());
    let known = |name: &str| described.is_some_and(|described| described.takes("query", name));
    let unknown = call.query.names().find(|name| !known(name));
    unknown.map_or(Ok(()), |name| {
        Err(Refusal::invalid(format!("{name}: unknown parameter")))
    })
}
