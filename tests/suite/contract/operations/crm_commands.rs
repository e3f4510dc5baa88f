//! CRM: commands, whose bodies the contract does not show.

use sdk_core::Error;
use sdk_reference_server::Operation;
use serde_json::json;

use crate::contract::case::{Done, operations};
use crate::contract::world::World;

operations! {
    SubmitCommand => a_record_command_is_committed_with_a_201, a_stale_record_version_is_a_409;
    ReviewIntakeSubmission => a_review_is_committed_with_a_201, a_review_of_what_is_final_is_a_409;
}

async fn a_record_command_is_committed_with_a_201(world: &World) -> Done {
    let command = json!({
        "commandType": "task.create",
        "payload": {"title": "Call back", "dueAt": "2026-02-01T09:00:00Z"},
    });

    let receipt = world.crm.commands().submit(command.clone()).await.unwrap();

    assert_eq!(receipt.http_status(), 201);
    assert_eq!(receipt.to_value().unwrap()["recordVersion"], 1);
    assert_eq!(receipt.idempotency_key(), None);
    assert_eq!(world.last_body(Operation::SubmitCommand), command);
    Done::of(&receipt.into_response())
}

async fn a_stale_record_version_is_a_409(world: &World) -> Error {
    let command = json!({
        "commandType": "person.update",
        "subjectReference": world.server.sample_person(),
        "expectedRecordVersion": 999,
        "payload": {"jobTitle": "Controller"},
    });

    let error = world.crm.commands().submit(command).await.unwrap_err();

    assert!(error.is_conflict() && !error.is_idempotency_conflict());
    assert_eq!(error.code(), Some("stale_record_version"));
    assert!(
        error.message().starts_with("expected version 999"),
        "{error}"
    );
    error
}

async fn a_review_is_committed_with_a_201(world: &World) -> Done {
    let submission = world.server.sample_intake_submission();
    let review = json!({"submissionReference": submission, "decision": "accept"});

    let receipt = world.crm.intake().review(review.clone()).await.unwrap();

    assert_eq!(receipt.http_status(), 201);
    assert_eq!(receipt.to_value().unwrap()["status"], "accepted");
    assert_eq!(world.last_body(Operation::ReviewIntakeSubmission), review);
    let detail = world.crm.intake().get(submission).await.unwrap();
    assert_eq!((detail.record_version, detail.review_history.len()), (2, 1));
    Done::of(&receipt.into_response())
}

async fn a_review_of_what_is_final_is_a_409(world: &World) -> Error {
    let submission = world.server.sample_intake_submission();
    let review = |decision| json!({"submissionReference": submission, "decision": decision});
    world.crm.intake().review(review("accept")).await.unwrap();

    let error = world
        .crm
        .intake()
        .review(review("dismiss"))
        .await
        .unwrap_err();

    assert!(error.is_conflict());
    assert_eq!(error.code(), Some("invalid_state"));
    error
}
