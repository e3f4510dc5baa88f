//! The review of an intake submission. Its body is not shown; this one is taken to be
//! `{submissionReference, decision, expectedRecordVersion?, note?, commandId?}`.

use serde_json::{Value, json};

use super::commands::{Envelope, settle};
use crate::call::{Answer, Call};
use crate::data::Store;
use crate::data::intake::HISTORY_LIMIT;
use crate::data::reference::Kind;
use crate::fields::Fields;
use crate::refusal::Refusal;

/// What a reviewer may decide, and the status that follows.
const DECISIONS: [(&str, &str); 3] = [
    ("accept", "accepted"),
    ("dismiss", "dismissed"),
    ("request_review", "review_needed"),
];

pub(crate) fn submit(call: &Call<'_>) -> Answer {
    let body = call.json()?;
    let fields = Fields::of(&body)?;
    let envelope = Envelope::read(fields)?;
    fields.required("submissionReference")?;
    let reference = fields
        .reference("submissionReference", Kind::Intake)?
        .unwrap_or_default();
    fields.required("decision")?;
    let decision = fields
        .one_of("decision", &DECISIONS.map(|(decision, _)| decision))?
        .unwrap_or_default();
    let note = fields.text("note")?;
    settle(call, &body, &envelope, |store| {
        let status = DECISIONS
            .iter()
            .find(|(name, _)| *name == decision)
            .map_or(decision, |(_, status)| status);
        let review = json!({
            "decision": decision,
            "note": note,
            "reviewedAt": call.now.to_string(),
            "reviewer": store.owner(Some(call.caller()?.actor)),
        });
        apply(store, reference, &envelope, status, review)
    })
}

fn apply(
    store: &mut Store,
    reference: &str,
    envelope: &Envelope,
    status: &str,
    review: Value,
) -> Result<Value, Refusal> {
    let found = store.intake.find(reference);
    let (index, mut row) = found.ok_or_else(|| Refusal::not_found("no such intake submission"))?;
    envelope.check_version(row.version)?;
    if row.is_final() {
        let message = format!("the submission is {} already", row.status);
        return Err(Refusal::conflict("invalid_state", message));
    }
    row.status = status.to_owned().into();
    row.version += 1;
    row.history.push(review.clone());
    let surplus = row.history.len().saturating_sub(HISTORY_LIMIT);
    row.history.drain(..surplus);
    row.review = Some(review);
    let result = json!({
        "outcome": "succeeded",
        "publicReference": reference,
        "status": row.status,
        "recordVersion": row.version,
    });
    store.intake.replace(index, row);
    Ok(result)
}
