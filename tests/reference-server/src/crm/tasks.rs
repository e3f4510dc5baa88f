//! Tasks: the caller's own unless all are asked for. The members of an item are not shown.

use serde_json::{Value, json};

use super::listing::{Needle, Page, passes, search_text};
use crate::call::{Answer, Call};
use crate::data::Store;
use crate::data::tasks::{STATUSES, Task};
use crate::message::Reply;

pub(crate) fn list(call: &Call<'_>) -> Answer {
    let text = search_text(call)?;
    let status = call.query.one_of("status", &STATUSES)?;
    let all = call.query.one_of("owner", &["mine", "all"])? == Some("all");
    let caller = call.caller()?;
    let whose = if all { "all" } else { caller.actor_reference() };
    let page = Page::of_records(call, &[text.unwrap_or(""), status.unwrap_or(""), whose])?;
    let needle = text.map(Needle::new);
    let store = call.suite.store();
    let body = page.fill(
        &store.tasks,
        |_, task| {
            (all || task.owner == Some(caller.actor))
                && status.is_none_or(|status| task.status == status)
                && passes(needle.as_ref(), &[&task.title])
        },
        |index, task| item(&store, index, task),
    );
    Ok(Reply::ok(&body))
}

fn item(store: &Store, index: u64, task: &Task) -> Value {
    let opportunity = task.opportunity.map(|at| store.opportunities.reference(at));
    json!({
        "publicReference": store.tasks.reference(index),
        "title": task.title,
        "status": task.status,
        "owner": store.owner(task.owner),
        "dueAt": task.due_at.map(|at| at.to_string()),
        "opportunityReference": opportunity,
        "createdAt": task.created_at.to_string(),
        "updatedAt": task.updated_at.to_string(),
        "recordVersion": task.version,
    })
}
