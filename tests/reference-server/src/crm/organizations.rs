//! Organizations. The contract doesn't document the fields of an item, so this server uses the obvious ones.

use jiff::Timestamp;
use serde::Serialize;
use serde_json::json;

use super::listing::{Details, Needle, Page};
use crate::call::{Answer, Call};
use crate::data::organizations::Organization;
use crate::data::{Store, Text};
use crate::message::Reply;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Item {
    public_reference: String,
    display_name: Text,
    city: Text,
    status: Text,
    updated_at: Timestamp,
    record_version: u64,
}

pub(crate) fn list(call: &Call<'_>) -> Answer {
    let (text, status) = (call.query("q"), call.query("status"));
    let page = Page::new(call, &[text, status])?;
    let needle = Needle::new(text);
    let store = call.suite.store();
    let body = page.fill(
        &store.organizations,
        |_, row| status.is_none_or(|status| row.status == status) && matches(&needle, row),
        |index, row| item(&store, index, row),
    );
    Ok(Reply::ok(&body))
}

pub(crate) fn get(call: &Call<'_>) -> Answer {
    let store = call.suite.store();
    let (index, row) = call.record(&store.organizations)?;
    let more = json!({"createdAt": row.created_at});
    let item = item(&store, index, row);
    Ok(Reply::ok(&Details { item, more }))
}

pub(super) fn matches(needle: &Needle, row: &Organization) -> bool {
    needle.is_in(&row.name) || needle.is_in(&row.city)
}

fn item(store: &Store, index: u64, row: Organization) -> Item {
    Item {
        public_reference: store.organizations.reference(index),
        display_name: row.name,
        city: row.city,
        status: row.status,
        updated_at: row.updated_at,
        record_version: row.version,
    }
}
