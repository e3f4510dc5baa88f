//! `activity.record`: adds an activity with a person to the person's timeline.

use serde::Deserialize;

use super::Command;
use crate::data::reference::Kind;
use crate::data::timeline::Moment;
use crate::data::{Store, Text};
use crate::refusal::Refusal;

#[derive(Deserialize)]
struct Payload {
    summary: Text,
    r#type: Option<Text>,
}

pub(super) fn apply(command: &Command<'_>, store: &mut Store) -> Result<(String, u64), Refusal> {
    let payload: Payload = command.payload()?;
    let (index, _) = command.existing(&store.people, |person| person.version)?;
    let reference = store.name(Kind::Activity);
    store.add_moment(
        index,
        Moment {
            kind: payload.r#type.unwrap_or("note".into()),
            summary: payload.summary,
            reference: Some(reference.clone()),
            occurred_at: command.now,
            actor: command.actor,
        },
    );
    Ok((reference, 1))
}
