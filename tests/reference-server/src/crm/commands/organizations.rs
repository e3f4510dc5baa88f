//! `organization.create`, `organization.update`.

use super::{Command, changed};
use crate::data::Store;
use crate::data::organizations::{Organization, STATUSES};
use crate::refusal::Refusal;

pub(super) fn apply(command: &Command<'_>, store: &mut Store) -> Result<(String, u64), Refusal> {
    let payload = command.payload;
    let name = changed(payload, "displayName")?;
    let city = changed(payload, "city")?;
    let status = payload.one_of("status", &STATUSES)?.map(str::to_owned);
    if command.kind.verb() == "create" {
        let organization = Organization {
            name: name
                .ok_or_else(|| Refusal::invalid("payload.displayName: missing"))?
                .into(),
            city: city.unwrap_or_default().into(),
            status: status.unwrap_or_else(|| "active".to_owned()).into(),
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
    if let Some(name) = name {
        row.name = name.into();
    }
    if let Some(city) = city {
        row.city = city.into();
    }
    if let Some(status) = status {
        row.status = status.into();
    }
    row.updated_at = command.now;
    row.version += 1;
    let version = row.version;
    store.organizations.replace(index, row);
    Ok((store.organizations.reference(index), version))
}
