//! `activity.record`: something that happened with a person, which their timeline shows from then on.

use super::Command;
use crate::data::Store;
use crate::data::reference::Kind as ReferenceKind;
use crate::data::timeline::Moment;
use crate::refusal::Refusal;

pub(super) fn apply(command: &Command<'_>, store: &mut Store) -> Result<(String, u64), Refusal> {
    let person = command.subject(ReferenceKind::Person)?;
    let summary = command.payload.required_text("summary")?.to_owned();
    let kind = command.payload.text("type")?.unwrap_or("note").to_owned();
    let index = store.people.index(person);
    let index = index.ok_or_else(|| Refusal::not_found("no such person"))?;
    let version = store.people.get(index).map_or(1, |person| person.version);
    command.envelope.check_version(version)?;
    let reference = store.name(ReferenceKind::Activity);
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
