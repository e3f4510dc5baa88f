//! Behavior that contradicts an assumption of the SDK.
//!
//! This module rewrites finished responses. Other modules ask [`Suite::contradicts`]. A contract that a test supplies
//! is served unchanged.

mod assumption;
mod request;

use std::collections::BTreeMap;

use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

pub use assumption::{Assumption, UnknownAssumption};
pub(crate) use request::{bars, check_query, is_open, path};

use Assumption::{A05, A06, A07, A09, A10, A11, A46, A49, A53, A55, A72, A76, A82};

use crate::app::App;
use crate::message::Reply;
use crate::params::Query;
use crate::suite::Suite;
use crate::visit::Visit;

/// The fields of an object as raw JSON, so that unchanged amounts keep their digits.
type Members = BTreeMap<String, Box<RawValue>>;
type Change = fn(&mut Value);

const ASSUMED_PAGES: &str =
    "listPeople listOrganizations listTasks listIntakeSubmissions getPersonTimeline";
const UNDOCUMENTED_LISTS: &str =
    "search getActors listFinancialCounterparties listInvoices listApps";

/// Fields of successful responses that get another name, by operation.
const RENAMED: [(Assumption, &str, &str, &str); 4] = [
    (A05, "exchangeToken", "access_token", "token"),
    (A07, ASSUMED_PAGES, "items", "data"),
    (A46, "getCrmMetadata", "version", "apiVersion"),
    (A76, UNDOCUMENTED_LISTS, "items", "results"),
];

/// Fields of successful responses that get another value, in each item of an array.
const CHANGED: [(Assumption, &str, &str, Change); 5] = [
    (A10, "getToday", "attention/owner/displayName", object),
    (A10, "getPresentation", "navigation/sections/label", object),
    (A11, "getToday", "attention/owner/publicReference", lower),
    (A11, "getIntakeSubmission", "publicReference", lower),
    (A49, "getToday", "attention/recordVersion", beyond_64_bits),
];

impl Suite {
    pub(crate) fn contradicts(&self, assumption: Assumption) -> bool {
        self.settings.contradicted.contains(&assumption)
    }

    /// Returns `there` if this server contradicts the assumption, otherwise `here`.
    pub(crate) fn unless<T>(&self, contradicted: Assumption, here: T, there: T) -> T {
        if self.contradicts(contradicted) {
            there
        } else {
            here
        }
    }
}

pub(crate) fn rewrite(visit: &Visit<'_>, mut reply: Reply) -> Reply {
    let brought = visit.operation.is_some_and(|it| it.written.is_none());
    if visit.suite.settings.contradicted.is_empty() || brought {
        return reply;
    }
    let operation = visit.operation.map_or("", |it| &*it.id);
    if reply.status.is_success() && operation == "getAccountingOverview" {
        if visit.suite.contradicts(A09) {
            return Reply::empty(204);
        }
        if visit.suite.contradicts(A82) {
            reply.body = [b"[", &*reply.body, b"]"].concat().into();
        }
    }
    if let Ok(mut members) = serde_json::from_slice(&reply.body) {
        if reply.status.is_success() {
            succeeded(visit, operation, &mut members);
        } else {
            refused(visit, reply.status.as_u16(), &mut members);
        }
        reply.body = Reply::ok(&members).body;
    }
    reply
}

fn succeeded(visit: &Visit<'_>, operation: &str, members: &mut Members) {
    let contradicts = |assumption| visit.suite.contradicts(assumption);
    for (assumption, operations, name, other) in RENAMED {
        if contradicts(assumption) && operations.split(' ').any(|one| one == operation) {
            rename(members, name, other);
        }
    }
    for (assumption, of, place, other) in CHANGED {
        if contradicts(assumption) && of == operation {
            edit(members, place, other);
        }
    }
    let query = Query::parse(visit.request.query.as_deref());
    // The page of opportunities is documented, so no assumption is involved.
    let is_assumed = operation != "listOpportunities";
    if contradicts(A53) && is_assumed && query.names().all(|name| name != "cursor") {
        edit(members, "nextCursor", |next| {
            *next = next.as_str().map(|_| "").into();
        });
    }
}

fn refused(visit: &Visit<'_>, status: u16, members: &mut Members) {
    let contradicts = |assumption| visit.suite.contradicts(assumption);
    if visit.app == App::Platform {
        let error = members.get("error").map_or("", |error| error.get());
        if contradicts(A06) && error.starts_with('"') && error != "\"invalid_target\"" {
            rename(members, "error", "reason");
            rename(members, "error_description", "detail");
        }
        return;
    }
    if contradicts(A55) {
        edit(members, "code", |code| {
            // This code is documented.
            if code != "IDEMPOTENCY_CONFLICT" {
                *code = status.into();
            }
        });
    }
    if contradicts(A72) {
        let body = to_raw_value(members).expect("fields are JSON");
        *members = Members::from([("error".to_owned(), body)]);
    }
}

fn rename(members: &mut Members, name: &str, other: &str) {
    if let Some(member) = members.remove(name) {
        members.insert(other.to_owned(), member);
    }
}

fn edit(members: &mut Members, place: &str, other: impl Fn(&mut Value)) {
    let (name, below) = place.split_once('/').unwrap_or((place, ""));
    if let Some(member) = members.get_mut(name) {
        let mut value = json!(member);
        each(&mut value, below, &other);
        *member = to_raw_value(&value).expect("a value is JSON");
    }
}

fn each(value: &mut Value, place: &str, other: &impl Fn(&mut Value)) {
    let (name, below) = place.split_once('/').unwrap_or((place, ""));
    match value {
        value if place.is_empty() => other(value),
        Value::Array(items) => items.iter_mut().for_each(|item| each(item, place, other)),
        value => drop(value.get_mut(name).map(|member| each(member, below, other))),
    }
}

fn object(text: &mut Value) {
    *text = json!({"text": text.take()});
}

fn beyond_64_bits(version: &mut Value) {
    *version = json!(1_u64 << 63);
}

fn lower(reference: &mut Value) {
    let text = reference.as_str().map(str::to_lowercase);
    *reference = text.map(|text| text.replace('-', "_")).into();
}
