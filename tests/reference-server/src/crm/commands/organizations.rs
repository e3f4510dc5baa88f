//! `organization.create`, `organization.update`.

use jiff::Timestamp;
use serde::Deserialize;

use super::Command;
use crate::data::organizations::Organization;
use crate::data::{Store, Text};
use crate::refusal::Refusal;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Payload {
    display_name: Option<Text>,
    city: Option<Text>,
    status: Option<Text>,
}

impl Payload {
    pub(crate) fn create(self, at: Timestamp) -> Organization {
        Organization {
            name: self.display_name.unwrap_or_default(),
            city: self.city.unwrap_or_default(),
            status: self.status.unwrap_or("active".into()),
            created_at: at,
            updated_at: at,
            version: 1,
        }
    }
}

pub(super) fn apply(command: &Command<'_>, store: &mut Store) -> Result<(String, u64), Refusal> {
    let payload: Payload = command.payload()?;
    if command.kind.creates() {
        let index = store.organizations.create(payload.create(command.now));
        return Ok((store.organizations.reference(index), 1));
    }
    let (index, mut row) = command.existing(&store.organizations, |row| row.version)?;
    if row.status == "archived" {
        return Err(Refusal::conflict(
            "invalid_state",
            "the organization is archived",
        ));
    }
    row.name = payload.display_name.unwrap_or(row.name);
    row.city = payload.city.unwrap_or(row.city);
    row.status = payload.status.unwrap_or(row.status);
    row.updated_at = command.now;
    row.version += 1;
    let version = row.version;
    store.organizations.replace(index, row);
    Ok((store.organizations.reference(index), version))
}
