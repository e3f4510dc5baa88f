//! Receipts: result, status, whether it is a replay, key and attempts, in the same way for every application.

use sdk_accounting::types::ImportMode;
use sdk_calendar::types::EventCommand;
use sdk_core::{RawJson, Receipt, testing};
use sdk_reference_server::Operation;
use serde_json::json;

use super::stage::{Mishap, Stage, review};
use crate::samples::{draft, event, import, kick_off, new_person};
use crate::support::key;

/// Status, replay, attempts and whether there is a key.
fn facts<T>(receipt: &Receipt<T>) -> (u16, Option<bool>, u32, bool) {
    (
        receipt.http_status(),
        receipt.is_replay(),
        receipt.attempts(),
        receipt.idempotency_key().is_some(),
    )
}

#[tokio::test]
async fn calendar_receipts_tell_creation_update_cancellation_and_replay_apart() {
    let stage = Stage::start().await;
    let events = stage.calendar.events();
    let under = |command: &EventCommand, name: &str| {
        events.command(command).idempotency_key(key(name)).send()
    };
    let kick_off = event("Kick-off");

    let created = under(&kick_off, "receipts.create.1").await.unwrap();
    let again = under(&kick_off, "receipts.create.1").await.unwrap();
    let about = |operation: &str| {
        let command = EventCommand::new().operation(operation.into());
        command.member("publicReference", &*created.public_reference)
    };
    let update = about("update").member("expectedRecordVersion", 1);
    let update = update.title("Start");
    let updated = under(&update, "receipts.update.1").await.unwrap();
    let cancelled = under(&about("cancel"), "receipts.cancel.1").await.unwrap();
    let twice = under(&about("cancel"), "receipts.cancel.1").await.unwrap();

    // A 200 alone does not say that it is a replay.
    assert_eq!(facts(&created), (201, Some(false), 1, true));
    assert_eq!(facts(&again), (200, Some(true), 1, true));
    assert_eq!(facts(&updated), (200, Some(false), 1, true));
    assert_eq!(facts(&cancelled), (200, Some(false), 1, true));
    assert_eq!(facts(&twice), (200, Some(true), 1, true));
    assert_eq!((updated.record_version, cancelled.record_version), (2, 3));
    assert_eq!(updated.operation.as_str(), "event.update");
    assert_eq!(cancelled.operation.as_str(), "event.cancel");
    assert_eq!(again.public_reference, created.public_reference);
    for receipt in [&created, &again, &updated, &cancelled, &twice] {
        assert_eq!(receipt.is_replay(), Some(receipt.replayed));
    }
}

#[tokio::test]
async fn accounting_receipts_tell_replays_by_the_member_and_not_by_the_status() {
    let stage = Stage::start().await;
    let draft = draft(&stage.server.sample_counterparty(), 1);
    let run = import("ledger", ImportMode::FullHistory);
    let Stage { accounting, .. } = &stage;
    for again in [false, true] {
        let call = accounting.invoice_drafts().create(&draft);
        let receipt = call.idempotency_key(key("receipts.draft.1")).await.unwrap();
        assert_eq!(facts(&receipt), (201, Some(again), 1, true));
        let call = accounting.import_runs().create(&run);
        let call = call.idempotency_key(key("receipts.import.1"));
        let receipt = call.await.unwrap();
        assert_eq!(facts(&receipt), (201, Some(again), 1, true));
    }
    assert_eq!(stage.server.commits(Operation::CreateInvoiceDraft), 1);
}

#[tokio::test]
async fn crm_receipts_tell_replays_by_the_status() {
    let stage = Stage::start().await;
    let person = || stage.crm.commands().submit(new_person("Ann"));
    let first = person().await.unwrap();
    let again = person().await.unwrap();
    assert_eq!(facts(&first), (201, Some(false), 1, false));
    assert_eq!(facts(&again), (200, Some(true), 1, false));
    assert_eq!(first.as_str(), again.as_str(), "the durable result");
    assert_eq!(stage.server.commits(Operation::SubmitCommand), 1);

    let review = review(&stage.server);
    let first = stage.crm.intake().review(review.clone()).await.unwrap();
    let again = stage.crm.intake().review(review).await.unwrap();
    assert_eq!(facts(&first), (201, Some(false), 1, false));
    assert_eq!(facts(&again), (200, Some(true), 1, false));
}

#[tokio::test]
async fn operations_that_are_known_by_name_only_do_not_tell() {
    let stage = Stage::start().await;
    let hold = stage.calendar.holds().manage(json!({"note": "any"}));
    let receipt = hold.await.unwrap();
    // The reference server's result has the member; the contract does not show that it would.
    assert!(receipt.to_value().unwrap()["replayed"].is_boolean());
    assert_eq!(receipt.is_replay(), None);
}

#[tokio::test]
async fn a_receipt_counts_its_attempts_and_keeps_headers_and_bytes() {
    let stage = Stage::start().await;
    stage
        .mishap(Mishap::Unavailable, Operation::SubmitEventCommand)
        .await;
    let receipt = kick_off(&stage.calendar).await.unwrap();
    assert_eq!(facts(&receipt), (200, Some(true), 2, true));
    assert!(receipt.request_id().is_some());
    assert!(receipt.bytes().starts_with(b"{"));
    assert_eq!(receipt.api_operation().id, "submitEventCommand");
    // One step from the receipt to its result, whose member `operation` says something else.
    assert_eq!(*receipt, serde_json::from_slice(receipt.bytes()).unwrap());
    assert_eq!(receipt.operation.as_str(), "event.create");
    let copy = receipt.clone();
    assert_eq!(facts(&copy), facts(&receipt));
    assert_eq!(copy.idempotency_key(), receipt.idempotency_key());
    let response = copy.into_response().clone();
    assert_eq!((&*response, response.bytes()), (&*receipt, receipt.bytes()));
    assert!(!format!("{receipt:?}").contains(receipt.idempotency_key().unwrap().as_str()));
}

#[test]
fn a_member_that_comes_twice_says_nothing_certain() {
    let facts = |members: &str| {
        let reply = testing::reply(&sdk_calendar::operations::SUBMIT_EVENT_COMMAND, 201);
        let version = r#""schemaVersion": "suite-calendar-command-result.v1""#;
        let reply = reply.body(format!("{{{version}, {members}}}"));
        let receipt = reply.receipt::<RawJson>().unwrap();
        (receipt.is_replay(), receipt.is_committed())
    };

    let once = facts(r#""outcome": "succeeded", "replayed": false, "note": {"replayed": true}"#);
    let replayed = facts(r#""outcome": "succeeded", "replayed": false, "repl\u0061yed": true"#);
    let outcome = facts(r#""outcome": "succeeded", "outcome": "pending", "replayed": true"#);

    assert_eq!(once, (Some(false), Some(true)));
    assert_eq!(replayed, (None, Some(true)));
    assert_eq!(outcome, (Some(true), None));
}
