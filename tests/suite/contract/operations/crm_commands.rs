//! CRM: commands, whose bodies the contract doesn't document.

use sdk_core::{Error, RawJson, Receipt};
use sdk_reference_server::Operation;
use serde_json::{Value, json};

use super::operations;
use crate::contract::setup::Setup;

operations! {
    SubmitCommand: |setup| setup.crm.commands().submit(new_task()) => a_task_is_committed,
        409 "stale_record_version" "expected version 999":
        |setup| setup.crm.commands().submit(stale_promotion(setup));
    ReviewIntakeSubmission: |setup| setup.crm.intake().review(review(setup)) => a_review_is_committed,
        409 "invalid_state" "": |setup| another_decision(setup);
}

fn new_task() -> Value {
    json!({
        "commandType": "task.create",
        "payload": {"title": "Call back", "dueAt": "2026-02-01T09:00:00Z"},
    })
}

fn a_task_is_committed(setup: &Setup, receipt: &Receipt<RawJson>) {
    assert_eq!(receipt.http_status(), 201);
    assert_eq!(receipt.to_value().unwrap()["recordVersion"], 1);
    assert_eq!(receipt.idempotency_key(), None);
    assert_eq!(setup.last_body(Operation::SubmitCommand), new_task());
}

fn stale_promotion(setup: &Setup) -> Value {
    json!({
        "commandType": "person.update",
        "subjectReference": setup.server.sample_person(),
        "expectedRecordVersion": 999,
        "payload": {"jobTitle": "Controller"},
    })
}

/// Returns a review of the first pending submission.
fn review(setup: &Setup) -> Value {
    let submission = setup.server.sample_intake_submission();
    json!({"submissionReference": submission, "decision": "accept"})
}

fn a_review_is_committed(setup: &Setup, receipt: &Receipt<RawJson>) {
    assert_eq!(receipt.http_status(), 201);
    let result = receipt.to_value().unwrap();
    assert_eq!(result["status"], "accepted");
    let sent = json!({"submissionReference": result["publicReference"], "decision": "accept"});
    assert_eq!(setup.last_body(Operation::ReviewIntakeSubmission), sent);
}

async fn another_decision(setup: &Setup) -> Result<Receipt<RawJson>, Error> {
    let mut review = review(setup);
    setup.crm.intake().review(review.clone()).await.unwrap();
    review["decision"] = json!("dismiss");
    setup.crm.intake().review(review).await
}
