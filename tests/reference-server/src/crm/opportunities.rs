//! Opportunities. The contract doesn't document the fields of an item, so this server uses the obvious ones.

use jiff::Timestamp;
use serde::Serialize;
use serde_json::json;

use super::listing::{Details, Needle, Page};
use crate::call::{Answer, Call};
use crate::data::opportunities::Opportunity;
use crate::data::{Brief, Store, Text};
use crate::message::Reply;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Item {
    public_reference: String,
    title: Text,
    stage: &'static str,
    owner: Option<Brief>,
    organization: Option<Brief>,
    person_reference: Option<String>,
    value_min_minor: i64,
    value_max_minor: i64,
    currency: Text,
    updated_at: Timestamp,
    record_version: u64,
}

pub(crate) fn list(call: &Call<'_>) -> Answer {
    let (text, stage, owner) = (call.query("q"), call.query("stage"), call.query("owner"));
    let page = Page::new(call, &[text, stage, owner])?;
    let needle = Needle::new(text);
    let store = call.suite.store();
    // An unknown actor owns no opportunities.
    let actor = owner.and_then(|reference| store.actors.index(reference));
    let mut body = page.fill(
        &store.opportunities,
        |_, row| {
            stage.is_none_or(|stage| row.stage == stage)
                && match owner {
                    None => true,
                    Some("none") => row.owner.is_none(),
                    Some(_) => actor.is_some() && row.owner == actor,
                }
                && matches(&store, &needle, row)
        },
        |index, row| item(&store, index, row),
    );
    body.schema_version = Some("suite-crm-opportunities-page.v2");
    Ok(Reply::ok(&body))
}

pub(crate) fn get(call: &Call<'_>) -> Answer {
    let store = call.suite.store();
    let (index, row) = call.record(&store.opportunities)?;
    let more = json!({
        "createdAt": row.created_at,
        "enteredStageAt": row.entered_stage_at,
        "closeReason": row.close_reason,
    });
    let item = item(&store, index, row);
    Ok(Reply::ok(&Details { item, more }))
}

pub(super) fn matches(store: &Store, needle: &Needle, row: &Opportunity) -> bool {
    let organization = || store.organizations.get(row.organization?);
    needle.is_in(&row.title) || organization().is_some_and(|row| needle.is_in(&row.name))
}

fn item(store: &Store, index: u64, row: Opportunity) -> Item {
    Item {
        public_reference: store.opportunities.reference(index),
        title: row.title,
        stage: row.stage,
        owner: store.owner(row.owner),
        organization: store.organization_brief(row.organization),
        person_reference: row.person.map(|person| store.people.reference(person)),
        value_min_minor: row.value_min_minor,
        value_max_minor: row.value_max_minor,
        currency: row.currency,
        updated_at: row.updated_at,
        record_version: row.version,
    }
}
