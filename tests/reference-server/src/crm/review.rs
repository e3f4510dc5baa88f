//! The review of an intake submission. The contract does not show its body; it is assumed to be
//! `{submissionReference, decision, expectedRecordVersion?, note?, commandId?}`.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::commands::{Envelope, settle};
use crate::call::{Answer, Call};
use crate::data::intake::{HISTORY_LIMIT, Intake, Linked};
use crate::data::opportunities::Opportunity;
use crate::data::organizations::Organization;
use crate::data::people::Person;
use crate::data::reference::Kind;
use crate::data::{Change, Store};
use crate::fields::Fields;
use crate::refusal::Refusal;

/// What a reviewer may decide, and the status that follows.
const DECISIONS: [(&str, &str); 3] = [
    ("accept", "accepted"),
    ("dismiss", "dismissed"),
    ("request_review", "review_needed"),
];

pub(crate) fn submit(call: &Call<'_>) -> Answer {
    let body = call.json();
    let fields = Fields::of(body)?.or_null();
    let envelope = Envelope::read(fields)?;
    let reference = fields
        .required("submissionReference")?
        .reference("submissionReference", Kind::Intake)?
        .unwrap_or_default();
    let decision = fields
        .required("decision")?
        .one_of("decision", &DECISIONS.map(|(decision, _)| decision))?
        .unwrap_or_default();
    let note = fields.text("note")?;
    settle(call, body, &envelope, |store| {
        let status = DECISIONS
            .iter()
            .find(|(name, _)| *name == decision)
            .map_or(decision, |(_, status)| status);
        let actor = call.caller()?.actor;
        let review = json!({
            "decision": decision,
            "note": note,
            "reviewedAt": call.now.to_string(),
            "reviewer": store.owner(Some(actor)),
        });
        let result = apply(store, reference, &envelope, status, review, call.now)?;
        store.note_change(Change {
            action: format!("intake.{decision}"),
            subject_type: "intake_submission",
            reference: reference.to_owned(),
            occurred_at: call.now,
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
        row.linked = take_in(store, &row, now);
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

/// Creates the records that an accepted submission becomes: an organization, a person in it, and an opportunity.
fn take_in(store: &mut Store, row: &Intake, now: Timestamp) -> Linked {
    let organization = store.organizations.create(Organization {
        name: row.company.clone().into(),
        city: "".into(),
        status: "active".into(),
        created_at: now,
        updated_at: now,
        version: 1,
    });
    let person = store.people.create(Person {
        given: row.given.clone(),
        family: row.family.clone(),
        email: None,
        job: "".into(),
        organization: Some(organization),
        status: "active".into(),
        created_at: now,
        updated_at: now,
        version: 1,
    });
    let opportunity = store.opportunities.create(Opportunity {
        title: row.subject.clone(),
        stage: "new",
        before: None,
        entered_stage_at: now,
        close_reason: None,
        organization: Some(organization),
        person: Some(person),
        owner: None,
        value_min_minor: 0,
        value_max_minor: 0,
        currency: "EUR".into(),
        created_at: now,
        updated_at: now,
        version: 1,
    });
    Linked {
        person: Some(person),
        organization: Some(organization),
        opportunity: Some(opportunity),
    }
}
