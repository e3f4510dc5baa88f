//! `task.create`, `.update`, `.complete`, `.assign`.

use super::kinds::Kind;
use super::{Command, changed};
use crate::data::Store;
use crate::data::reference::Kind as ReferenceKind;
use crate::data::tasks::{STATUSES, Task};
use crate::refusal::Refusal;

pub(super) fn apply(command: &Command<'_>, store: &mut Store) -> Result<(String, u64), Refusal> {
    let payload = command.payload;
    let owner = command.linked("ownerReference", ReferenceKind::Actor, |reference| {
        store.actors.index(reference)
    })?;
    let opportunity = command.linked(
        "opportunityReference",
        ReferenceKind::Opportunity,
        |reference| store.opportunities.index(reference),
    )?;
    let status = payload.one_of("status", &STATUSES)?.map(str::to_owned);
    if command.kind == Kind::TaskCreate {
        let task = Task {
            title: payload.required_text("title")?.to_owned().into(),
            status: status.unwrap_or_else(|| "open".to_owned()).into(),
            // Whoever makes a task has it, unless somebody else shall.
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
    let reference = command.subject(ReferenceKind::Task)?;
    let found = store.tasks.find(reference);
    let (index, mut task) = found.ok_or_else(|| Refusal::not_found("no such task"))?;
    command.envelope.check_version(task.version)?;
    if task.is_final() {
        return Err(Refusal::conflict(
            "invalid_state",
            format!("the task is {}", task.status),
        ));
    }
    match command.kind {
        Kind::TaskComplete => task.status = "completed".into(),
        Kind::TaskAssign => {
            payload.required("ownerReference")?;
            task.owner = owner;
        }
        _ => {
            if let Some(title) = changed(payload, "title")? {
                task.title = title.into();
            }
            if let Some(status) = status {
                task.status = status.into();
            }
            task.opportunity = opportunity.or(task.opportunity);
            task.due_at = payload.instant("dueAt")?.or(task.due_at);
        }
    }
    task.updated_at = command.now;
    task.version += 1;
    let version = task.version;
    store.tasks.replace(index, task);
    Ok((reference.to_owned(), version))
}
