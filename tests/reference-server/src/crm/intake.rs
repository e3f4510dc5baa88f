//! The intake queue.

use serde_json::{Value, json};

use super::listing::Page;
use crate::call::{Answer, Call};
use crate::data::Store;
use crate::data::intake::{Intake, STATUSES};
use crate::data::reference::Kind;
use crate::message::Reply;
use crate::refusal::Refusal;

/// Bounds of the cursor's length on this list.
const CURSOR: (usize, usize) = (20, 500);

pub(crate) fn list(call: &Call<'_>) -> Answer {
    let status = call.query.one_of("status", &STATUSES)?;
    let state = call.query.one_of("state", &["pending", "final", "all"])?;
    if status.is_some() && state.is_some() {
        return Err(Refusal::invalid("status and state exclude each other"));
    }
    call.query.bounded("cursor", CURSOR)?;
    let page = Page::of_records(call, &[status.unwrap_or(""), state.unwrap_or("all")])?;
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
        |index, row| item(&store, index, row),
    );
    Ok(Reply::ok(&body))
}

pub(crate) fn get(call: &Call<'_>) -> Answer {
    let reference = call.reference(Kind::Intake)?;
    let store = call.suite.store();
    let found = store.intake.find(reference);
    let (_, row) = found.ok_or_else(|| Refusal::not_found("no such intake submission"))?;
    Ok(Reply::ok(&json!({
        "schemaVersion": "suite-crm-intake-detail.v2",
        "publicReference": reference,
        "status": row.status,
        "contact": row.contact(),
        "processingEvents": row.processing_events(),
        "review": row.review,
        "linkedRecords": {},
        "reviewHistory": row.history,
        "recordVersion": row.version,
    })))
}

fn item(store: &Store, index: u64, row: &Intake) -> Value {
    json!({
        "publicReference": store.intake.reference(index),
        "status": row.status,
        "subject": row.subject,
        "contact": row.contact(),
        "receivedAt": row.received_at.to_string(),
        "recordVersion": row.version,
    })
}
