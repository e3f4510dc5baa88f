//! Invoice drafts.

use std::collections::HashMap;

use jiff::civil::Date;
use serde_json::Value;
use serde_json::value::RawValue;

use super::ledger::Draft;
use super::{once, result};
use crate::call::{Answer, Call};
use crate::data::Store;
use crate::data::reference::Kind;
use crate::fields::Fields;
use crate::refusal::Refusal;

/// Bounds of the number of lines.
const LINES: std::ops::RangeInclusive<usize> = 1..=200;

pub(crate) fn create(call: &Call<'_>) -> Answer {
    once(call, check, |store, draft| apply(call, store, draft))
}

/// The rules of the schema: 400.
fn check(draft: Fields<'_>) -> Result<(), Refusal> {
    draft.constant("schemaVersion", "suite-accounting-invoice-draft-create.v1")?;
    draft
        .required("counterpartyReference")?
        .reference("counterpartyReference", Kind::Counterparty)?;
    for name in ["billingProfileReference", "customerNote", "internalNote"] {
        draft.or_null().text(name)?;
    }
    date(draft, "documentDate")?;
    date(draft, "dueDate")?;
    draft.required("taxAmount")?;
    let lines = draft
        .required("lines")?
        .array("lines")?
        .map_or(0, <[_]>::len);
    if !LINES.contains(&lines) {
        return Err(Refusal::invalid(format!(
            "lines: must have 1 to 200 entries, has {lines}"
        )));
    }
    Ok(())
}

/// The business rules: 422. The contract does not show them.
fn apply(call: &Call<'_>, store: &mut Store, draft: Fields<'_>) -> Result<Value, Refusal> {
    let tax_amount = exact_tax_amount(call)?;
    let rejected = |message: &str| Refusal::new(422, "invoice_draft_rejected", message);
    let reference = draft.required_text("counterpartyReference")?;
    let counterparty = store.counterparties.find(reference);
    let (_, counterparty) = counterparty.ok_or_else(|| rejected("no such counterparty"))?;
    if counterparty.status != "active" {
        return Err(rejected("the counterparty is archived"));
    }
    if let (Some(document), Some(due)) = (date(draft, "documentDate")?, date(draft, "dueDate")?)
        && due < document
    {
        return Err(rejected("dueDate is before documentDate"));
    }
    let subject = store.name(Kind::InvoiceDraft);
    let result = result(call, store, "invoice-draft.create", "succeeded", &subject);
    let receipt = result["commandReceiptReference"]
        .as_str()
        .unwrap_or_default();
    let member = |name: &str| {
        draft
            .or_null()
            .text(name)
            .map(|text| text.map(str::to_owned))
    };
    store.ledger.add_draft(Draft {
        public_reference: subject,
        command_receipt_reference: receipt.to_owned(),
        counterparty_reference: reference.to_owned(),
        status: "draft",
        billing_profile_reference: member("billingProfileReference")?,
        document_date: member("documentDate")?,
        due_date: member("dueDate")?,
        customer_note: member("customerNote")?,
        internal_note: member("internalNote")?,
        tax_amount,
        line_count: draft.array("lines")?.map_or(0, <[_]>::len),
        approval_intent_reference: None,
        record_version: 1,
    });
    Ok(result)
}

/// `taxAmount` as it stands in the body, letter for letter; the last one if there are several.
fn exact_tax_amount(call: &Call<'_>) -> Result<Box<RawValue>, Refusal> {
    let members: HashMap<String, &RawValue> = serde_json::from_slice(&call.request.body)
        .map_err(|error| Refusal::invalid(error.to_string()))?;
    let amount = members.get("taxAmount").copied();
    amount
        .map(ToOwned::to_owned)
        .ok_or_else(|| Refusal::invalid("taxAmount: missing"))
}

/// A full date in ISO 8601, and no other form that a date parser accepts.
fn date(draft: Fields<'_>, name: &str) -> Result<Option<Date>, Refusal> {
    let Some(text) = draft.or_null().text(name)? else {
        return Ok(None);
    };
    let parsed = (text.len() == 10).then(|| text.parse().ok()).flatten();
    let date = parsed
        .ok_or_else(|| Refusal::invalid(format!("{name}: must be a date like 2026-01-31")))?;
    Ok(Some(date))
}
