use sdk_core::{Effect, IdempotencyKey, Method, RetryPolicy};
use sdk_crm::operations;
use sdk_reference_server::{Operation, ReferenceServer};
use serde_json::json;

use crate::support::{calendar_for, crm_for};

#[tokio::test]
async fn a_raw_call_of_an_operation_has_its_route_token_and_retries() {
    let server = ReferenceServer::start().await;
    server.fault(Operation::GetPerson).times(1).status(503);
    let reference = server.sample_person();

    let person = crm_for(&server)
        .raw_call(&operations::GET_PERSON)
        .path("reference", &reference)
        .await
        .unwrap();

    assert!(person.as_str().contains(&reference));
    assert_eq!(person.attempts(), 2);
    assert_eq!(server.attempts(Operation::GetPerson), 2);
}

#[tokio::test]
async fn a_raw_path_reaches_what_the_sdk_does_not_know_and_fails_as_any_call() {
    let server = ReferenceServer::start().await;
    let crm = crm_for(&server);

    let page = crm
        .raw_call((Method::Get, "/api/crm/v1/people"))
        .query("limit", "1")
        .await
        .unwrap();
    let missing = crm
        .raw_call((Method::Get, "/api/crm/v1/notes"))
        .await
        .unwrap_err();

    assert!(page.as_str().contains("items"));
    assert!(missing.is_not_found());
    assert_eq!(
        missing.operation().map(|operation| operation.id),
        Some("rawCall")
    );
}

#[tokio::test]
async fn a_raw_command_is_repeated_only_with_a_key() {
    let server = ReferenceServer::start().await;
    let calendar = calendar_for(&server);
    let body = json!({
        "operation": "create", "collectionReference": "raw", "title": "Raw", "timezone": "UTC",
        "startsAt": "2026-03-02T09:00:00Z", "endsAt": "2026-03-02T10:00:00Z"
    });
    server
        .fault(Operation::SubmitEventCommand)
        .times(1)
        .lose_reply();

    let receipt = calendar
        .raw_call((Method::Post, "/calendar/v1/event-commands"))
        .body(body.clone())
        .idempotency_key(IdempotencyKey::random())
        .await
        .unwrap();

    assert!(
        receipt.as_str().contains("\"replayed\":true"),
        "{}",
        receipt.as_str()
    );
    assert_eq!(server.commits(Operation::SubmitEventCommand), 1);

    server.fault(Operation::ManageHold).times(1).lose_reply();
    let error = calendar
        .raw_call((Method::Post, "/calendar/v1/hold-commands"))
        .body(body)
        .await
        .unwrap_err();
    assert_eq!((error.effect(), error.attempts()), (Effect::Unknown, 1));
}

#[tokio::test]
async fn a_raw_path_cannot_climb_or_carry_a_query() {
    let server = ReferenceServer::start().await;
    let crm = crm_for(&server);
    for path in [
        "people",
        "/a/../b",
        "/a//b",
        "/a/%2e%2e/b",
        "/a?b=c",
        "/a#b",
        "",
        "/",
    ] {
        let error = crm
            .raw_call((Method::Get, path))
            .retry(RetryPolicy::none())
            .await
            .unwrap_err();
        assert!(
            error.is_invalid_input() && error.effect() == Effect::NotSent,
            "{path}: {error}"
        );
    }
    for value in ["", "..", "a/b", "%2F"] {
        let error = crm
            .raw_call(&operations::GET_PERSON)
            .path("reference", value)
            .await
            .unwrap_err();
        assert!(error.is_invalid_input(), "{value}: {error}");
    }
    assert!(
        crm.raw_call(&operations::GET_PERSON)
            .await
            .unwrap_err()
            .to_string()
            .contains("reference")
    );
    assert!(server.requests().is_empty());
}
