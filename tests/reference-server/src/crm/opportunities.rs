//! Opportunities. The members of an item are not shown: the plainest are given.

use serde_json::{Value, json};

use super::listing::{Needle, Page, passes, search_text};
use crate::call::{Answer, Call};
use crate::data::Store;
use crate::data::opportunities::{Opportunity, STAGES};
use crate::data::reference::Kind;
use crate::message::Reply;
use crate::refusal::Refusal;

/// Whose opportunities are wanted.
enum Owner {
    Anyone,
    Nobody,
    Actor(Option<u64>),
}

pub(crate) fn list(call: &Call<'_>) -> Answer {
    let text = search_text(call)?;
    let stage = call.query.one_of("stage", &STAGES)?;
    let owner_text = call.query.text("owner")?;
    let owner = owner(call, owner_text)?;
    let filters = [
        text.unwrap_or(""),
        stage.unwrap_or(""),
        owner_text.unwrap_or(""),
    ];
    let page = Page::of_records(call, &filters)?;
    let needle = text.map(Needle::new);
    let store = call.suite.store();
    let mut body = page.fill(
        &store.opportunities,
        |_, row| {
            stage.is_none_or(|stage| row.stage == stage)
                && match owner {
                    Owner::Anyone => true,
                    Owner::Nobody => row.owner.is_none(),
                    Owner::Actor(actor) => actor.is_some() && row.owner == actor,
                }
                && matches(&store, needle.as_ref(), row)
        },
        |index, row| item(&store, index, row),
    );
    body["schemaVersion"] = json!("suite-crm-opportunities-page.v2");
    Ok(Reply::ok(&body))
}

pub(crate) fn get(call: &Call<'_>) -> Answer {
    let reference = call.reference(Kind::Opportunity)?;
    let store = call.suite.store();
    let found = store.opportunities.find(reference);
    let (index, row) = found.ok_or_else(|| Refusal::not_found("no such opportunity"))?;
    let mut body = item(&store, index, &row);
    body["createdAt"] = json!(row.created_at.to_string());
    body["enteredStageAt"] = json!(row.entered_stage_at.to_string());
    body["closeReason"] = json!(row.close_reason);
    Ok(Reply::ok(&body))
}

/// `none`, or the reference of an actor; one that nobody has owns nothing.
fn owner(call: &Call<'_>, text: Option<&str>) -> Result<Owner, Refusal> {
    match text {
        None => Ok(Owner::Anyone),
        Some("none") => Ok(Owner::Nobody),
        Some(reference) if Kind::Actor.matches(reference) => {
            Ok(Owner::Actor(call.suite.store().actors.index(reference)))
        }
        Some(_) => Err(Refusal::invalid("owner: none or ACR-… is needed")),
    }
}

pub(super) fn matches(store: &Store, needle: Option<&Needle>, row: &Opportunity) -> bool {
    let organization = || {
        row.organization
            .and_then(|index| store.organizations.get(index))
    };
    passes(needle, &[&row.title])
        || needle.is_some() && organization().is_some_and(|row| passes(needle, &[&row.name]))
}

fn item(store: &Store, index: u64, row: &Opportunity) -> Value {
    json!({
        "publicReference": store.opportunities.reference(index),
        "title": row.title,
        "stage": row.stage,
        "owner": store.owner(row.owner),
        "organization": store.organization_brief(row.organization),
        "personReference": row.person.map(|person| store.people.reference(person)),
        "valueMinMinor": row.value_min_minor,
        "valueMaxMinor": row.value_max_minor,
        "currency": row.currency,
        "updatedAt": row.updated_at.to_string(),
        "recordVersion": row.version,
    })
}
