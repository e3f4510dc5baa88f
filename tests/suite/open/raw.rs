use sdk_core::{Effect, ErrorKind, ExactReplay, IdempotencyKey, Method, RetryPolicy, SchemaPolicy};
use sdk_crm::operations;
use sdk_reference_server::{Operation, ReferenceServer};
use serde_json::json;

use crate::support::{assert_says, calendar_for, crm_for};

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
async fn a_key_repeats_nothing_when_the_caller_forbids_it() {
    let server = ReferenceServer::start().await;
    let calendar = calendar_for(&server);
    let paths = server.fault(Operation::ManageHold).lose_reply();
    // Before or after the key, of a path or of an operation, and when it is sent again from its stored form.
    let call = || calendar.raw_call((Method::Post, "/calendar/v1/hold-commands"));
    let of_operation = calendar.raw_call(&sdk_calendar::operations::MANAGE_HOLD);
    let calls = [
        call()
            .idempotency_key(IdempotencyKey::random())
            .exact_replay(ExactReplay::Forbidden),
        call()
            .exact_replay(ExactReplay::Forbidden)
            .idempotency_key(IdempotencyKey::random()),
        of_operation
            .exact_replay(ExactReplay::Forbidden)
            .idempotency_key(IdempotencyKey::random()),
    ];
    let count = calls.len() as u64;

    for call in calls {
        let error = call.body(json!({})).await.unwrap_err();
        assert_eq!((error.effect(), error.attempts()), (Effect::Unknown, 1));
        let command = error.into_command().unwrap();
        let again = calendar.send_prepared(&command).allow_raw_path();
        let again = again.exact_replay(ExactReplay::Forbidden);
        assert_eq!(again.await.unwrap_err().attempts(), 1);
    }

    assert_eq!(paths.struck(), 2 * count);
    assert_eq!(server.attempts(Operation::ManageHold), 2 * count);
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

#[tokio::test]
async fn a_raw_call_of_an_operation_is_held_to_its_schema_as_a_typed_one() {
    let server = ReferenceServer::start().await;
    let crm = crm_for(&server);
    server.fault(Operation::GetToday).schema_suffix("v9");
    let call = crm.raw_call(&operations::GET_TODAY);

    let error = call.clone().await.unwrap_err();
    let taken = call.schema_policy(SchemaPolicy::Warn).await.unwrap();

    assert_eq!(error.kind(), ErrorKind::SchemaVersion);
    assert!(taken.as_str().contains("suite-crm-today.v9"));
    assert_eq!(server.attempts(Operation::GetToday), 2);
}

#[tokio::test]
async fn a_key_that_the_contract_does_not_show_makes_a_raw_command_repeatable() {
    let server = ReferenceServer::start().await;
    let crm = crm_for(&server);
    let call = |title: &str| {
        crm.raw_call(&operations::SUBMIT_COMMAND)
            .body(json!({"commandType": "task.create", "payload": {"title": title}}))
            .idempotency_key(IdempotencyKey::derive("raw", [title]))
    };
    server.fault(Operation::SubmitCommand).times(1).lose_reply();

    let receipt = call("once").await.unwrap();

    assert_eq!(receipt.attempts(), 2);
    let requests = server.requests();
    let keys: Vec<_> = requests
        .iter()
        .filter_map(|request| request.idempotency_key())
        .collect();
    let expected = IdempotencyKey::derive("raw", ["once"]);
    assert_eq!(keys, [expected.as_str(); 2]);

    server.fault(Operation::SubmitCommand).times(1).lose_reply();
    let error = call("twice")
        .exact_replay(ExactReplay::Forbidden)
        .await
        .unwrap_err();
    assert_eq!((error.effect(), error.attempts()), (Effect::Unknown, 1));

    // The same holds for what was stored.
    server.fault(Operation::SubmitCommand).times(1).lose_reply();
    let command = call("stored").prepare().unwrap();
    let receipt = crm.send_prepared(&command).await.unwrap();
    assert_eq!(receipt.attempts(), 2);
    assert_eq!(server.commits(Operation::SubmitCommand), 3);
}

#[tokio::test]
async fn a_raw_call_of_what_is_not_there_is_refused_by_name() {
    let server = ReferenceServer::start().await;
    let crm = crm_for(&server);
    let hold = crm.raw_call(&sdk_calendar::operations::MANAGE_HOLD);
    let misspelt = crm
        .raw_call(&operations::GET_PERSON)
        .path("reference", "PER-0123456789AB")
        .path("refrence", "PER-0123456789AB");

    for (call, why) in [
        (
            hold,
            "`operation` must belong to crm: got calendar.manageHold",
        ),
        (
            misspelt,
            "`refrence` must be a parameter of the path: got the path /api/crm/v1/people/{reference}",
        ),
    ] {
        let error = call.await.unwrap_err();
        assert!(error.is_invalid_input(), "{error}");
        assert_says(&error, &[why]);
    }
    assert!(server.requests().is_empty());
}
