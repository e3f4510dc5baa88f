//! `activity.record`: something that happened with a person, added to their timeline.

use super::Command;
use crate::data::Store;
use crate::data::reference::Kind;
use crate::data::timeline::Moment;
use crate::refusal::Refusal;

pub(super) fn apply(command: &Command<'_>, store: &mut Store) -> Result<(String, u64), Refusal> {
    let summary = command.payload.required_text("summary")?.to_owned();
    let kind = command.payload.text("type")?.unwrap_or("note").to_owned();
    let (index, _) = command.existing(&store.people, |person| person.version)?;
    let reference = store.name(Kind::Activity);
    store.add_moment(
        index,
        Moment {
            kind: kind.into(),
            summary: summary.into(),
            reference: Some(reference.clone()),
            occurred_at: command.now,
            actor: command.actor,
        },
    );
    Ok((reference, 1))
}
