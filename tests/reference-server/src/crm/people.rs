//! People and their timelines. The members of an item are not shown: the plainest are given.

use serde_json::{Value, json};

use super::listing::{Needle, Page, passes, search_text};
use crate::call::{Answer, Call};
use crate::data::Store;
use crate::data::people::{Person, STATUSES};
use crate::data::reference::Kind;
use crate::message::Reply;
use crate::refusal::Refusal;

/// How many timeline entries a briefing shows.
const BRIEFED: u64 = 5;

/// Bounds and default of the timeline's `limit`.
const TIMELINE_LIMIT: (usize, usize) = (1, 200);
const TIMELINE_DEFAULT: usize = 50;

pub(crate) fn list(call: &Call<'_>) -> Answer {
    let text = search_text(call)?;
    let status = call.query.one_of("status", &STATUSES)?;
    let page = Page::of_records(call, &[text.unwrap_or(""), status.unwrap_or("")])?;
    let needle = text.map(Needle::new);
    let store = call.suite.store();
    let body = page.fill(
        &store.people,
        |index, person| {
            status.is_none_or(|status| person.status == status)
                && matches(needle.as_ref(), index, person)
        },
        |index, person| item(&store, index, person),
    );
    Ok(Reply::ok(&body))
}

pub(crate) fn get(call: &Call<'_>) -> Answer {
    let reference = call.reference(Kind::Person)?;
    let store = call.suite.store();
    let (index, person) = find(&store, reference)?;
    let mut body = item(&store, index, &person);
    let length = store.timeline_length(index);
    let recent = (length.saturating_sub(BRIEFED)..length).rev();
    body["givenName"] = json!(person.given);
    body["familyName"] = json!(person.family);
    body["createdAt"] = json!(person.created_at.to_string());
    body["recentActivity"] = recent.filter_map(|at| entry(&store, index, at)).collect();
    Ok(Reply::ok(&body))
}

pub(crate) fn timeline(call: &Call<'_>) -> Answer {
    let reference = call.reference(Kind::Person)?;
    let page = Page::new(call, &[reference], TIMELINE_LIMIT, TIMELINE_DEFAULT)?;
    let store = call.suite.store();
    let (index, _) = find(&store, reference)?;
    let body = page.slice(store.timeline_length(index), |at| entry(&store, index, at));
    Ok(Reply::ok(&body))
}

fn find(store: &Store, reference: &str) -> Result<(u64, Person), Refusal> {
    let found = store.people.find(reference);
    found.ok_or_else(|| Refusal::not_found("no such person"))
}

fn entry(store: &Store, person: u64, position: u64) -> Option<Value> {
    let moment = store.moment(person, position)?;
    Some(moment.json(&store.owner(Some(moment.actor))))
}

pub(super) fn matches(needle: Option<&Needle>, index: u64, person: &Person) -> bool {
    // The address repeats the name, and is only worth making if the name did not match.
    passes(needle, &[&person.given, &person.family])
        || passes(needle, &[&person.display_name()])
        || passes(needle, &[&person.email(index)])
}

fn item(store: &Store, index: u64, person: &Person) -> Value {
    json!({
        "publicReference": store.people.reference(index),
        "displayName": person.display_name(),
        "email": person.email(index),
        "jobTitle": person.job,
        "status": person.status,
        "organization": store.organization_brief(person.organization),
        "updatedAt": person.updated_at.to_string(),
        "recordVersion": person.version,
    })
}
