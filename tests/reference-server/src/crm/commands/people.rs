//! `person.create`, `person.update`.

use serde::Deserialize;
use serde_json::Value;

use super::kinds::Kind;
use super::{Command, linked};
use crate::data::people::Person;
use crate::data::{Store, Text};
use crate::refusal::Refusal;
use crate::schema::Broken;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Payload {
    display_name: Option<String>,
    given_name: Option<Text>,
    family_name: Option<Text>,
    email: Option<String>,
    job_title: Option<Text>,
    organization_reference: Option<String>,
    status: Option<Text>,
}

/// A name is given whole or in parts, and a new person has one.
pub(super) fn check(kind: Kind, payload: &Value, broken: &mut Broken) {
    let [whole, given, family] =
        ["displayName", "givenName", "familyName"].map(|name| !payload[name].is_null());
    if whole && (given || family) {
        broken.add("payload.displayName", "not with givenName or familyName");
    } else if kind.creates() && !whole && !given {
        broken.add("payload.displayName", "missing");
    }
}

pub(super) fn apply(command: &Command<'_>, store: &mut Store) -> Result<(String, u64), Refusal> {
    let payload: Payload = command.payload()?;
    let organization = linked(
        &store.organizations,
        payload.organization_reference.as_ref(),
    )?;
    let whole = payload.display_name.as_deref().map(|name| {
        let (given, family) = name.split_once(' ').unwrap_or((name, ""));
        [given, family].map(|part| Some(Text::from(part.to_owned())))
    });
    let [given, family] = whole.unwrap_or([payload.given_name, payload.family_name]);
    if command.kind.creates() {
        let person = Person {
            given: given.unwrap_or_default(),
            family: family.unwrap_or_default(),
            email: payload.email,
            job: payload.job_title.unwrap_or_default(),
            organization,
            status: payload.status.unwrap_or("active".into()),
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
    if given.is_some() || family.is_some() {
        // The derived address must not change with the name.
        person.email = Some(person.email(index));
        person.given = given.unwrap_or(person.given);
        person.family = family.unwrap_or(person.family);
    }
    person.status = payload.status.unwrap_or(person.status);
    person.job = payload.job_title.unwrap_or(person.job);
    person.email = payload.email.or(person.email);
    person.organization = organization.or(person.organization);
    person.updated_at = command.now;
    person.version += 1;
    let version = person.version;
    store.people.replace(index, person);
    Ok((store.people.reference(index), version))
}
