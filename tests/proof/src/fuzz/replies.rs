//! Successful responses. A decoded body is written back equal and nothing is lost, however the body arrives.

use bytes::Bytes;
use http::Response as Answer;
use http::header::CONTENT_LENGTH;
use sdk_accounting::types::{InvoiceDraftCreate, TaxAmount};
use sdk_calendar::types::EventCommand;
use sdk_core::{Error, Receipt, Response};
use serde::Serialize;
use serde_json::json;

use super::choice;
use super::stage::{InPieces, is_sound, on, reply};
use crate::json::Json;

pub(super) fn run(data: &[u8]) {
    let accepted = accepts(data);
    let (pick, body) = choice(data);
    let length = body.len();
    for announced in [length.saturating_sub(1), length, length + 1] {
        let mut answer = answer(data);
        answer.extensions_mut().insert(InPieces(1 + pick / 12));
        answer
            .headers_mut()
            .insert(CONTENT_LENGTH, announced.into());
        let framed = call(data, answer);
        assert!(announced <= length || !framed, "a shortened response");
        assert!(
            announced != length || framed == accepted,
            "the body arrives in pieces"
        );
    }
}

/// Returns whether the response is accepted as a success.
pub(super) fn accepts(data: &[u8]) -> bool {
    call(data, answer(data))
}

fn answer(data: &[u8]) -> Answer<Bytes> {
    let (pick, body) = choice(data);
    reply(if pick & 0x40 == 0 { 200 } else { 201 }, body.to_vec())
}

fn call(data: &[u8], answer: Answer<Bytes>) -> bool {
    let (pick, body) = choice(data);
    on(vec![answer], async |stage| {
        let (crm, accounting) = (&stage.crm, &stage.accounting);
        match pick % 12 {
            0 => same(crm.people().list().await, body),
            1 => same(crm.people().get("PER-0123456789AB").await, body),
            2 => same(crm.today().get().await, body),
            3 => same(crm.funnel().get().await, body),
            4 => same(crm.presentation().get().await, body),
            5 => same(crm.intake().get("IN-0123456789AB").await, body),
            6 => same(crm.opportunities().list().await, body),
            7 => same(stage.platform.apps().list().await, body),
            8 => same(accounting.service().meta().await, body),
            9 => receipt(crm.commands().submit(json!({})).await, body),
            10 => {
                let line = json!({"description": "a"}).into();
                let draft = InvoiceDraftCreate::new("FCP-0123456789AB", TaxAmount::new(), [line]);
                receipt(accounting.invoice_drafts().create(&draft).await, body)
            }
            _ => receipt(
                stage.calendar.events().command(&EventCommand::new()).await,
                body,
            ),
        }
    })
}

fn same<T: Serialize>(result: Result<Response<T>, Error>, body: &[u8]) -> bool {
    let accepted = result.is_ok();
    match result {
        Ok(response) => {
            assert_eq!(response.bytes(), body);
            let written = serde_json::to_string(&*response).expect("it is JSON");
            let received = str::from_utf8(body).expect("it was decoded");
            if let Some(received) = Json::read(received) {
                let decoded = Json::read(&written).map(|it| it.meaning());
                assert_eq!(decoded, Some(received.meaning()));
            }
        }
        Err(error) => {
            is_sound(&error);
            assert_eq!(error.body().unwrap_or(body), body);
        }
    }
    accepted
}

/// Checks that `is_replay` and `is_committed` agree with the fields of the decoded body.
fn receipt<T: Serialize>(result: Result<Receipt<T>, Error>, body: &[u8]) -> bool {
    if let Ok(receipt) = &result
        && receipt.api_operation().replay == sdk_core::Replay::Field
    {
        let written = serde_json::to_string(&**receipt).expect("it is JSON");
        let received = Json::read(&written).expect("it is JSON");
        let field = |name, value| received.field(name) == Json::read(value).as_ref();
        for (replayed, value) in [(true, "true"), (false, "false")] {
            let agrees = receipt.is_replay() != Some(replayed) || field("replayed", value);
            assert!(agrees, "{:?}: {written}", receipt.is_replay());
        }
        let committed = receipt.is_committed() == Some(true);
        assert!(!committed || field("outcome", "\"succeeded\""), "{written}");
    }
    same(result.map(Receipt::into_response), body)
}
