//! Invoice drafts.

use jiff::civil::Date;
use serde_json::{Value, json};

use super::{once, result};
use crate::call::{Answer, Call};
use crate::data::Store;
use crate::data::reference::Kind;
use crate::fields::Fields;
use crate::message::Reply;
use crate::refusal::Refusal;

/// Bounds of the number of lines.
const LINES: std::ops::RangeInclusive<usize> = 1..=200;

/// The drafts made here, newest first, each with its receipt.
pub(crate) fn list(call: &Call<'_>) -> Answer {
    let store = call.suite.store();
    Ok(Reply::ok(
        &json!({"items": store.ledger.latest(), "nextCursor": null}),
    ))
}

pub(crate) fn create_draft(call: &Call<'_>) -> Answer {
    once(call, check, apply)
}

/// What the schema demands: 400.
fn check(draft: Fields<'_>) -> Result<(), Refusal> {
    draft.constant("schemaVersion", "suite-accounting-invoice-draft-create.v1")?;
    draft.required("counterpartyReference")?;
    draft.reference("counterpartyReference", Kind::Counterparty)?;
    for name in ["billingProfileReference", "customerNote", "internalNote"] {
        draft.text(name)?;
    }
    date(draft, "documentDate")?;
    date(draft, "dueDate")?;
    draft.required("taxAmount")?;
    if let Some(tax) = draft.object("taxAmount")? {
        tax.integer("scale")?;
    }
    draft.required("lines")?;
    let lines = draft.array("lines")?.map_or(0, Vec::len);
    if !LINES.contains(&lines) {
        return Err(Refusal::invalid(format!(
            "lines: 1 to 200 are needed, {lines} were given"
        )));
    }
    Ok(())
}

/// What the business demands: 422. The reasons are not shown.
fn apply(store: &mut Store, draft: Fields<'_>) -> Result<Value, Refusal> {
    let rejected = |message: &str| Refusal::new(422, "invoice_draft_rejected", message);
    let reference = draft.required_text("counterpartyReference")?;
    let counterparty = store.counterparties.find(reference);
    let (_, counterparty) =
        counterparty.ok_or_else(|| rejected("there is no such counterparty"))?;
    if counterparty.status != "active" {
        return Err(rejected("the counterparty is archived"));
    }
    if let (Some(document), Some(due)) = (date(draft, "documentDate")?, date(draft, "dueDate")?)
        && due < document
    {
        return Err(rejected("it is due before its own date"));
    }
    let subject = store.name(Kind::InvoiceDraft);
    let result = result(store, "invoice-draft.create", "succeeded", &subject);
    store.ledger.add_draft(json!({
        "publicReference": subject,
        "commandReceiptReference": result["commandReceiptReference"],
        "counterpartyReference": reference,
        "status": "draft",
        "documentDate": draft.get("documentDate"),
        "dueDate": draft.get("dueDate"),
        "lineCount": draft.array("lines")?.map_or(0, Vec::len),
        "recordVersion": 1,
    }));
    Ok(result)
}

/// A full date in ISO 8601, and nothing else that a date parser would take.
fn date(draft: Fields<'_>, name: &str) -> Result<Option<Date>, Refusal> {
    let Some(text) = draft.text(name)? else {
        return Ok(None);
    };
    let parsed = (text.len() == 10).then(|| text.parse().ok()).flatten();
    let date = parsed
        .ok_or_else(|| Refusal::invalid(format!("{name}: a date like 2026-01-31 is needed")))?;
    Ok(Some(date))
}
