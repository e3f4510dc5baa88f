use sdk_core::{Effect, ErrorKind, ExactReplay, IdempotencyKey, Method, SchemaPolicy};
use sdk_crm::operations;
use sdk_reference_server::{Operation, ReferenceServer};
use serde_json::json;

use crate::peer::reply;
use crate::seams::transport::service::Scripted;
use crate::support::{Clients, assert_failed, assert_says, calendar_for, crm_for, once};

#[tokio::test]
async fn a_raw_call_of_an_operation_has_its_route_token_and_retries() {
    let server = ReferenceServer::start().await;
    once(&server, Operation::GetPerson).status(503);
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

    let call = |path: &str| crm.raw_call((Method::Get, path));
    let page = call("/api/crm/v1/people").query("limit", "1").await;
    let missing = call("/api/crm/v1/notes").await.unwrap_err();

    assert!(page.unwrap().as_str().contains("items"));
    assert!(missing.is_not_found());
    assert_eq!(missing.operation().unwrap().id, "rawCall");
}

#[tokio::test]
async fn a_raw_command_is_repeated_with_its_key() {
    let server = ReferenceServer::start().await;
    let calendar = calendar_for(&server);
    let body = json!({
        "operation": "create", "collectionReference": "raw", "title": "Raw", "timezone": "UTC",
        "startsAt": "2026-03-02T09:00:00Z", "endsAt": "2026-03-02T10:00:00Z"
    });
    once(&server, Operation::SubmitEventCommand).lose_reply();

    let receipt = calendar
        .raw_call((Method::Post, "/calendar/v1/event-commands"))
        .body(body)
        .idempotency_key(IdempotencyKey::random())
        .await
        .unwrap();

    assert_says(&receipt.as_str(), &["\"replayed\":true"]);
    assert_eq!(server.commits(Operation::SubmitEventCommand), 1);
}

#[tokio::test]
async fn a_key_repeats_nothing_when_the_caller_forbids_it() {
    let server = ReferenceServer::start().await;
    let calendar = calendar_for(&server);
    let paths = server.fault(Operation::ManageHold).lose_reply();
    // Before or after the key, of a path or of an operation, and when it is sent again from its stored form.
    let call = || calendar.raw_call((Method::Post, "/calendar/v1/hold-commands"));
    let of_operation = calendar.raw_call(&sdk_calendar::operations::MANAGE_HOLD);
    let (key, forbidden) = (IdempotencyKey::random, ExactReplay::Forbidden);
    let calls = [
        call().idempotency_key(key()).exact_replay(forbidden),
        call().exact_replay(forbidden).idempotency_key(key()),
        of_operation.exact_replay(forbidden).idempotency_key(key()),
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
async fn a_parameter_of_a_raw_path_is_one_segment_and_there() {
    let server = ReferenceServer::start().await;
    let crm = crm_for(&server);
    let call = || crm.raw_call(&operations::GET_PERSON);
    for value in ["", "..", "a/b", "%2F"] {
        let error = call().path("reference", value).await.unwrap_err();
        assert!(error.is_invalid_input(), "{value}: {error}");
    }
    assert_says(&call().await.unwrap_err(), &["reference"]);
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
    once(&server, Operation::SubmitCommand).lose_reply();

    let receipt = call("once").await.unwrap();

    assert_eq!(receipt.attempts(), 2);
    let expected = IdempotencyKey::derive("raw", ["once"]);
    let seen = server.requests_for(Operation::SubmitCommand);
    assert_eq!(seen.len(), 2);
    for seen in seen {
        assert_eq!(seen.idempotency_key(), Some(expected.as_str()));
    }

    once(&server, Operation::SubmitCommand).lose_reply();
    let forbidden = call("twice").exact_replay(ExactReplay::Forbidden);
    let error = forbidden.await.unwrap_err();
    assert_eq!((error.effect(), error.attempts()), (Effect::Unknown, 1));

    // The same holds for what was stored.
    once(&server, Operation::SubmitCommand).lose_reply();
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

    let hold_of_calendar = "`operation` must belong to crm: got calendar.manageHold";
    let of_path = "got the path /api/crm/v1/people/{reference}";
    let misspelt_name = format!("`refrence` must be a parameter of the path: {of_path}");
    for (call, why) in [(hold, hold_of_calendar), (misspelt, &misspelt_name)] {
        let error = call.await.unwrap_err();
        assert!(error.is_invalid_input(), "{error}");
        assert_says(&error, &[why]);
    }
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn a_url_is_as_long_as_the_transport_takes_it_and_no_longer() {
    let scripted = Scripted::always(reply(200).body("{}"));
    let crm = scripted.suite().crm();
    let base = "https://crm.suite.test/base/".len();
    for (length, fits) in [(65_534, true), (65_535, false)] {
        let path = format!("/{}", "a".repeat(length - base));
        let called = crm.raw_call((Method::Get, &*path)).await;
        assert_eq!(called.is_ok(), fits);
        if let Err(error) = called {
            assert_failed(&error, ErrorKind::InvalidInput, Effect::NotSent);
        }
    }
    assert_eq!(scripted.seen().len(), 1);
}
