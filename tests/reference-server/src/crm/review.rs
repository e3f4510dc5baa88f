//! The review of an intake submission. The contract doesn't document its body. This server assumes
//! `{submissionReference, decision, expectedRecordVersion?, note?, commandId?}`.

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

use super::commands::{Envelope, opportunities, organizations, people, settle};
use crate::call::{Answer, Call};
use crate::data::intake::{HISTORY_LIMIT, Intake, Linked};
use crate::data::{Change, Store};
use crate::refusal::Refusal;
use crate::schema::{self, Broken};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Command {
    submission_reference: String,
    decision: String,
    note: Option<String>,
    #[serde(flatten)]
    envelope: Envelope,
}

pub(crate) fn check(call: &Call<'_>, broken: &mut Broken) -> Result<(), Refusal> {
    if let Some(body) = &call.sent.body {
        broken.check("intake.review", body, "");
    }
    Ok(())
}

pub(crate) fn submit(call: &Call<'_>) -> Answer {
    let command: Command = schema::fields(call.body())?;
    let (reference, decision) = (&command.submission_reference, &command.decision);
    settle(call, &command.envelope, |store, now| {
        let status = match &**decision {
            "accept" => "accepted",
            "dismiss" => "dismissed",
            _ => "review_needed",
        };
        let actor = call.caller()?.actor;
        let review = json!({
            "decision": decision,
            "note": command.note,
            "reviewedAt": now.to_string(),
            "reviewer": store.owner(Some(actor)),
        });
        let result = apply(store, reference, &command.envelope, status, review, now)?;
        store.note_change(Change {
            action: format!("intake.{decision}"),
            subject_type: "intake_submission",
            reference: reference.clone(),
            occurred_at: now,
            actor,
        });
        Ok(result)
    })
}

fn apply(
    store: &mut Store,
    reference: &str,
    envelope: &Envelope,
    status: &str,
    review: Value,
    now: Timestamp,
) -> Result<Value, Refusal> {
    let (index, mut row) = store.intake.existing(reference)?;
    envelope.check_version(row.version)?;
    if row.is_final() {
        let message = format!("the submission is already {}", row.status);
        return Err(Refusal::conflict("invalid_state", message));
    }
    row.status = status.to_owned().into();
    row.version += 1;
    row.history.push(review.clone());
    let surplus = row.history.len().saturating_sub(HISTORY_LIMIT);
    row.history.drain(..surplus);
    row.review = Some(review);
    if row.status == "accepted" {
        row.linked = take_in(store, &row, now)?;
    }
    let result = json!({
        "outcome": "succeeded",
        "publicReference": reference,
        "status": row.status,
        "recordVersion": row.version,
    });
    store.intake.replace(index, row);
    Ok(result)
}

/// Creates the records of an accepted submission: an organization, a person in it, and an opportunity.
fn take_in(store: &mut Store, row: &Intake, now: Timestamp) -> Result<Linked, Refusal> {
    let company = json!({"displayName": row.company});
    let company: organizations::Payload = schema::fields(&company)?;
    let organization = Some(store.organizations.create(company.create(now)));
    let contact = json!({"givenName": row.given, "familyName": row.family});
    let contact: people::Payload = schema::fields(&contact)?;
    let mut contact = contact.create(store, now)?;
    contact.organization = organization;
    let person = Some(store.people.create(contact));
    let inquiry: opportunities::Payload = schema::fields(&json!({"title": row.subject}))?;
    let mut inquiry = inquiry.create(store, now)?;
    (inquiry.organization, inquiry.person) = (organization, person);
    Ok(Linked {
        person,
        organization,
        opportunity: Some(store.opportunities.create(inquiry)),
    })
}
