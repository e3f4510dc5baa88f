//! Worlds in which an assumption of the register does not hold.
//!
//! Here, finished replies are rewritten, and requests are judged where one line of the server could not say it. Elsewhere
//! the server asks [`Suite::contradicts`]. A contract that a test brought along is served as it stands.

mod assumption;
mod request;

use std::collections::BTreeMap;

use bytes::Bytes;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

pub(crate) use assumption::table;
pub use assumption::{Assumption, UnknownAssumption};
pub(crate) use request::{bars, check_query, is_open, page, path, token_path};

use Assumption::{A05, A06, A07, A09, A10, A11, A46, A49, A53, A55, A72, A76, A82};

use crate::app::App;
use crate::generated::operations::Operation;
use crate::message::Reply;
use crate::params::Query;
use crate::served::Served;
use crate::suite::{Suite, Visit};

/// The members of an object. What is not rewritten stays as written: amounts keep their digits.
type Members = BTreeMap<String, Box<RawValue>>;

/// Members of successful replies that have another name.
const RENAMED: [(Assumption, &[Operation], &str, &str); 4] = [
    (A05, &[Operation::ExchangeToken], "access_token", "token"),
    (
        A07,
        &[
            Operation::ListPeople,
            Operation::ListOrganizations,
            Operation::ListTasks,
            Operation::ListIntakeSubmissions,
            Operation::GetPersonTimeline,
        ],
        "items",
        "data",
    ),
    (A46, &[Operation::GetCrmMetadata], "version", "apiVersion"),
    (
        A76,
        &[
            Operation::Search,
            Operation::GetActors,
            Operation::ListFinancialCounterparties,
            Operation::ListInvoices,
            Operation::ListApps,
        ],
        "items",
        "results",
    ),
];

impl Suite {
    /// Whether this server is a world in which an assumption does not hold.
    pub(crate) fn contradicts(&self, assumption: Assumption) -> bool {
        self.settings.contradicted.contains(&assumption)
    }
}

/// A reply as it is in the worlds of this server.
pub(crate) fn rewrite(visit: &Visit<'_>, mut reply: Reply) -> Reply {
    let brought = matches!(visit.operation, Some(Served::Brought(_)));
    if visit.suite.settings.contradicted.is_empty() || brought {
        return reply;
    }
    let operation = visit.operation.and_then(Served::written);
    let success = reply.status.is_success();
    if operation == Some(Operation::GetAccountingOverview) && success {
        if visit.suite.contradicts(A09) {
            return Reply::empty(204);
        }
        if visit.suite.contradicts(A82) {
            reply.body = [b"[", &*reply.body, b"]"].concat().into();
            return reply;
        }
    }
    let Ok(mut members) = serde_json::from_slice(&reply.body) else {
        return reply;
    };
    let changed = match operation {
        Some(operation) if success => succeeded(visit, operation, &mut members),
        _ if success => None,
        _ => refused(visit, reply.status.as_u16(), &mut members),
    };
    if changed.is_some() {
        reply.body = Bytes::from(serde_json::to_vec(&members).expect("members are JSON"));
    }
    reply
}

/// Rewrites a success, or says that it stays.
fn succeeded(visit: &Visit<'_>, operation: Operation, members: &mut Members) -> Option<()> {
    let contradicts = |assumption| visit.suite.contradicts(assumption);
    let mut changed = None;
    for (assumption, operations, name, other) in RENAMED {
        if contradicts(assumption) && operations.contains(&operation) {
            changed = rename(members, name, other).or(changed);
        }
    }
    let query = || Query::parse(visit.request.query.as_deref());
    if contradicts(A53) && query().names().all(|name| name != "cursor") {
        let emptied = edit(members, "nextCursor", |next| {
            if next.is_string() {
                *next = json!("");
            }
        });
        changed = emptied.or(changed);
    }
    let edited = match operation {
        Operation::GetToday => edit(members, "attention", |attention| {
            for item in attention.as_array_mut().into_iter().flatten() {
                for (assumption, place, other) in [
                    (A10, "/owner/displayName", as_object as fn(&mut Value)),
                    (A11, "/owner/publicReference", lower),
                    (A49, "/recordVersion", |version| {
                        *version = json!(1_u64 << 63);
                    }),
                ] {
                    let wanted = contradicts(assumption);
                    item.pointer_mut(place).filter(|_| wanted).map(other);
                }
            }
        }),
        Operation::GetPresentation if contradicts(A10) => {
            edit(members, "navigation", |navigation| {
                for section in navigation["sections"].as_array_mut().into_iter().flatten() {
                    section.get_mut("label").map(as_object);
                }
            })
        }
        Operation::GetIntakeSubmission if contradicts(A11) => {
            edit(members, "publicReference", lower)
        }
        _ => None,
    };
    edited.or(changed)
}

/// Rewrites an error body, or says that it stays.
fn refused(visit: &Visit<'_>, status: u16, members: &mut Members) -> Option<()> {
    let contradicts = |assumption| visit.suite.contradicts(assumption);
    let mut changed = None;
    if visit.app == App::Platform {
        let error = members.get("error")?.get();
        let plain = error.starts_with('"') && error != "\"invalid_target\"";
        if contradicts(A06) && plain {
            changed = rename(members, "error", "reason");
            rename(members, "error_description", "detail");
        }
        return changed;
    }
    if contradicts(A55) {
        changed = edit(members, "code", |code| *code = status.into());
    }
    if contradicts(A72) {
        let whole = to_raw_value(members).ok()?;
        *members = Members::from([("error".to_owned(), whole)]);
        changed = Some(());
    }
    changed
}

fn rename(members: &mut Members, name: &str, other: &str) -> Option<()> {
    let member = members.remove(name)?;
    members.insert(other.to_owned(), member);
    Some(())
}

fn edit(members: &mut Members, name: &str, edit: impl FnOnce(&mut Value)) -> Option<()> {
    let member = members.get_mut(name)?;
    let mut value = serde_json::from_str(member.get()).ok()?;
    edit(&mut value);
    *member = to_raw_value(&value).ok()?;
    Some(())
}

fn as_object(text: &mut Value) {
    *text = json!({"text": text.take()});
}

fn lower(reference: &mut Value) {
    if let Some(text) = reference.as_str() {
        *reference = text.to_lowercase().replace('-', "_").into();
    }
}
