//! A response, a receipt or a page that a test makes is the one that a call returns.

use std::fmt::Debug;
use std::time::Duration;

use sdk_calendar::operations::SUBMIT_EVENT_COMMAND;
use sdk_calendar::types::CalendarCommandResult;
use sdk_core::{
    Effect, Error, ErrorKind, IdempotencyKey, Operation, Page, RawJson, Receipt, Record, Response,
    testing,
};
use sdk_crm::operations::{GET_PERSON, LIST_PEOPLE, SUBMIT_COMMAND};
use serde_json::json;

use crate::fixtures::{add_person, committed, created, get_person, person};
use crate::peer::{self, Peer, Step, always};
use crate::samples::kick_off;
use crate::support::{calendar_at, crm_at, key};

/// A peer that sends a step, and the same reply made for a test.
fn both(operation: &'static Operation, step: Step) -> (Peer, testing::ReplyBuilder) {
    let made = testing::reply(operation, step.status()).body(step.text().to_vec());
    let peer = Peer::start(always(step.header("x-request-id", "r-1")));
    (peer, made.header("x-request-id", "r-1"))
}

fn told<T: Debug>(response: &Response<T>) -> String {
    let (status, id) = (response.http_status(), response.request_id());
    let (attempts, operation) = (response.attempts(), response.api_operation());
    let (bytes, data) = (response.bytes(), &**response);
    format!("{response:?} {data:?} {status} {id:?} {attempts} {operation:?} {bytes:?}")
}

fn told_of<T: Debug + Clone>(receipt: &Receipt<T>) -> String {
    let key = receipt.idempotency_key().map(IdempotencyKey::as_str);
    let known = (receipt.is_replay(), receipt.is_committed(), key);
    let response = told(&receipt.clone().into_response());
    format!("{receipt:?} {known:?} {response}")
}

fn facts(error: &Error) -> impl PartialEq + Debug {
    (
        error.kind(),
        error.effect(),
        error.status(),
        error.operation().map(|it| it.id),
    )
}

#[tokio::test]
async fn a_made_response_is_the_one_of_a_call() {
    let (peer, made) = both(&GET_PERSON, person());
    let real = get_person(&crm_at(&peer)).await.unwrap();
    assert_eq!(told(&made.response::<Record>().unwrap()), told(&real));

    let page = json!({"schemaVersion": "v", "items": [{"a": 1}], "nextCursor": "next"});
    let (peer, made) = both(&LIST_PEOPLE, peer::json(200, &page));
    let real = crm_at(&peer).people().list().await.unwrap();
    assert_eq!(told(&made.response::<Page<Record>>().unwrap()), told(&real));
}

#[tokio::test]
async fn a_made_receipt_is_the_one_of_a_command() {
    for status in [200, 201, 202] {
        let (peer, made) = both(&SUBMIT_COMMAND, committed().with_status(status));
        let real = add_person(&crm_at(&peer)).await.unwrap();
        let made = made.receipt::<RawJson>().unwrap();
        assert_eq!(told_of(&made), told_of(&real), "{status}");
    }
    for replayed in ["false", "true"] {
        let body = String::from_utf8(created().text().to_vec()).unwrap();
        let body = body.replace(r#""replayed":false"#, &format!(r#""replayed":{replayed}"#));
        let (peer, made) = both(&SUBMIT_EVENT_COMMAND, created().body(body));
        let call = kick_off(&calendar_at(&peer)).idempotency_key("order-4711.delivery");
        let made = made.idempotency_key(key("order-4711.delivery"));
        let made = made.receipt::<CalendarCommandResult>().unwrap();
        assert_eq!(told_of(&made), told_of(&call.await.unwrap()), "{replayed}");
        assert_eq!(made.is_replay(), Some(replayed == "true"));
    }
}

#[tokio::test]
async fn a_made_reply_that_does_not_decode_fails_like_a_real_one() {
    let (peer, made) = both(&GET_PERSON, peer::json(200, &json!(["Ann"])));
    let real = get_person(&crm_at(&peer)).await.unwrap_err();
    let made = made.response::<Record>().unwrap_err();
    assert_eq!(facts(&made), facts(&real));
    assert_eq!(made.body(), real.body());

    let other = created().body(r#"{"schemaVersion": "suite-calendar-command-result.v9"}"#);
    let (peer, made) = both(&SUBMIT_EVENT_COMMAND, other);
    let real = kick_off(&calendar_at(&peer)).await.unwrap_err();
    let made = made.receipt::<CalendarCommandResult>().unwrap_err();
    assert_eq!(real.kind(), ErrorKind::SchemaVersion, "{real}");
    assert_eq!(facts(&made), facts(&real));
}

#[test]
fn a_made_rejection_says_what_its_body_says() {
    let body =
        json!({"error": {"code": "IDEMPOTENCY_CONFLICT", "message": "no", "requestId": "r-2"}});
    let made = testing::reply(&SUBMIT_EVENT_COMMAND, 409).json(&body);
    let error = made.header("retry-after", "7").error();
    assert!(error.is_idempotency_conflict());
    assert_eq!((error.message(), error.request_id()), ("no", Some("r-2")));
    assert_eq!(error.retry_after(), Some(Duration::from_secs(7)));
    assert_eq!(
        (error.status(), error.effect()),
        (Some(409), Effect::Refused)
    );
    let command = testing::prepared(&SUBMIT_EVENT_COMMAND, &json!({}));
    let lost = testing::reply(&SUBMIT_EVENT_COMMAND, 503).command(command.clone());
    assert_eq!(lost.error().idempotency_key(), command.idempotency_key());
}

#[test]
fn a_made_page_has_its_records_and_its_cursor() {
    let ann: Record = r#"{"displayName":"Ann"}"#.parse().unwrap();
    let page = testing::page([ann.clone()], Some("next"));
    assert_eq!(page.items().unwrap(), [ann]);
    assert_eq!(page.next_cursor(), Some("next"));
    let own = testing::reply(&LIST_PEOPLE, 200).json(&page);
    assert_eq!(*own.response::<Page<Record>>().unwrap(), page);
    assert!(testing::page::<Record>([], None).next_cursor().is_none());
}
