//! A response, a receipt or a page that a test makes is the one that a call returns.

use std::fmt::Debug;

use sdk_accounting::types::AccountingCommandResult;
use sdk_calendar::types::CalendarCommandResult;
use sdk_core::{Operation, Page, RawJson, Receipt, Record, Response, testing};
use sdk_crm::operations::{GET_PERSON, LIST_PEOPLE, SUBMIT_COMMAND};
use serde_json::json;

use crate::faults::fixtures::{PERSON, add_person, committed, created, get_person, person};
use crate::peer::{Peer, Step, always};
use crate::samples::{draft, kick_off};
use crate::support::{Clients, builder_at, calendar_at, crm_at, key};

/// The reply of a step, made for a test.
fn made(operation: &'static Operation, step: &Step) -> testing::ReplyBuilder {
    testing::reply(operation, step.status())
        .header("x-request-id", "r-1")
        .body(step.text().to_vec())
}

fn told<T: Debug>(response: &Response<T>) -> String {
    let (status, id, attempts) = (
        response.http_status(),
        response.request_id(),
        response.attempts(),
    );
    let (operation, bytes) = (response.api_operation().id, response.bytes());
    format!(
        "{response:?} {:?} {status} {id:?} {attempts} {operation} {bytes:?}",
        **response
    )
}

fn told_of<T: Debug + Clone>(receipt: &Receipt<T>) -> String {
    let key = receipt.idempotency_key().map(|key| key.as_str().to_owned());
    let known = (receipt.is_replay(), receipt.is_committed(), key);
    format!(
        "{receipt:?} {known:?} {}",
        told(&receipt.clone().into_response())
    )
}

#[tokio::test]
async fn a_made_response_is_the_one_of_a_call() {
    let step = person().header("x-request-id", "r-1");
    let real = get_person(&crm_at(&Peer::start(always(step.clone()))))
        .await
        .unwrap();
    let own = made(&GET_PERSON, &step).response::<Record>().unwrap();
    assert_eq!(told(&own), told(&real));
    assert_eq!(own.text("publicReference").as_deref(), Some(PERSON));

    let page = json!({"schemaVersion": "v", "items": [{"a": 1}], "nextCursor": "next"});
    let step = crate::peer::json(200, &page).header("x-request-id", "r-1");
    let real = crm_at(&Peer::start(always(step.clone())))
        .people()
        .list()
        .await
        .unwrap();
    let own = made(&LIST_PEOPLE, &step)
        .response::<Page<Record>>()
        .unwrap();
    assert_eq!(told(&own), told(&real));
}

#[tokio::test]
async fn a_made_receipt_is_the_one_of_a_command() {
    for status in [200, 201, 202] {
        let step = committed()
            .with_status(status)
            .header("x-request-id", "r-1");
        let real = add_person(&crm_at(&Peer::start(always(step.clone()))))
            .await
            .unwrap();
        let own = made(&SUBMIT_COMMAND, &step).receipt::<RawJson>().unwrap();
        assert_eq!(told_of(&own), told_of(&real), "{status}");
    }
    for replayed in ["false", "true"] {
        let body = String::from_utf8(created().text().to_vec()).unwrap();
        let body = body.replace(r#""replayed":false"#, &format!(r#""replayed":{replayed}"#));
        let step = created().body(body).header("x-request-id", "r-1");
        let peer = Peer::start(always(step.clone()));
        let call = kick_off(&calendar_at(&peer)).idempotency_key("order-4711.delivery");
        let real = call.await.unwrap();
        let own = made(&sdk_calendar::operations::SUBMIT_EVENT_COMMAND, &step)
            .idempotency_key(key("order-4711.delivery"))
            .receipt::<CalendarCommandResult>()
            .unwrap();
        assert_eq!(told_of(&own), told_of(&real), "{replayed}");
        assert_eq!(own.is_replay(), Some(replayed == "true"));
    }
}

#[tokio::test]
async fn a_made_reply_that_does_not_decode_fails_like_a_real_one() {
    let step = crate::peer::json(200, &json!(["Ann"]));
    let real = get_person(&crm_at(&Peer::start(always(step.clone()))))
        .await
        .unwrap_err();
    let own = made(&GET_PERSON, &step).response::<Record>().unwrap_err();
    assert_eq!(
        (own.to_string(), own.body()),
        (format!("{real} (request r-1)"), real.body())
    );

    let step = created().body(r#"{"schemaVersion": "suite-accounting-command-result.v9"}"#);
    let peer = Peer::start(always(step.clone()));
    let accounting = builder_at(&peer.url()).accounting();
    let real = accounting
        .invoice_drafts()
        .create(&draft("FCP-ABCDEFGHIJKL", 1))
        .await
        .unwrap_err();
    let own = made(&sdk_accounting::operations::CREATE_INVOICE_DRAFT, &step)
        .receipt::<AccountingCommandResult>()
        .unwrap_err();
    assert!(real.is_schema_version(), "{real}");
    assert_eq!((own.kind(), own.message()), (real.kind(), real.message()));
}

#[test]
fn a_made_page_has_its_records_and_its_cursor() {
    let ann: Record = r#"{"displayName":"Ann"}"#.parse().unwrap();
    let page = testing::page([ann.clone()], Some("next"));
    assert_eq!(
        (page.items().unwrap(), page.next_cursor()),
        (&[ann][..], Some("next"))
    );
    let own = testing::reply(&LIST_PEOPLE, 200)
        .json(&page)
        .response::<Page<Record>>()
        .unwrap();
    assert_eq!(*own, page);
    assert!(testing::page::<Record>([], None).next_cursor().is_none());
}
