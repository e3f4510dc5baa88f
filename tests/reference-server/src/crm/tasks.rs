//! Tasks, by default only the caller's tasks. The contract doesn't document the fields of an item.

use jiff::Timestamp;
use serde::Serialize;

use super::listing::{Needle, Page};
use crate::call::{Answer, Call};
use crate::data::tasks::Task;
use crate::data::{Brief, Store, Text};
use crate::message::Reply;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Item {
    public_reference: String,
    title: Text,
    status: Text,
    owner: Option<Brief>,
    due_at: Option<Timestamp>,
    opportunity_reference: Option<String>,
    created_at: Timestamp,
    updated_at: Timestamp,
    record_version: u64,
}

pub(crate) fn list(call: &Call<'_>) -> Answer {
    let (text, status) = (call.query("q"), call.query("status"));
    let all = call.query("owner") == Some("all");
    let caller = call.caller()?;
    let whose = if all { "all" } else { &caller.claims.actor };
    let page = Page::new(call, &[text, status, Some(whose)])?;
    let needle = Needle::new(text);
    let store = call.suite.store();
    let body = page.fill(
        &store.tasks,
        |_, task| {
            (all || task.owner == Some(caller.actor))
                && status.is_none_or(|status| task.status == status)
                && needle.is_in(&task.title)
        },
        |index, task| item(&store, index, task),
    );
    Ok(Reply::ok(&body))
}

fn item(store: &Store, index: u64, task: Task) -> Item {
    Item {
        public_reference: store.tasks.reference(index),
        title: task.title,
        status: task.status,
        owner: store.owner(task.owner),
        due_at: task.due_at,
        opportunity_reference: task.opportunity.map(|at| store.opportunities.reference(at)),
        created_at: task.created_at,
        updated_at: task.updated_at,
        record_version: task.version,
    }
}
