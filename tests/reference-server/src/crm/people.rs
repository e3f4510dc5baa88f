//! People and their timelines. The contract doesn't document the fields of an item.

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};

use super::listing::{Details, Needle, Page};
use crate::call::{Answer, Call};
use crate::data::people::Person;
use crate::data::{Brief, Store, Text};
use crate::message::Reply;

/// The number of timeline entries in a person's details.
const BRIEFED: u64 = 5;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Item {
    public_reference: String,
    display_name: String,
    email: String,
    job_title: Text,
    status: Text,
    organization: Option<Brief>,
    updated_at: Timestamp,
    record_version: u64,
}

pub(crate) fn list(call: &Call<'_>) -> Answer {
    let (text, status) = (call.query("q"), call.query("status"));
    let page = Page::new(call, &[text, status])?;
    let needle = Needle::new(text);
    let store = call.suite.store();
    let body = page.fill(
        &store.people,
        |index, person| {
            status.is_none_or(|status| person.status == status) && matches(&needle, index, person)
        },
        |index, person| item(&store, index, person),
    );
    Ok(Reply::ok(&body))
}

pub(crate) fn get(call: &Call<'_>) -> Answer {
    let store = call.suite.store();
    let (index, person) = call.record(&store.people)?;
    let length = store.timeline_length(index);
    let recent = (length.saturating_sub(BRIEFED)..length).rev();
    let recent = recent.filter_map(|at| entry(&store, index, at));
    let more = json!({
        "givenName": person.given,
        "familyName": person.family,
        "createdAt": person.created_at,
        "recentActivity": recent.collect::<Vec<_>>(),
    });
    let item = item(&store, index, person);
    Ok(Reply::ok(&Details { item, more }))
}

pub(crate) fn timeline(call: &Call<'_>) -> Answer {
    let page = Page::new(call, &[Some(call.param(0))])?;
    let store = call.suite.store();
    let (index, _) = call.record(&store.people)?;
    let body = page.slice(store.timeline_length(index), |at| entry(&store, index, at));
    Ok(Reply::ok(&body))
}

fn entry(store: &Store, person: u64, position: u64) -> Option<Value> {
    let moment = store.moment(person, position)?;
    Some(json!({
        "type": moment.kind,
        "summary": moment.summary,
        "publicReference": moment.reference,
        "occurredAt": moment.occurred_at,
        "actor": store.owner(Some(moment.actor)),
    }))
}

pub(super) fn matches(needle: &Needle, index: u64, person: &Person) -> bool {
    needle.is_in(&person.display_name()) || needle.is_in(&person.email(index))
}

fn item(store: &Store, index: u64, person: Person) -> Item {
    Item {
        public_reference: store.people.reference(index),
        display_name: person.display_name(),
        email: person.email(index),
        job_title: person.job,
        status: person.status,
        organization: store.organization_brief(person.organization),
        updated_at: person.updated_at,
        record_version: person.version,
    }
}
