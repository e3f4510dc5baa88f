//! `person.create`, `person.update`.

use super::{Command, changed};
use crate::data::Store;
use crate::data::people::{Person, STATUSES};
use crate::fields::Fields;
use crate::refusal::Refusal;

pub(super) fn apply(command: &Command<'_>, store: &mut Store) -> Result<(String, u64), Refusal> {
    let payload = command.payload;
    let organization = command.linked("organizationReference", &store.organizations)?;
    let status = payload.one_of("status", &STATUSES)?.map(str::to_owned);
    let email = changed(payload, "email")?;
    let job = changed(payload, "jobTitle")?;
    if command.kind.verb() == "create" {
        let name = name(payload, ["", ""])?.filter(|[given, _]| !given.is_empty());
        let [given, family] =
            name.ok_or_else(|| Refusal::invalid("payload.displayName: missing"))?;
        let person = Person {
            given: given.into(),
            family: family.into(),
            email,
            job: job.unwrap_or_default().into(),
            organization,
            status: status.unwrap_or_else(|| "active".to_owned()).into(),
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
        person.given = given.into();
        person.family = family.into();
    }
    if let Some(status) = status {
        person.status = status.into();
    }
    if let Some(job) = job {
        person.job = job.into();
    }
    person.email = email.or(person.email);
    person.organization = organization.or(person.organization);
    person.updated_at = command.now;
    person.version += 1;
    let version = person.version;
    store.people.replace(index, person);
    Ok((store.people.reference(index), version))
}

/// The name, either in two parts or as a display name. A missing part keeps its value.
fn name(payload: Fields<'_>, before: [&str; 2]) -> Result<Option<[String; 2]>, Refusal> {
    let given = changed(payload, "givenName")?;
    let family = changed(payload, "familyName")?;
    match (changed(payload, "displayName")?, given, family) {
        (None, None, None) => Ok(None),
        (None, given, family) => Ok(Some([
            given.unwrap_or_else(|| before[0].to_owned()),
            family.unwrap_or_else(|| before[1].to_owned()),
        ])),
        (Some(name), None, None) => {
            let (given, family) = name.split_once(' ').unwrap_or((&name, ""));
            Ok(Some([given, family].map(str::to_owned)))
        }
        _ => Err(Refusal::invalid(
            "displayName: cannot be combined with givenName or familyName",
        )),
    }
}
