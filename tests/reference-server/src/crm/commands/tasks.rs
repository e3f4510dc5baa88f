//! `task.create`, `.update`, `.complete`, `.assign`.

use super::{Command, changed, status};
use crate::data::Store;
use crate::data::tasks::{STATUSES, Task};
use crate::refusal::Refusal;

pub(super) fn apply(command: &Command<'_>, store: &mut Store) -> Result<(String, u64), Refusal> {
    let payload = command.payload;
    let owner = command.linked("ownerReference", &store.actors)?;
    let opportunity = command.linked("opportunityReference", &store.opportunities)?;
    let status = status(payload, &STATUSES)?;
    if command.kind.verb() == "create" {
        let task = Task {
            title: payload.required_text("title")?.to_owned().into(),
            status: status.unwrap_or("open".into()),
            // A task belongs to its creator unless the payload names another owner.
            owner: owner.or(Some(command.actor)),
            opportunity,
            due_at: payload.instant("dueAt")?,
            created_at: command.now,
            updated_at: command.now,
            version: 1,
        };
        let index = store.tasks.create(task);
        return Ok((store.tasks.reference(index), 1));
    }
    let (index, mut task) = command.existing(&store.tasks, |row| row.version)?;
    if task.is_final() {
        return Err(Refusal::conflict(
            "invalid_state",
            format!("the task is already {}", task.status),
        ));
    }
    match command.kind.verb() {
        "complete" => task.status = "completed".into(),
        "assign" => {
            payload.required("ownerReference")?;
            task.owner = owner;
        }
        _ => {
            task.title = changed(payload, "title")?.unwrap_or(task.title);
            task.status = status.unwrap_or(task.status);
            task.opportunity = opportunity.or(task.opportunity);
            task.due_at = payload.instant("dueAt")?.or(task.due_at);
        }
    }
    task.updated_at = command.now;
    task.version += 1;
    let version = task.version;
    store.tasks.replace(index, task);
    Ok((store.tasks.reference(index), version))
}
