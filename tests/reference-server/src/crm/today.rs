//! The attention queue: the caller's due tasks, most urgent first, and the most recent changes.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::call::{Answer, Call};
use crate::data::Store;
use crate::data::tasks::Task;
use crate::message::Reply;

/// The queue contains tasks that are due within this many hours.
const AHEAD_HOURS: i64 = 72;

/// The contract has no maximum. This limit keeps the response short.
const LONGEST: usize = 50;

pub(crate) fn get(call: &Call<'_>) -> Answer {
    let caller = call.caller()?;
    let store = call.suite.store();
    let horizon = call
        .now
        .checked_add(SignedDuration::from_hours(AHEAD_HOURS))
        .unwrap_or(call.now);
    let mut due: Vec<(Timestamp, u64, Task)> = Vec::new();
    let (mut open, mut overdue) = (0_u64, 0_u64);
    for (index, task) in store.tasks.rows(0) {
        if task.owner != Some(caller.actor) || task.is_final() {
            continue;
        }
        open += 1;
        if let Some(at) = task.due_at.filter(|at| *at <= horizon) {
            overdue += u64::from(at < call.now);
            due.push((at, index, task));
        }
    }
    due.sort_by_key(|(at, index, _)| (*at, *index));
    let attention: Vec<Value> = due
        .iter()
        .take(LONGEST)
        .map(|(at, index, task)| item(&store, call.now, *at, *index, task))
        .collect();
    let submissions = store.intake.rows(0);
    let pending = submissions.filter(|(_, row)| !row.is_final()).count();
    let changes: Vec<Value> = store
        .changes()
        .map(|change| {
            let actor = store.actors.get(change.actor).map(|row| row.display_name);
            json!({
                "action": change.action,
                "subjectType": change.subject_type,
                "publicReference": change.reference,
                "occurredAt": change.occurred_at.to_string(),
                "actor": {"displayName": actor.unwrap_or_default()},
            })
        })
        .collect();
    Ok(Reply::ok(&json!({
        "schemaVersion": "suite-crm-today.v1",
        "generatedAt": call.now.to_string(),
        "workspace": caller.claims.workspace,
        "counts": {"openTasks": open, "overdueTasks": overdue, "pendingIntake": pending},
        "attention": attention,
        "recentChanges": changes,
    })))
}

fn item(store: &Store, now: Timestamp, due: Timestamp, index: u64, task: &Task) -> Value {
    let hours_late = now.duration_since(due).as_hours();
    let late = due < now;
    let explanation = if late {
        format!("Overdue by {hours_late} hours")
    } else {
        format!("Due in {} hours", -hours_late)
    };
    let summary = task
        .opportunity
        .and_then(|at| store.opportunities.get(at))
        .map(|row| row.title.into_owned());
    json!({
        "type": "task",
        "publicReference": store.tasks.reference(index),
        "title": task.title,
        "summary": summary.unwrap_or_default(),
        "owner": store.owner(task.owner),
        "dueAt": due.to_string(),
        "priority": {
            "score": (100 + hours_late).clamp(0, 200),
            "reasonCodes": [if late { "overdue" } else { "due_soon" }],
            "explanation": explanation,
        },
        "recordVersion": task.version,
    })
}
