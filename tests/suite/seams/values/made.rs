//! Errors, responses, receipts and pages that a test builds without a call.

use std::fmt::Debug;
use std::time::Duration;

use sdk_calendar::operations::SUBMIT_EVENT_COMMAND;
use sdk_calendar::types::CalendarCommandResult;
use sdk_core::testing::{self, ScriptedTransport, error as made};
use sdk_core::{
    Effect, Error, ErrorKind as Kind, IdempotencyKey, Operation, Page, RawJson, Receipt, Record,
    Response,
};
use sdk_crm::operations::{GET_PERSON, LIST_PEOPLE, SUBMIT_COMMAND};
use sdk_platform::operations::LIST_APPS;
use serde_json::json;

use crate::fixtures::{add_person, committed, created, get_person, person};
use crate::peer::{self, Step};
use crate::samples::kick_off;
use crate::support::{Clients, key};

/// Kinds with their own status are compared with the errors of calls, in `statuses`.
#[test]
fn each_kind_without_its_own_status_can_be_built() {
    let (not_sent, unknown) = (Effect::NotSent, Effect::Unknown);
    for (kind, status, effect, retryable, attempts) in [
        (Kind::Configuration, None, not_sent, false, 0),
        (Kind::InvalidInput, None, not_sent, false, 0),
        (Kind::TokenUnavailable, None, not_sent, true, 0),
        (Kind::Unavailable, Some(503), unknown, true, 1),
        (Kind::Connect, None, not_sent, true, 1),
        (Kind::Transport, None, unknown, true, 1),
        (Kind::Timeout, None, unknown, true, 1),
        (Kind::Decode, Some(200), unknown, false, 1),
        (Kind::SchemaVersion, Some(200), unknown, false, 1),
        (Kind::Pagination, Some(200), unknown, false, 1),
        (Kind::PreparedCommand, None, not_sent, false, 0),
        (Kind::Value, None, not_sent, false, 0),
    ] {
        let error = made(kind).build();
        assert_eq!((error.kind(), error.status()), (kind, status), "{error}");
        let rest = (error.effect(), error.is_retryable(), error.attempts());
        assert_eq!(rest, (effect, retryable, attempts), "{error}");
        assert_eq!(error.attempt_log().len(), attempts as usize);
    }
}

#[test]
fn a_built_error_has_the_given_values() {
    let wait = Duration::from_secs(30);
    let builder = made(Kind::Unavailable).operation(&LIST_APPS).status(500);
    let builder = builder.code("DOWN").message("not today").request_id("r-7");
    let builder = builder.retryable(false).retry_after(wait).attempts(2);
    let error = builder.header("x-own", "kept").body("{}").build();
    let expected =
        "platform.listApps: 500 unavailable DOWN: not today; after 2 attempts (request r-7)";
    assert_eq!(error.to_string(), expected);
    assert!(!error.is_retryable());
    assert_eq!(error.retry_after(), Some(wait));
    assert_eq!(error.headers().unwrap()["x-own"], "kept");
    assert_eq!(error.body(), Some(&b"{}"[..]));
    let log = error.attempt_log().iter();
    let log: Vec<_> = log.map(|it| (it.number, it.status, it.effect)).collect();
    assert_eq!(log, [1, 2].map(|it| (it, Some(500), Effect::Unknown)));
    let many = made(Kind::Timeout).attempts(u32::MAX).build();
    assert_eq!(many.attempt_log().len(), 32);
}

#[test]
fn a_built_error_returns_its_command_and_key_unless_rejected() {
    let error = |effect| {
        let error = made(Kind::NotFound).operation(&SUBMIT_COMMAND);
        error.effect(effect)
    };
    for (effect, was_sent) in [(Effect::NotSent, false), (Effect::Unknown, true)] {
        let command = testing::prepared(&SUBMIT_COMMAND, &json!({"commandType": "person.create"}));
        let given = error(effect).command(command.clone()).build();
        let again = given.into_command().unwrap();
        assert_eq!(again.was_sent(), was_sent);
        again.verify().unwrap();
        assert_eq!(
            (again.body(), again.path()),
            (command.body(), command.path())
        );
        let made = error(effect).build().into_command().unwrap();
        assert_eq!((made.body(), made.was_sent()), ("{}", was_sent));
    }
    assert!(error(Effect::Refused).build().command().is_none());
    let read = made(Kind::Timeout).operation(&GET_PERSON).build();
    assert!(read.command().is_none() && read.idempotency_key().is_none());

    let error = made(Kind::Timeout).operation(&SUBMIT_EVENT_COMMAND);
    assert!(error.clone().build().idempotency_key().is_some());
    let error = error.idempotency_key(key("order-4711.delivery")).build();
    let (command, own) = (error.command().unwrap(), error.idempotency_key());
    assert_eq!(own.unwrap().as_str(), "order-4711.delivery");
    assert_eq!(
        (command.idempotency_key(), command.application()),
        (own, "calendar")
    );
    assert!(!format!("{error} {error:#?} {command:?}").contains("4711"));
}

