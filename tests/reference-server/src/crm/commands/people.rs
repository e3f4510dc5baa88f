//! `person.create`, `person.update`.

use super::{Command, changed, status};
use crate::data::people::{Person, STATUSES};
use crate::data::{Store, Text};
use crate::fields::Fields;
use crate::refusal::Refusal;

pub(super) fn apply(command: &Command<'_>, store: &mut Store) -> Result<(String, u64), Refusal> {
    let payload = command.payload;
    let organization = command.linked("organizationReference", &store.organizations)?;
    let status = status(payload, &STATUSES)?;
    let email = changed(payload, "email")?.map(Text::into_owned);
    let job = changed(payload, "jobTitle")?;
    if command.kind.verb() == "create" {
        let name = name(payload, ["", ""])?.filter(|[given, _]| !given.is_empty());
        let [given, family] =
            name.ok_or_else(|| Refusal::invalid("payload.displayName: missing"))?;
        let person = Person {
            given,
            family,
            email,
            job: job.unwrap_or_default(),
            organization,
            status: status.unwrap_or("active".into()),
            created_at: command.now,
            updated_at: command.now,
            version: 1,
        };
        let index = store.people.create(person);
        return Ok((store.people.reference(index), 1));
    }
    let (index, mut person) = command.existing(&store.people, |row| row.version)?;
    if person.status == "archived" {
        return Err(Refusal::conflict("invalid_state", "the person is archived"));
    }
    if let Some([given, family]) = name(payload, [&person.given, &person.family])? {
        // The derived address must not change with the name.
        person.email = Some(person.email(index));
        (person.given, person.family) = (given, family);
    }
    person.status = status.unwrap_or(person.status);
    person.job = job.unwrap_or(person.job);
    person.email = email.or(person.email);
    person.organization = organization.or(person.organization);
    person.updated_at = command.now;
    person.version += 1;
    let version = person.version;
    store.people.replace(index, person);
    Ok((store.people.reference(index), version))
}

/// The name, either in two parts or as a display name. A missing part keeps its value.
fn name(payload: Fields<'_>, before: [&str; 2]) -> Result<Option<[Text; 2]>, Refusal> {
    let given = changed(payload, "givenName")?;
    let family = changed(payload, "familyName")?;
    match (changed(payload, "displayName")?, given, family) {
        (None, None, None) => Ok(None),
        (None, given, family) => Ok(Some([
            given.unwrap_or_else(|| before[0].to_owned().into()),
            family.unwrap_or_else(|| before[1].to_owned().into()),
        ])),
        (Some(name), None, None) => {
            let (given, family) = name.split_once(' ').unwrap_or((&name, ""));
            Ok(Some([given, family].map(|part| part.to_owned().into())))
        }
        _ => Err(Refusal::invalid(
            "displayName: cannot be combined with givenName or familyName",
        )),
    }
}
