//! Requests whose checks or paths differ under a contradicted assumption.

use http::Method;
use jiff::Timestamp;

use super::Assumption::{A02, A08, A74, A85};
use crate::app::App;
use crate::auth;
use crate::message::Request;
use crate::params::Query;
use crate::refusal::Refusal;
use crate::schema::{EXCHANGE, Served};
use crate::suite::Suite;

/// Returns the path under which the contract knows an operation.
pub(crate) fn path<'p>(suite: &Suite, app: App, path: &'p str) -> Result<&'p str, Refusal> {
    let elsewhere = app == App::Platform && suite.contradicts(A02);
    match path {
        "/identity/token" if elsewhere => Ok(EXCHANGE),
        EXCHANGE if elsewhere => Err(Refusal::not_found("no such path")),
        path => Ok(path),
    }
}

/// Rejects a request for a page that this server protects with a token (A85).
pub(crate) fn bars(suite: &Suite, app: App, request: &Request, now: Timestamp) -> Option<Refusal> {
    let read = request.method == Method::GET || request.method == Method::HEAD;
    let barred = read && request.path == "/openapi.yaml" && suite.contradicts(A85);
    let refusal = || auth::authenticate(suite, app, request, now).err();
    barred.then(refusal).flatten()
}

/// Whether this server opens an operation that otherwise needs a token (A08).
pub(crate) fn is_open(suite: &Suite, operation: &Served) -> bool {
    operation.app == App::Accounting && operation.path == "/ready" && suite.contradicts(A08)
}

/// Rejects a query parameter that the operation doesn't declare (A74).
pub(crate) fn check_query(
    suite: &Suite,
    operation: &Served,
    request: &Request,
) -> Result<(), Refusal> {
    if !suite.contradicts(A74) || operation.written.is_none() {
        return Ok(());
    }
    let query = Query::parse(request.query.as_deref());
    let unknown = query.names().find(|name| !operation.takes_query(name));
    let refusal = |name| Err(Refusal::invalid(format!("{name}: unknown parameter")));
    unknown.map_or(Ok(()), refusal)
}
