//! `task.create`, `.update`, `.complete`, `.assign`.

use jiff::Timestamp;
use serde::Deserialize;

use super::{Command, linked};
use crate::data::tasks::Task;
use crate::data::{Store, Text};
use crate::params;
use crate::refusal::Refusal;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Payload {
    title: Option<Text>,
    status: Option<Text>,
    #[serde(default, deserialize_with = "params::optional_instant")]
    due_at: Option<Timestamp>,
    opportunity_reference: Option<String>,
    owner_reference: Option<String>,
}

impl Payload {
    pub(crate) fn create(self, store: &Store, at: Timestamp) -> Result<Task, Refusal> {
        Ok(Task {
            title: self.title.unwrap_or_default(),
            status: self.status.unwrap_or("open".into()),
            owner: linked(&store.actors, self.owner_reference.as_ref())?,
            opportunity: linked(&store.opportunities, self.opportunity_reference.as_ref())?,
            due_at: self.due_at,
            created_at: at,
            updated_at: at,
            version: 1,
        })
    }
}

pub(super) fn apply(command: &Command<'_>, store: &mut Store) -> Result<(String, u64), Refusal> {
    let payload: Payload = command.payload()?;
    if command.kind.creates() {
        let mut task = payload.create(store, command.now)?;
        // A task belongs to its creator unless the payload names another owner.
        task.owner = task.owner.or(Some(command.actor));
        let index = store.tasks.create(task);
        return Ok((store.tasks.reference(index), 1));
    }
    let owner = linked(&store.actors, payload.owner_reference.as_ref())?;
    let opportunity = linked(&store.opportunities, payload.opportunity_reference.as_ref())?;
    let (index, mut task) = command.existing(&store.tasks, |row| row.version)?;
    if task.is_final() {
        return Err(Refusal::conflict(
            "invalid_state",
            format!("the task is already {}", task.status),
        ));
    }
    if command.kind.verb() == "complete" {
        task.status = "completed".into();
    }
    task.title = payload.title.unwrap_or(task.title);
    task.status = payload.status.unwrap_or(task.status);
    task.opportunity = opportunity.or(task.opportunity);
    task.due_at = payload.due_at.or(task.due_at);
    task.owner = owner.or(task.owner);
    task.updated_at = command.now;
    task.version += 1;
    let version = task.version;
    store.tasks.replace(index, task);
    Ok((store.tasks.reference(index), version))
}
