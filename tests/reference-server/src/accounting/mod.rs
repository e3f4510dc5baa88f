//! Accounting.

pub(crate) mod actor;
pub(crate) mod approval_intents;
pub(crate) mod counterparties;
pub(crate) mod import_runs;
pub(crate) mod invoice_drafts;
pub(crate) mod invoices;
pub(crate) mod ledger;
pub(crate) mod overview;
pub(crate) mod service;

use serde_json::{Value, json};

use crate::call::{Answer, Call};
use crate::data::Store;
use crate::data::reference::Kind;
use crate::idempotency;
use crate::message::Reply;
use crate::refusal::Refusal;

/// Returns the documented result of an accounting command, and adds its new receipt to the overview.
fn result(
    call: &Call<'_>,
    store: &mut Store,
    operation: &'static str,
    outcome: &'static str,
    subject: &str,
) -> Value {
    let receipt = store.name(Kind::Receipt);
    store.ledger.note(json!({
        "operation": operation,
        "outcome": outcome,
        "subjectReference": subject,
        "commandReceiptReference": receipt,
        "occurredAt": call.now,
    }));
    json!({
        "schemaVersion": "suite-accounting-command-result.v1",
        "operation": operation,
        "outcome": outcome,
        "commandReceiptReference": receipt,
        "subjectReference": subject,
        "recordVersion": 1,
        "replayed": false,
    })
}

/// Applies a command once per key. A replay is also a 201, because that is the only documented success.
fn once(call: &Call<'_>, apply: impl FnOnce(&mut Store) -> Result<Value, Refusal>) -> Answer {
    let settled = idempotency::once_per_key(call, apply)?;
    Ok(Reply::json(201, &settled.result))
}
