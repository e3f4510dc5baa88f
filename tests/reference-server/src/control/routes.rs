//! The operations of the control endpoint.

use super::{clients, data, faults, openapi, seen, time, tokens};
use crate::call::Answer;
use crate::message::Request;
use crate::suite::Suite;

/// One operation.
pub(crate) struct Route {
    pub(crate) method: &'static str,
    /// Its path; one that ends in `{id}` has a parameter there.
    pub(crate) path: &'static str,
    pub(crate) summary: &'static str,
    /// The handler, by whose name it goes.
    pub(super) id: &'static str,
    /// The shape of the body that it takes, if it takes one.
    pub(super) takes: &'static str,
    /// The status of a success.
    pub(super) status: &'static str,
    /// The shape of what it gives; nothing for text.
    pub(super) gives: &'static str,
    /// A body that shows how it is used.
    pub(crate) example: &'static str,
    pub(super) run: fn(&Suite, &Request, &str) -> Answer,
}

/// A row per route, which rustfmt would spread over seven lines.
macro_rules! routes {
    ($($method:ident $path:literal => $run:path $([$takes:ident])?, $status:literal $($gives:ident)?,
        $summary:literal $(, $example:literal)?;)*) => {
        /// Every operation.
        pub(crate) const ROUTES: &[Route] = &[$(Route {
            method: stringify!($method),
            path: $path,
            summary: $summary,
            id: stringify!($run),
            takes: concat!($(stringify!($takes))?),
            status: stringify!($status),
            gives: concat!($(stringify!($gives))?),
            example: concat!($($example)?),
            run: $run,
        }),*];
    };
}

routes! {
    GET "/-/health" => seen::ready, 200 Ready, "Whether the server is ready.";
    GET "/-/openapi.yaml" => openapi::document, 200, "This endpoint as an OpenAPI document.";
    GET "/-/state" => seen::state, 200 State, "Addresses, time, data, tokens.";
    POST "/-/data" => data::load [Records], 201 References, "Adds records of your own, all or none, until the reset.",
        r#"{"people": [{"publicReference": "PER-0123456789AB", "displayName": "Ada Lovelace", "email": "ada@example.com"}]}"#;
    GET "/-/faults" => faults::list, 200 Faults, "The active faults, and how often each struck.";
    POST "/-/faults" => faults::add [FaultFile], 201 Faults, "Adds faults, all or none.",
        r#"{"faults": [{"operation": "listPeople", "when": {"times": 2}, "then": {"status": 503, "retryAfter": 1}}]}"#;
    DELETE "/-/faults" => faults::clear, 200 Faults, "Removes all faults.";
    DELETE "/-/faults/{id}" => faults::remove, 200 Faults, "Removes one fault.";
    GET "/-/fault-log" => faults::log, 200 FaultLog, "Which fault struck which request, and when.";
    GET "/-/clock" => time::now, 200 Time, "The server's time.";
    POST "/-/clock" => time::advance [Advance], 200 Time, "Moves the server's time forward: tokens age, tasks become overdue.",
        r#"{"advanceSeconds": 301}"#;
    GET "/-/tokens" => tokens::get, 200 Tokens, "The token settings, and how many tokens were issued.";
    POST "/-/tokens" => tokens::set [TokenSettings], 200 Tokens, "Changes the settings for tokens issued from now on.",
        r#"{"lifetimeSeconds": 30, "expiresIn": 3600}"#;
    POST "/-/tokens/revoke" => tokens::revoke, 200 Tokens, "Revokes every token issued so far.";
    POST "/-/clients" => clients::add [Client], 201 Added, "Adds a client, or replaces it; rights that are left out are granted in full.",
        r#"{"id": "reader", "secret": "s3cret", "scopes": ["crm:people:read"], "apps": ["crm"]}"#;
    GET "/-/clients" => clients::list, 200 Clients, "The clients and their rights, without their secrets.";
    DELETE "/-/clients/{id}" => clients::remove, 200 Clients, "Removes one client; its tokens are refused from now on.";
    GET "/-/counters" => seen::counters, 200 Counters, "Attempts and commits per operation.";
    GET "/-/requests" => seen::requests, 200 Requests, "The last requests, with secrets redacted.";
    GET "/-/requests/{id}" => seen::requests_for, 200 Requests, "The last requests for one operation, by its operationId in percent-encoding.";
    POST "/-/reset" => time::reset, 200 Time, "Sets everything back to the start: data, counts, requests, clients, faults, time. Tokens of before are refused.";
}

impl Route {
    /// The parameter in a path of this operation, empty if it has none; nothing if the path is another.
    pub(super) fn matches<'p>(&self, path: &'p str) -> Option<&'p str> {
        match self.path.strip_suffix("{id}") {
            // An operationId may have slashes.
            Some(stem) => path.strip_prefix(stem).filter(|rest| !rest.is_empty()),
            None => (path == self.path).then_some(""),
        }
    }
}
