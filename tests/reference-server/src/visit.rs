//! The path of a request through the server: faults before the operation, the operation, and faults after it.
//!
//! A `Request` is complete when it arrives here. Its `Route` has the operation. Faults match an `Arrival`. A `Visit`
//! is the request with its number and time. A `Call` is the handler's view, with the parsed values in `Sent`.
//!
//! | status | source |
//! |---|---|
//! | 400 | `schema/request.rs` and `schema/assumed.rs`; handlers and `cursor.rs` for rules that no schema expresses |
//! | 401, 403 | `auth.rs`; a foreign host in `hosts.rs`, a foreign page in `control/mod.rs` |
//! | 404, 405 | `routing.rs`; a record in `data/table.rs` |
//! | 408, 413, 400 for bad framing | `adapters/door.rs` |
//! | 501 | `Suite::route` for a contract that cannot be read, `schema/reply.rs` for a schema without a sample |

use std::sync::atomic::Ordering;
use std::time::Instant;

use http::{HeaderName, Method};
use jiff::Timestamp;

use crate::app::App;
use crate::call::{Call, Handler};
use crate::contradict;
use crate::contradict::Assumption::A44;
use crate::faults::{Arrival, Strike};
use crate::generated::handlers::handler;
use crate::hosts;
use crate::message::{Ending, Reply, Request};
use crate::refusal::Refusal;
use crate::routing::{self, Route};
use crate::schema::{self, Broken, Served};
use crate::suite::Suite;
use crate::token::discovery;
use crate::token::exchange::{self, Terms};
use crate::{auth, calendar, crm, pages, token};

/// The header that marks the responses of operations without a handler.
const FROM_SCHEMA: &str = "x-served-from-schema";

pub(crate) fn request_id(number: u64) -> String {
    format!("req-{number:08}")
}

#[derive(Clone, Copy)]
pub(crate) struct Visit<'a> {
    pub(crate) suite: &'a Suite,
    pub(crate) app: App,
    pub(crate) request: &'a Request,
    pub(crate) request_id: &'a str,
    pub(crate) now: Timestamp,
    pub(crate) operation: Option<&'a Served>,
}

impl Visit<'_> {
    /// Returns the error body of the application, or the error body that a test's document describes.
    pub(crate) fn refused(&self, refusal: Refusal) -> Reply {
        let code = refusal.code;
        let message = refusal.message.clone();
        let reply = refusal.into_reply(self.app, self.request_id);
        match self.operation {
            Some(operation) if operation.is_from_schema() => {
                schema::refused(operation, reply, code, &message)
            }
            _ => reply,
        }
    }
}

/// Adds the broken rules that the contract leaves open and this server assumes.
fn check_assumed(call: &Call<'_>, broken: &mut Broken) -> Result<(), Refusal> {
    if call.operation.is_from_schema() {
        return Ok(());
    }
    match &*call.operation.id {
        "listIntakeSubmissions" => crm::intake::check(call, broken),
        "submitCommand" => crm::commands::check(call, broken),
        "reviewIntakeSubmission" => crm::intake::check_review(call, broken),
        "submitEventCommand" => calendar::events::check(call, broken),
        _ => Ok(()),
    }
}

