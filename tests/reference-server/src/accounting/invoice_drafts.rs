//! Invoice drafts.

use std::collections::HashMap;

use serde_json::Value;
use serde_json::value::RawValue;

use super::ledger::{Draft, Request};
use super::{once, result};
use crate::call::{Answer, Call};
use crate::data::Store;
use crate::data::reference::Kind;
use crate::refusal::Refusal;
use crate::schema;

pub(crate) fn create(call: &Call<'_>) -> Answer {
    once(call, |store| apply(call, store))
}

/// A broken business rule is a 422; the contract doesn't document these rules.
fn apply(call: &Call<'_>, store: &mut Store) -> Result<Value, Refusal> {
    let request: Request = schema::fields(call.body())?;
    let rejected = |message: &str| Refusal::new(422, "invoice_draft_rejected", message);
    let counterparty = store.counterparties.find(&request.counterparty_reference);
    let (_, counterparty) = counterparty.ok_or_else(|| rejected("no such counterparty"))?;
    if counterparty.status != "active" {
        return Err(rejected("the counterparty is archived"));
    }
    if let (Some(document), Some(due)) = (request.document_date, request.due_date)
        && due < document
    {
        return Err(rejected("dueDate is before documentDate"));
    }
    let tax_amount = exact_tax_amount(call)?;
    let subject = store.name(Kind::InvoiceDraft);
    let result = result(call, store, "invoice-draft.create", "succeeded", &subject);
    let receipt = &result["commandReceiptReference"];
    store.ledger.add_draft(Draft {
        public_reference: subject,
        command_receipt_reference: receipt.as_str().unwrap_or_default().to_owned(),
        status: "draft",
        request,
        tax_amount,
        line_count: call.body()["lines"].as_array().map_or(0, Vec::len),
        approval_intent_reference: None,
        record_version: 1,
    });
    Ok(result)
}

/// Returns `taxAmount` exactly as it appears in the body. If it occurs more than once, the last wins.
fn exact_tax_amount(call: &Call<'_>) -> Result<Box<RawValue>, Refusal> {
    let fields: HashMap<String, &RawValue> = serde_json::from_slice(&call.request.body)
        .map_err(|error| Refusal::invalid(error.to_string()))?;
    let amount = fields.get("taxAmount").copied();
    let missing = || Refusal::invalid("taxAmount: missing");
    amount.map(ToOwned::to_owned).ok_or_else(missing)
}
