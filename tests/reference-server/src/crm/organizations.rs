//! Organizations. The members of an item are not shown: the plainest are given.

use serde_json::{Value, json};

use super::listing::{Needle, Page, passes, search_text};
use crate::call::{Answer, Call};
use crate::data::Store;
use crate::data::organizations::{Organization, STATUSES};
use crate::data::reference::Kind;
use crate::message::Reply;
use crate::refusal::Refusal;

pub(crate) fn list(call: &Call<'_>) -> Answer {
    let text = search_text(call)?;
    let status = call.query.one_of("status", &STATUSES)?;
    let page = Page::of_records(call, &[text.unwrap_or(""), status.unwrap_or("")])?;
    let needle = text.map(Needle::new);
    let store = call.suite.store();
    let body = page.fill(
        &store.organizations,
        |_, row| status.is_none_or(|status| row.status == status) && matches(needle.as_ref(), row),
        |index, row| item(&store, index, row),
    );
    Ok(Reply::ok(&body))
}

pub(crate) fn get(call: &Call<'_>) -> Answer {
    let reference = call.reference(Kind::Organization)?;
    let store = call.suite.store();
    let found = store.organizations.find(reference);
    let (index, row) = found.ok_or_else(|| Refusal::not_found("no such organization"))?;
    let mut body = item(&store, index, &row);
    body["createdAt"] = json!(row.created_at.to_string());
    Ok(Reply::ok(&body))
}

pub(super) fn matches(needle: Option<&Needle>, row: &Organization) -> bool {
    passes(needle, &[&row.name, &row.city])
}

fn item(store: &Store, index: u64, row: &Organization) -> Value {
    json!({
        "publicReference": store.organizations.reference(index),
        "displayName": row.name,
        "city": row.city,
        "status": row.status,
        "updatedAt": row.updated_at.to_string(),
        "recordVersion": row.version,
    })
}
