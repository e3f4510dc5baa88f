//! `person.create`, `person.update`.

use jiff::Timestamp;
use serde::Deserialize;

use super::{Command, linked};
use crate::data::people::Person;
use crate::data::{Store, Text};
use crate::refusal::Refusal;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Payload {
    display_name: Option<String>,
    given_name: Option<Text>,
    family_name: Option<Text>,
    email: Option<String>,
    job_title: Option<Text>,
    organization_reference: Option<String>,
    status: Option<Text>,
}

impl Payload {
    /// Returns the given name and the family name.
    fn names(&self) -> [Option<Text>; 2] {
        let Some(name) = &self.display_name else {
            return [self.given_name.clone(), self.family_name.clone()];
        };
        let (given, family) = name.split_once(' ').unwrap_or((name, ""));
        [given, family].map(|part| Some(part.to_owned().into()))
    }

    pub(crate) fn create(self, store: &Store, at: Timestamp) -> Result<Person, Refusal> {
        let [given, family] = self.names().map(Option::unwrap_or_default);
        Ok(Person {
            given,
            family,
            email: self.email,
            job: self.job_title.unwrap_or_default(),
            organization: linked(&store.organizations, self.organization_reference.as_ref())?,
            status: self.status.unwrap_or("active".into()),
            created_at: at,
            updated_at: at,
            version: 1,
        })
    }
}

pub(super) fn apply(command: &Command<'_>, store: &mut Store) -> Result<(String, u64), Refusal> {
    let payload: Payload = command.payload()?;
    if command.kind.creates() {
        let person = payload.create(store, command.now)?;
        let index = store.people.create(person);
        return Ok((store.people.reference(index), 1));
    }
    let organization = linked(
        &store.organizations,
        payload.organization_reference.as_ref(),
    )?;
    let [given, family] = payload.names();
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