#[test]
fn a_built_rejection_reads_its_body() {
    let body =
        json!({"error": {"code": "IDEMPOTENCY_CONFLICT", "message": "no", "requestId": "r-2"}});
    let made = testing::response(&SUBMIT_EVENT_COMMAND, 409).json(&body);
    let error = made.header("retry-after", "7").error();
    assert!(error.is_idempotency_conflict());
    assert_eq!((error.message(), error.request_id()), ("no", Some("r-2")));
    assert_eq!(error.retry_after(), Some(Duration::from_secs(7)));
    let command = testing::prepared(&SUBMIT_EVENT_COMMAND, &json!({}));
    let lost = testing::response(&SUBMIT_EVENT_COMMAND, 503).command(command.clone());
    assert_eq!(lost.error().idempotency_key(), command.idempotency_key());
}

/// Returns a transport that sends a step, and the same response built for a test.
fn both(
    operation: &'static Operation,
    step: &Step,
) -> (ScriptedTransport, testing::ResponseBuilder) {
    let (status, body) = (step.status(), step.text().to_vec());
    let reply = http::Response::builder()
        .status(status)
        .header("x-request-id", "r-1");
    let sent = ScriptedTransport::new().answer(reply.body(body.clone()).unwrap());
    let made = testing::response(operation, status).body(body);
    (sent, made.header("x-request-id", "r-1"))
}

fn builder<T: Debug>(response: &Response<T>) -> String {
    let (status, id) = (response.http_status(), response.request_id());
    let (attempts, operation) = (response.attempts(), response.api_operation());
    let (bytes, data) = (response.bytes(), &**response);
    format!("{response:?} {data:?} {status} {id:?} {attempts} {operation:?} {bytes:?}")
}

fn told_of<T: Debug + Clone>(receipt: &Receipt<T>) -> String {
    let key = receipt.idempotency_key().map(IdempotencyKey::as_str);
    let known = (receipt.is_replay(), receipt.is_committed(), key);
    let response = builder(&receipt.clone().into_response());
    format!("{receipt:?} {known:?} {response}")
}

#[tokio::test]
async fn a_built_response_or_receipt_equals_the_response_of_a_call() {
    let (sent, made) = both(&GET_PERSON, &person());
    let real = get_person(&sent.suite().crm()).await.unwrap();
    assert_eq!(builder(&made.build::<Record>().unwrap()), builder(&real));

    let page = json!({"schemaVersion": "v", "items": [{"a": 1}], "nextCursor": "next"});
    let (sent, made) = both(&LIST_PEOPLE, &peer::json(200, &page));
    let real = sent.suite().crm().people().list().await.unwrap();
    assert_eq!(
        builder(&made.build::<Page<Record>>().unwrap()),
        builder(&real)
    );

    for status in [200, 201, 202] {
        let (sent, made) = both(&SUBMIT_COMMAND, &committed().with_status(status));
        let real = add_person(&sent.suite().crm()).await.unwrap();
        let made = made.receipt::<RawJson>().unwrap();
        assert_eq!(told_of(&made), told_of(&real), "{status}");
    }
    for replayed in ["false", "true"] {
        let body = String::from_utf8(created().text().to_vec()).unwrap();
        let body = body.replace(r#""replayed":false"#, &format!(r#""replayed":{replayed}"#));
        let (sent, made) = both(&SUBMIT_EVENT_COMMAND, &created().body(body));
        let call = kick_off(&sent.suite().calendar()).idempotency_key("order-4711.delivery");
        let made = made.idempotency_key(key("order-4711.delivery"));
        let made = made.receipt::<CalendarCommandResult>().unwrap();
        assert_eq!(told_of(&made), told_of(&call.await.unwrap()), "{replayed}");
        assert_eq!(made.is_replay(), Some(replayed == "true"));
    }
}

#[tokio::test]
async fn a_built_response_that_does_not_decode_fails_like_a_real_response() {
    let facts = |error: &Error| {
        let operation = error.operation().map(|it| it.id);
        let body = error.body().map(<[u8]>::to_vec);
        (
            error.kind(),
            error.effect(),
            error.status(),
            operation,
            body,
        )
    };
    let (sent, made) = both(&GET_PERSON, &peer::json(200, &json!(["Ann"])));
    let real = get_person(&sent.suite().crm()).await.unwrap_err();
    let made = made.build::<Record>().unwrap_err();
    assert_eq!(facts(&made), facts(&real));

    let other = created().body(r#"{"schemaVersion": "suite-calendar-command-result.v9"}"#);
    let (sent, made) = both(&SUBMIT_EVENT_COMMAND, &other);
    let real = kick_off(&sent.suite().calendar()).await.unwrap_err();
    let made = made.receipt::<CalendarCommandResult>().unwrap_err();
    assert_eq!(real.kind(), Kind::SchemaVersion, "{real}");
    assert_eq!(facts(&made), facts(&real));
}
