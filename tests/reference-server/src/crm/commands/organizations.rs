//! `organization.create`, `organization.update`.

use super::{Command, changed, status};
use crate::data::Store;
use crate::data::organizations::{Organization, STATUSES};
use crate::refusal::Refusal;

pub(super) fn apply(command: &Command<'_>, store: &mut Store) -> Result<(String, u64), Refusal> {
    let payload = command.payload;
    let name = changed(payload, "displayName")?;
    let city = changed(payload, "city")?;
    let status = status(payload, &STATUSES)?;
    if command.kind.verb() == "create" {
        let organization = Organization {
            name: name.ok_or_else(|| Refusal::invalid("payload.displayName: missing"))?,
            city: city.unwrap_or_default(),
            status: status.unwrap_or("active".into()),
            created_at: command.now,
            updated_at: command.now,
            version: 1,
        };
        let index = store.organizations.create(organization);
        return Ok((store.organizations.reference(index), 1));
    }
    let (index, mut row) = command.existing(&store.organizations, |row| row.version)?;
    if row.status == "archived" {
        return Err(Refusal::conflict(
            "invalid_state",
            "the organization is archived",
        ));
    }
    row.name = name.unwrap_or(row.name);
    row.city = city.unwrap_or(row.city);
    row.status = status.unwrap_or(row.status);
    row.updated_at = command.now;
    row.version += 1;
    let version = row.version;
    store.organizations.replace(index, row);
    Ok((store.organizations.reference(index), version))
}
