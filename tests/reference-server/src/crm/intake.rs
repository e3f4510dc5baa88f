//! The intake queue.

use serde_json::{Map, Value, json};

use super::listing::Page;
pub(crate) use super::review::{check as check_review, submit as review};
use crate::call::{Answer, Call};
use crate::data::intake::Linked;
use crate::data::{Record, Store, Table};
use crate::message::Reply;
use crate::refusal::Refusal;
use crate::schema::Broken;

/// Adds the rule for the `status` filter, whose values the contract leaves open.
pub(crate) fn check(call: &Call<'_>, broken: &mut Broken) -> Result<(), Refusal> {
    if let Some(status) = call.sent.query.get("status") {
        broken.check("intakeStatus", status, "status");
    }
    Ok(())
}

pub(crate) fn list(call: &Call<'_>) -> Answer {
    let (status, state) = (call.query("status"), call.query("state"));
    let page = Page::new(call, &[status, state.or(Some("all"))])?;
    let store = call.suite.store();
    let body = page.fill(
        &store.intake,
        |_, row| {
            status.is_none_or(|status| row.status == status)
                && match state {
                    Some("pending") => !row.is_final(),
                    Some("final") => row.is_final(),
                    _ => true,
                }
        },
        |index, row| {
            json!({
                "publicReference": store.intake.reference(index),
                "status": row.status,
                "subject": row.subject,
                "contact": row.contact(),
                "receivedAt": row.received_at,
                "recordVersion": row.version,
            })
        },
    );
    Ok(Reply::ok(&body))
}

pub(crate) fn get(call: &Call<'_>) -> Answer {
    let store = call.suite.store();
    let (_, row) = call.record(&store.intake)?;
    Ok(Reply::ok(&json!({
        "schemaVersion": "suite-crm-intake-detail.v2",
        "publicReference": call.param(0),
        "status": row.status,
        "contact": row.contact(),
        "processingEvents": row.processing_events(),
        "review": row.review,
        "linkedRecords": linked(&store, &row.linked),
        "reviewHistory": row.history,
        "recordVersion": row.version,
    })))
}

/// Returns the records that an accepted submission created; an empty object for other submissions.
fn linked(store: &Store, linked: &Linked) -> Value {
    let mut records = Map::new();
    if let Some((reference, row)) = named(&store.people, linked.person) {
        let brief = json!({"publicReference": reference, "displayName": row.display_name()});
        records.insert("person".to_owned(), brief);
    }
    if let Some(brief) = store.organization_brief(linked.organization) {
        records.insert("organization".to_owned(), json!(brief));
    }
    if let Some((reference, row)) = named(&store.opportunities, linked.opportunity) {
        let brief = json!({"publicReference": reference, "title": row.title, "stage": row.stage});
        records.insert("opportunity".to_owned(), brief);
    }
    Value::Object(records)
}

fn named<R: Record>(table: &Table<R>, index: Option<u64>) -> Option<(String, R)> {
    Some((table.reference(index?), table.get(index?)?))
}
