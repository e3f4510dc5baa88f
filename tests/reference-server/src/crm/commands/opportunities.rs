//! `opportunity.create`, `.update`, `.move`, `.assign`.

use super::{Command, changed};
use crate::data::histories::Stay;
use crate::data::opportunities::{self, Opportunity, STAGES};
use crate::data::{Store, Text};
use crate::fields::Fields;
use crate::refusal::Refusal;

const LONGEST_REASON: usize = 100;

pub(super) fn apply(command: &Command<'_>, store: &mut Store) -> Result<(String, u64), Refusal> {
    if command.kind.verb() == "create" {
        return create(command, store);
    }
    let (index, mut row) = command.existing(&store.opportunities, |row| row.version)?;
    if matches!(row.stage, "won" | "closed_not_proceeding") {
        let message = format!("the opportunity is already {}", row.stage);
        return Err(Refusal::conflict("invalid_state", message));
    }
    let payload = command.payload;
    match command.kind.verb() {
        "move" => {
            payload.required("stage")?;
            let stage = stage(payload)?;
            if row.stage == stage {
                return Err(Refusal::conflict(
                    "invalid_state",
                    format!("the opportunity is already in {stage}"),
                ));
            }
            let stay = Stay {
                stage,
                entered_at: command.now,
                reason: reason(payload)?,
            };
            store.enter(index, &mut row, stay);
        }
        // A null owner unassigns it.
        "assign" => {
            if !payload.has("ownerReference") {
                return Err(Refusal::invalid("payload.ownerReference: missing"));
            }
            row.owner = command.linked("ownerReference", &store.actors)?;
        }
        _ => {
            row.title = changed(payload, "title")?.unwrap_or(row.title);
            row.currency = changed(payload, "currency")?.unwrap_or(row.currency);
            row.organization = command
                .linked("organizationReference", &store.organizations)?
                .or(row.organization);
            row.person = command
                .linked("personReference", &store.people)?
                .or(row.person);
            let values = values(payload, row.value_min_minor, row.value_max_minor)?;
            (row.value_min_minor, row.value_max_minor) = values;
        }
    }
    row.updated_at = command.now;
    row.version += 1;
    let version = row.version;
    store.opportunities.replace(index, row);
    Ok((store.opportunities.reference(index), version))
}

fn create(command: &Command<'_>, store: &mut Store) -> Result<(String, u64), Refusal> {
    let payload = command.payload;
    // Zero, unless the other bound rules that out.
    let least = payload
        .integer("valueMaxMinor")?
        .map_or(0, |most| most.min(0));
    let most = payload
        .integer("valueMinMinor")?
        .map_or(0, |least| least.max(0));
    let (value_min_minor, value_max_minor) = values(payload, least, most)?;
    let opportunity = Opportunity {
        title: payload.required_text("title")?.to_owned().into(),
        stage: stage(payload)?,
        before: None,
        entered_stage_at: command.now,
        close_reason: None,
        organization: command.linked("organizationReference", &store.organizations)?,
        person: command.linked("personReference", &store.people)?,
        owner: command.linked("ownerReference", &store.actors)?,
        value_min_minor,
        value_max_minor,
        currency: changed(payload, "currency")?.unwrap_or("EUR".into()),
        created_at: command.now,
        updated_at: command.now,
        version: 1,
    };
    let index = store.opportunities.create(opportunity);
    Ok((store.opportunities.reference(index), 1))
}

/// The stage in the payload, or the first one.
fn stage(payload: Fields<'_>) -> Result<&'static str, Refusal> {
    let name = payload.one_of("stage", &STAGES)?;
    Ok(name.and_then(opportunities::stage).unwrap_or(STAGES[0]))
}

/// The reason for the move. Many are kept, so the code must be short.
fn reason(payload: Fields<'_>) -> Result<Option<Text>, Refusal> {
    match changed(payload, "reasonCode")? {
        Some(code) if code.chars().count() > LONGEST_REASON => Err(Refusal::invalid(format!(
            "reasonCode: must have at most {LONGEST_REASON} characters"
        ))),
        code => Ok(code),
    }
}

/// The lower and upper value: those in the payload, or else these.
fn values(payload: Fields<'_>, least: i64, most: i64) -> Result<(i64, i64), Refusal> {
    let least = payload.integer("valueMinMinor")?.unwrap_or(least);
    let most = payload.integer("valueMaxMinor")?.unwrap_or(most);
    if least > most {
        let message = format!("valueMinMinor: must not exceed valueMaxMinor ({least} > {most})");
        return Err(Refusal::invalid(message));
    }
    Ok((least, most))
}
