//! Raw calls by operation or by path, and their common behavior with typed calls.

use sdk_core::{Effect, ErrorKind, ExactReplay, IdempotencyKey, Method};
use sdk_crm::operations;
use sdk_reference_server::Operation;
use serde_json::json;

use crate::fixtures::in_memory;
use crate::support::{Clients, assert_unsent, once};

#[tokio::test]
async fn a_raw_call_has_the_route_token_and_retries_of_its_operation_or_path() {
    let (server, suite) = in_memory();
    let crm = suite.crm();
    let reference = server.sample_person();
    let of_operation = crm
        .raw_call(&operations::GET_PERSON)
        .path("reference", &reference);
    let path = format!("/api/crm/v1/people/{reference}");
    for call in [of_operation, crm.raw_call((Method::Get, &*path))] {
        once(&server, Operation::GetPerson).status(503);
        let person = call.await.unwrap();
        assert!(person.as_str().contains(&reference));
        assert_eq!(person.attempts(), 2);
    }
    assert_eq!(server.attempts(Operation::GetPerson), 4);
    let page = crm.raw_call((Method::Get, "/api/crm/v1/people"));
    let page = page.query("limit", "1").await.unwrap();
    assert!(page.as_str().contains("items"));
    let missing = crm.raw_call((Method::Get, "/api/crm/v1/notes"));
    let missing = missing.await.unwrap_err();
    assert!(missing.is_not_found());
    assert_eq!(missing.operation().unwrap().id, "rawCall");
}

#[tokio::test]
async fn a_raw_command_with_a_key_is_retried_even_from_its_stored_form() {
    let (server, suite) = in_memory();
    let crm = suite.crm();
    let of_operation = crm.raw_call(&operations::SUBMIT_COMMAND);
    let of_path = crm.raw_call((Method::Post, "/api/crm/v1/commands"));
    for (call, key) in [
        (of_operation, "the-key-of-an-operation"),
        (of_path, "the-key-of-a-path"),
    ] {
        let body = json!({"commandType": "task.create", "payload": {"title": key}});
        let call = call.body(body).idempotency_key(key);
        let command = call.clone().prepare().unwrap();
        once(&server, Operation::SubmitCommand).lose_reply();
        assert_eq!(call.await.unwrap().attempts(), 2);
        once(&server, Operation::SubmitCommand).lose_reply();
        let again = crm.send_prepared(&command).allow_raw_path();
        assert_eq!(again.await.unwrap().attempts(), 2);

        let seen = server.requests_for(Operation::SubmitCommand);
        let own = seen.iter().filter(|it| it.idempotency_key() == Some(key));
        assert_eq!(own.count(), 4);
    }
    assert_eq!(server.attempts(Operation::SubmitCommand), 8);
    assert_eq!(server.commits(Operation::SubmitCommand), 2);
}

#[tokio::test]
async fn a_key_causes_no_retry_if_the_caller_forbids_it() {
    let (server, suite) = in_memory();
    let calendar = suite.calendar();
    let paths = server.fault(Operation::ManageHold).lose_reply();
    // The caller forbids it before or after setting the key, with a path or an operation, or when resending the stored
    // form.
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
async fn a_raw_call_that_does_not_match_its_operation_or_a_url_is_never_sent() {
    let (server, suite) = in_memory();
    let crm = suite.crm();
    let person = || crm.raw_call(&operations::GET_PERSON);
    let known = person().path("reference", "PER-0123456789AB");
    let misspelt = known.path("refrence", "PER-0123456789AB");
    let parameter =
        "`refrence` must be a parameter of the path: got the path /api/crm/v1/people/{reference}";
    let foreign = crm.raw_call(&sdk_calendar::operations::MANAGE_HOLD);
    let operation = "`operation` must belong to crm: got calendar.manageHold";
    for (call, words) in [
        (person().path("reference", ""), "`reference`"),
        (person().path("reference", "%2F"), "`reference`"),
        (person(), "reference"),
        (misspelt, parameter),
        (foreign, operation),
    ] {
        assert_unsent(&call.await.unwrap_err(), ErrorKind::InvalidInput, &[words]);
    }
    assert!(server.requests().is_empty());

    // The transport limits the length of a URL.
    let base = crm.origin().len() + "/".len();
    let long = |length: usize| {
        let path = format!("/{}", "a".repeat(length - base));
        crm.raw_call((Method::Get, &*path))
    };
    assert!(long(65_534).await.unwrap_err().is_not_found());
    let error = long(65_535).await.unwrap_err();
    assert_unsent(&error, ErrorKind::InvalidInput, &[]);
}
