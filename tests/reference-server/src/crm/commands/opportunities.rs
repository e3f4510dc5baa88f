//! `opportunity.create`, `.update`, `.move`, `.assign`.

use jiff::Timestamp;
use serde::Deserialize;

use super::{Command, linked};
use crate::data::opportunities::{Opportunity, STAGES, Stay, stage};
use crate::data::{Store, Text};
use crate::refusal::Refusal;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Payload {
    title: Option<Text>,
    stage: Option<String>,
    reason_code: Option<Text>,
    organization_reference: Option<String>,
    person_reference: Option<String>,
    owner_reference: Option<String>,
    value_min_minor: Option<i64>,
    value_max_minor: Option<i64>,
    currency: Option<Text>,
}

pub(super) fn over(least: i64, most: i64) -> String {
    format!("must not exceed valueMaxMinor ({least} > {most})")
}

impl Payload {
    pub(crate) fn create(self, store: &Store, at: Timestamp) -> Result<Opportunity, Refusal> {
        let (least, most) = (self.value_min_minor, self.value_max_minor);
        let stage = self.stage.as_deref().and_then(stage);
        Ok(Opportunity {
            title: self.title.unwrap_or_default(),
            stage: stage.unwrap_or(STAGES[0]),
            before: None,
            entered_stage_at: at,
            close_reason: None,
            organization: linked(&store.organizations, self.organization_reference.as_ref())?,
            person: linked(&store.people, self.person_reference.as_ref())?,
            owner: linked(&store.actors, self.owner_reference.as_ref())?,
            // The default is zero, unless the other bound excludes it.
            value_min_minor: least.unwrap_or(most.map_or(0, |most| most.min(0))),
            value_max_minor: most.unwrap_or(least.map_or(0, |least| least.max(0))),
            currency: self.currency.unwrap_or("EUR".into()),
            created_at: at,
            updated_at: at,
            version: 1,
        })
    }
}

pub(super) fn apply(command: &Command<'_>, store: &mut Store) -> Result<(String, u64), Refusal> {
    let payload: Payload = command.payload()?;
    if command.kind.creates() {
        let opportunity = payload.create(store, command.now)?;
        let index = store.opportunities.create(opportunity);
        return Ok((store.opportunities.reference(index), 1));
    }
    let organization = linked(
        &store.organizations,
        payload.organization_reference.as_ref(),
    )?;
    let person = linked(&store.people, payload.person_reference.as_ref())?;
    let owner = linked(&store.actors, payload.owner_reference.as_ref())?;
    let (index, mut row) = command.existing(&store.opportunities, |row| row.version)?;
    let conflict = |state: String| Err(Refusal::conflict("invalid_state", state));
    if matches!(row.stage, "won" | "closed_not_proceeding") {
        return conflict(format!("the opportunity is already {}", row.stage));
    }
    if let Some(stage) = payload.stage.as_deref().and_then(stage) {
        if row.stage == stage {
            return conflict(format!("the opportunity is already in {stage}"));
        }
        let stay = Stay {
            stage,
            entered_at: command.now,
            reason: payload.reason_code,
        };
        store.enter(index, &mut row, stay);
    }
    if command.kind.verb() == "assign" {
        row.owner = owner;
    }
    row.title = payload.title.unwrap_or(row.title);
    row.currency = payload.currency.unwrap_or(row.currency);
    row.organization = organization.or(row.organization);
    row.person = person.or(row.person);
    row.value_min_minor = payload.value_min_minor.unwrap_or(row.value_min_minor);
    row.value_max_minor = payload.value_max_minor.unwrap_or(row.value_max_minor);
    if row.value_min_minor > row.value_max_minor {
        let rule = over(row.value_min_minor, row.value_max_minor);
        return Err(Refusal::invalid(format!("payload.valueMinMinor: {rule}")));
    }
    row.updated_at = command.now;
    row.version += 1;
    let version = row.version;
    store.opportunities.replace(index, row);
    Ok((store.opportunities.reference(index), version))
}
