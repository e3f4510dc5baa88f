//! Receipts: result, status, replay, key and attempts, with the same methods for every application.

use sdk_accounting::types::ImportMode;
use sdk_calendar::types::EventCommand;
use sdk_core::{RawJson, Receipt, testing};
use sdk_reference_server::Operation;
use serde_json::json;

use super::{Stage, review};
use crate::fixtures::add_person;
use crate::samples::{draft, event, import};
use crate::support::key;

/// Returns the status, the replay, the attempts and whether there is a key.
fn facts<T>(receipt: &Receipt<T>) -> (u16, Option<bool>, u32, bool) {
    (
        receipt.http_status(),
        receipt.is_replay(),
        receipt.attempts(),
        receipt.idempotency_key().is_some(),
    )
}

#[tokio::test]
async fn calendar_receipts_distinguish_creation_update_cancellation_and_replay() {
    let stage = Stage::start();
    let events = stage.calendar.events();
    let created = events.command(&event("Kick-off")).await.unwrap();
    let about = |operation: &str| {
        let command = EventCommand::new().operation(operation.into());
        command.member("publicReference", &*created.public_reference)
    };
    let update = about("update").member("expectedRecordVersion", 1);
    // A 200 alone doesn't mean a replay.
    for (command, status, version, operation) in [
        (event("Again"), 201, 1, "event.create"),
        (update.title("Start"), 200, 2, "event.update"),
        (about("cancel"), 200, 3, "event.cancel"),
    ] {
        let call = || {
            let name = format!("receipts.{operation}");
            events.command(&command).idempotency_key(key(&name))
        };
        let (first, again) = (call().await.unwrap(), call().await.unwrap());
        assert_eq!(facts(&first), (status, Some(false), 1, true), "{operation}");
        assert_eq!(facts(&again), (200, Some(true), 1, true), "{operation}");
        assert_eq!((first.replayed, again.replayed), (false, true));
        assert_eq!(first.operation.as_str(), operation);
        assert_eq!(
            (first.record_version, again.record_version),
            (version, version)
        );
        assert_eq!(first.public_reference, again.public_reference);
    }
}

#[tokio::test]
async fn replays_are_recognized_in_every_application() {
    let stage = Stage::start();
    let Stage {
        crm,
        calendar,
        accounting,
        server,
    } = &stage;
    let draft = draft(&server.sample_counterparty(), 1);
    let run = import("ledger", ImportMode::FullHistory);
    let review = review(server);
    let mut results = Vec::new();
    for again in [false, true] {
        // Accounting reports replays with a field, not with the status.
        let call = accounting.invoice_drafts().create(&draft);
        let receipt = call.idempotency_key(key("receipts.draft.1")).await.unwrap();
        assert_eq!(facts(&receipt), (201, Some(again), 1, true));
        let call = accounting.import_runs().create(&run);
        let receipt = call
            .idempotency_key(key("receipts.import.1"))
            .await
            .unwrap();
        assert_eq!(facts(&receipt), (201, Some(again), 1, true));

        // The CRM reports replays with the status.
        let by_status = (if again { 200 } else { 201 }, Some(again), 1, false);
        let receipt = add_person(crm).await.unwrap();
        assert_eq!(facts(&receipt), by_status);
        results.push(receipt.as_str().to_owned());
        let receipt = crm.intake().review(review.clone()).await.unwrap();
        assert_eq!(facts(&receipt), by_status);

        // The contract documents no replay for a name-only operation. The reference server still sends the field.
        let receipt = calendar
            .holds()
            .manage(json!({"note": "any"}))
            .await
            .unwrap();
        assert!(receipt.to_value().unwrap()["replayed"].is_boolean());
        assert_eq!(receipt.is_replay(), None);
    }
    assert_eq!(results[0], results[1]);
    for operation in [Operation::CreateInvoiceDraft, Operation::SubmitCommand] {
        assert_eq!(server.commits(operation), 1);
    }
}

#[test]
fn a_duplicate_field_leaves_the_replay_unknown() {
    let replay_of = |fields: &str| {
        let reply = testing::response(&sdk_calendar::operations::SUBMIT_EVENT_COMMAND, 201);
        let version = r#""schemaVersion": "suite-calendar-command-result.v1""#;
        let reply = reply.body(format!("{{{version}, {fields}}}"));
        let receipt = reply.receipt::<RawJson>().unwrap();
        (receipt.is_replay(), receipt.is_committed())
    };

    let once =
        replay_of(r#""outcome": "succeeded", "replayed": false, "note": {"replayed": true}"#);
    let replayed = replay_of(r#""outcome": "succeeded", "replayed": false, "repl\u0061yed": true"#);
    let outcome = replay_of(r#""outcome": "succeeded", "outcome": "pending", "replayed": true"#);

    assert_eq!(once, (Some(false), Some(true)));
    assert_eq!(replayed, (None, Some(true)));
    assert_eq!(outcome, (Some(true), None));
}
