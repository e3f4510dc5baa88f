//! The operations of the control endpoint.

use super::{Outcome, clients, faults, seen, time, tokens};
use crate::message::Request;
use crate::suite::Suite;

/// One operation.
pub(crate) struct Route {
    pub(crate) method: &'static str,
    /// Its path; one that ends in `{id}` has a parameter there.
    pub(crate) path: &'static str,
    pub(crate) summary: &'static str,
    /// A body that shows how it is used.
    pub(crate) example: &'static str,
    pub(super) run: fn(&Suite, &Request, &str) -> Outcome,
}

/// Every operation.
pub(crate) const ROUTES: [Route; 17] = [
    route("GET", "/-/ready", "Whether it serves.", "", seen::ready),
    route(
        "GET",
        "/-/state",
        "Addresses, time, data, tokens.",
        "",
        seen::state,
    ),
    route(
        "GET",
        "/-/faults",
        "The faults in force, and how often each struck.",
        "",
        faults::list,
    ),
    route(
        "POST",
        "/-/faults",
        "Puts faults in force, all or none.",
        r#"{"faults": [{"operation": "listPeople", "when": {"times": 2}, "then": {"status": 503, "retryAfter": 1}}]}"#,
        faults::add,
    ),
    route(
        "DELETE",
        "/-/faults",
        "Takes all faults out of force.",
        "",
        faults::clear,
    ),
    route(
        "DELETE",
        "/-/faults/{id}",
        "Takes one fault out of force.",
        "",
        faults::remove,
    ),
    route(
        "GET",
        "/-/fault-log",
        "Which fault struck which request, and when.",
        "",
        faults::log,
    ),
    route("GET", "/-/clock", "The server's time.", "", time::now),
    route(
        "POST",
        "/-/clock",
        "Moves the server's time forward: tokens age, tasks become overdue.",
        r#"{"advanceSeconds": 301}"#,
        time::advance,
    ),
    route(
        "GET",
        "/-/tokens",
        "How tokens are issued, and how many were.",
        "",
        tokens::get,
    ),
    route(
        "POST",
        "/-/tokens",
        "Changes how tokens are issued from now on.",
        r#"{"lifetimeSeconds": 30, "expiresIn": 3600}"#,
        tokens::set,
    ),
    route(
        "POST",
        "/-/tokens/revoke",
        "Revokes every token issued so far.",
        "",
        tokens::revoke,
    ),
    route(
        "POST",
        "/-/clients",
        "Adds a client, or replaces it; what is left out is granted in full.",
        r#"{"id": "reader", "secret": "s3cret", "scopes": ["crm:people:read"], "apps": ["crm"]}"#,
        clients::add,
    ),
    route(
        "GET",
        "/-/counters",
        "Attempts and commits per operation.",
        "",
        seen::counters,
    ),
    route(
        "GET",
        "/-/requests",
        "The last requests, without their secrets.",
        "",
        seen::requests,
    ),
    route(
        "GET",
        "/-/requests/{id}",
        "The last requests for one operation, by its operationId.",
        "",
        seen::requests,
    ),
    route(
        "POST",
        "/-/reset",
        "Data, counts, faults and requests as at the start; clients and their tokens stay.",
        "",
        time::reset,
    ),
];

const fn route(
    method: &'static str,
    path: &'static str,
    summary: &'static str,
    example: &'static str,
    run: fn(&Suite, &Request, &str) -> Outcome,
) -> Route {
    Route {
        method,
        path,
        summary,
        example,
        run,
    }
}

impl Route {
    /// The parameter in a path of this operation, empty if it has none; nothing if the path is another.
    pub(super) fn matches<'p>(&self, path: &'p str) -> Option<&'p str> {
        match self.path.strip_suffix("{id}") {
            Some(stem) => path
                .strip_prefix(stem)
                .filter(|rest| !rest.is_empty() && !rest.contains('/')),
            None => (path == self.path).then_some(""),
        }
    }
}