impl Suite {
    /// Returns the path without the prefix of the public URL. A proxy may have stripped the prefix already.
    fn inner<'p>(&self, app: App, method: &Method, path: &'p str) -> &'p str {
        let inner = self.base(app).below(path).unwrap_or(path);
        let is_own = || {
            self.route(app, method, path)
                .map_or_else(|no| no.status != 404, |_| true)
        };
        if inner.len() < path.len() && !is_own() {
            inner
        } else {
            path
        }
    }

    fn route(&self, app: App, method: &Method, path: &str) -> Result<Route<'_>, Refusal> {
        let contract = self.contract(app);
        let contract = contract.map_err(|why| Refusal::new(501, "no_schema", why))?;
        let path = &*routing::plain(path);
        let path = contradict::path(self, app, contract.path(path))?;
        routing::route(&contract.operations, method, path)
    }

    /// Requests for pages are not recorded. A request for a foreign host is recorded and has no effect.
    pub(crate) fn handle(&self, app: App, request: &Request) -> Reply {
        let begun = Instant::now();
        let inner = self.inner(app, &request.method, &request.path);
        let stripped = (inner != request.path).then(|| Request {
            path: inner.to_owned(),
            ..request.clone()
        });
        let request = stripped.as_ref().unwrap_or(request);
        let now = self.clock.now();
        let foreign = hosts::check(&self.settings, request).err();
        let barred = foreign.or_else(|| contradict::bars(self, app, request, now));
        if barred.is_none() {
            let page = pages::answer(self, app, request);
            if let Some(page) = page.or_else(|| discovery::page(self, app, request)) {
                return page;
            }
        }
        let number = self.requests.fetch_add(1, Ordering::Relaxed) + 1;
        let request_id = request_id(number);
        let routed = match barred {
            Some(refusal) => Err(refusal),
            None => self.route(app, &request.method, &request.path),
        };
        let operation = routed.as_ref().ok().map(|route| route.operation);
        let strike = match &routed {
            Ok(Route { operation, params }) => {
                self.counters.attempted(operation);
                let arrival = Arrival {
                    operation,
                    now,
                    request_id: &request_id,
                    params,
                    request: Some(request),
                    client: &|| auth::named_client(self, request),
                };
                self.faults.strike(&arrival)
            }
            Err(_) => Strike::default(),
        };
        let visit = Visit {
            suite: self,
            app,
            request,
            request_id: &request_id,
            now,
            operation,
        };
        let faults = strike.faults();
        let mut reply = self.answer(&visit, routed, strike);
        let named = self.unless(A44, "x-request-id", "x-correlation-id");
        reply.set(HeaderName::from_static(named), &request_id);
        if operation.is_some_and(Served::is_from_schema) {
            reply.set(HeaderName::from_static(FROM_SCHEMA), "true");
        }
        let answered = matches!(reply.fate.ending, Ending::Delivered | Ending::Broken);
        let status = answered.then_some(reply.status.as_u16());
        self.recorder.record(number, &visit, status);
        if let Some(log) = &self.log {
            log.write(number, &visit, status, begun, &faults);
        }
        reply
    }

    /// Whether a fault refuses the connection for a request.
    pub(crate) fn refuses(&self, app: App, method: &Method, path: &str) -> bool {
        let path = self.inner(app, method, path);
        let routed = || self.route(app, method, path).ok();
        let refused = |Route { operation, params }| {
            let arrival = Arrival {
                operation,
                now: self.clock.now(),
                request_id: "",
                params: &params,
                request: None,
                client: &|| None,
            };
            self.faults.refuse(&arrival)
        };
        self.faults.any() && routed().is_some_and(refused)
    }

    fn answer(
        &self,
        visit: &Visit<'_>,
        routed: Result<Route<'_>, Refusal>,
        mut strike: Strike,
    ) -> Reply {
        if strike.revokes_token() {
            auth::bearer(visit.request)
                .and_then(|token| token::jwt::verify(&self.token_key, token)?.number())
                .inspect(|number| self.registry().revoke(*number));
        }
        if let Some(reply) = strike.instead(visit) {
            return reply;
        }
        let reply = routed
            .and_then(|route| self.serve(visit, route, strike.terms()))
            .unwrap_or_else(|refusal| visit.refused(refusal));
        strike.after(visit, contradict::rewrite(visit, reply))
    }

    fn serve(&self, visit: &Visit<'_>, route: Route<'_>, terms: Terms) -> Result<Reply, Refusal> {
        let request = visit.request;
        let operation = route.operation;
        let protected = !operation.security.is_empty() && !contradict::is_open(self, operation);
        let caller = protected
            .then(|| auth::authorize(self, operation, request, visit.now))
            .transpose()?;
        contradict::check_query(self, operation, request)?;
        let written = operation.written;
        let (sent, mut broken) = schema::read(operation, request, &route.params);
        if written.is_some() && operation.is_exchange() && !broken.is_empty() {
            return Ok(exchange::rejected(&broken));
        }
        let call = Call {
            suite: self,
            operation,
            request,
            params: route.params,
            sent,
            caller,
            terms,
            now: visit.now,
        };
        check_assumed(&call, &mut broken)?;
        broken.refused()?;
        written.map_or(schema::serve as Handler, handler)(&call)
    }
}
