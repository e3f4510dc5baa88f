//! `opportunity.create`, `.update`, `.move`, `.assign`.

use super::kinds::Kind;
use super::{Command, changed};
use crate::data::Store;
use crate::data::opportunities::{Opportunity, STAGES};
use crate::data::reference::Kind as ReferenceKind;
use crate::refusal::Refusal;

pub(super) fn apply(command: &Command<'_>, store: &mut Store) -> Result<(String, u64), Refusal> {
    if command.kind == Kind::OpportunityCreate {
        return create(command, store);
    }
    let reference = command.subject(ReferenceKind::Opportunity)?;
    let found = store.opportunities.find(reference);
    let (index, mut row) = found.ok_or_else(|| Refusal::not_found("no such opportunity"))?;
    command.envelope.check_version(row.version)?;
    if matches!(row.stage.as_ref(), "won" | "closed_not_proceeding") {
        let message = format!("the opportunity is {}", row.stage);
        return Err(Refusal::conflict("invalid_state", message));
    }
    let payload = command.payload;
    match command.kind {
        Kind::OpportunityMove => {
            payload.required("stage")?;
            let stage = payload.one_of("stage", &STAGES)?.unwrap_or_default();
            if row.stage == stage {
                return Err(Refusal::conflict(
                    "invalid_state",
                    format!("the opportunity is in {stage} already"),
                ));
            }
            row.enter(stage, command.now);
            row.close_reason = changed(payload, "reasonCode")?.map(Into::into);
        }
        // Nobody owns it if the owner is null.
        Kind::OpportunityAssign => {
            if !payload.has("ownerReference") {
                return Err(Refusal::invalid("payload.ownerReference: missing"));
            }
            row.owner = owner(command, store)?;
        }
        _ => {
            if let Some(title) = changed(payload, "title")? {
                row.title = title.into();
            }
            row.value_min_minor = payload
                .integer("valueMinMinor")?
                .unwrap_or(row.value_min_minor);
            row.value_max_minor = payload
                .integer("valueMaxMinor")?
                .unwrap_or(row.value_max_minor);
        }
    }
    row.updated_at = command.now;
    row.version += 1;
    let version = row.version;
    store.opportunities.replace(index, row);
    Ok((reference.to_owned(), version))
}

fn create(command: &Command<'_>, store: &mut Store) -> Result<(String, u64), Refusal> {
    let payload = command.payload;
    let organization = command.linked(
        "organizationReference",
        ReferenceKind::Organization,
        |reference| store.organizations.index(reference),
    )?;
    let person = command.linked("personReference", ReferenceKind::Person, |reference| {
        store.people.index(reference)
    })?;
    let opportunity = Opportunity {
        title: payload.required_text("title")?.to_owned().into(),
        stage: payload
            .one_of("stage", &STAGES)?
            .unwrap_or("new")
            .to_owned()
            .into(),
        previous_stage: None,
        entered_stage_at: command.now,
        close_reason: None,
        organization,
        person,
        owner: owner(command, store)?,
        value_min_minor: payload.integer("valueMinMinor")?.unwrap_or_default(),
        value_max_minor: payload.integer("valueMaxMinor")?.unwrap_or_default(),
        currency: changed(payload, "currency")?
            .unwrap_or_else(|| "EUR".to_owned())
            .into(),
        created_at: command.now,
        updated_at: command.now,
        version: 1,
    };
    let index = store.opportunities.create(opportunity);
    Ok((store.opportunities.reference(index), 1))
}

fn owner(command: &Command<'_>, store: &Store) -> Result<Option<u64>, Refusal> {
    command.linked("ownerReference", ReferenceKind::Actor, |reference| {
        store.actors.index(reference)
    })
}
