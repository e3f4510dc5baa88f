//! 409: reasons that are final, none of them answered with another key. What a key makes a replay is in `commands`.

use sdk_calendar::types::EventCommand;
use sdk_core::{Effect, Error, ErrorKind};
use sdk_reference_server::Operation;
use serde_json::json;

use super::world::World;
use crate::samples::{draft, event, promotion};
use crate::support::{Clients, assert_refused_with, key};

fn assert_final(error: &Error, code: &str) {
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert_eq!(error.code(), Some(code));
    assert_refused_with(error, 409);
    assert_eq!((error.attempts(), error.is_retryable()), (1, false));
    assert!(error.command().is_none());
}

/// A command that changes or cancels an event; the contract does not show how it names one.
fn about(operation: &str, reference: &str) -> EventCommand {
    let mut command = EventCommand::new().operation(operation.into());
    command.extra.insert("publicReference", reference);
    command
}

#[tokio::test]
async fn a_key_is_the_actors_own() {
    let world = World::start().await;
    let other = world.suite_of(|client| client).calendar();

    for (calendar, title) in [(&world.calendar, "Mine"), (&other, "Theirs")] {
        let command = calendar.events().command(&event(title));
        let receipt = command
            .idempotency_key(key("kick-off-2026-02"))
            .await
            .unwrap();
        assert_eq!(receipt.http_status(), 201, "{title}");
    }
}

#[tokio::test]
async fn a_stale_event_and_a_cancelled_one_are_conflicts_and_none_is_a_404() {
    let world = World::start().await;
    let events = world.calendar.events();
    let created = events.command(&event("Kick-off")).await.unwrap();
    let reference = &*created.public_reference;
    let mut stale = about("update", reference);
    stale.extra.insert("expectedRecordVersion", 7_i64);

    let error = events.command(&stale).await.unwrap_err();
    assert_final(&error, "STALE_RECORD_VERSION");

    events.command(&about("cancel", reference)).await.unwrap();
    let error = events
        .command(&about("cancel", reference).title("Twice"))
        .await
        .unwrap_err();
    assert_final(&error, "INVALID_STATE");

    let nobodys = about("cancel", "EVT-FFFFFFFFFFFF");
    let error = events.command(&nobodys).await.unwrap_err();
    assert!(error.is_not_found());
    assert_eq!(error.effect(), Effect::Refused);
    assert_eq!(world.server.commits(Operation::SubmitEventCommand), 2);
}

#[tokio::test]
async fn crm_commands_conflict_over_ids_versions_and_states() {
    let world = World::start().await;
    let submit = |command| world.crm.commands().submit(command);
    let created = submit(json!({
        "commandType": "person.create",
        "commandId": "one",
        "payload": {"displayName": "Ann Example", "status": "archived"},
    }));
    let person = created.await.unwrap().to_value().unwrap()["publicReference"].clone();
    let reference = person.as_str().unwrap();

    let mut same_id = promotion(reference, "Controller");
    same_id["commandId"] = json!("one");
    assert_final(&submit(same_id).await.unwrap_err(), "idempotency_conflict");

    let mut stale = promotion(reference, "Controller");
    stale["expectedRecordVersion"] = json!(2);
    assert_final(&submit(stale).await.unwrap_err(), "stale_record_version");

    let archived = promotion(reference, "Controller");
    assert_final(&submit(archived).await.unwrap_err(), "invalid_state");
    assert_eq!(world.server.commits(Operation::SubmitCommand), 1);
}

#[tokio::test]
async fn a_draft_under_the_key_of_another_is_a_conflict() {
    let world = World::start().await;
    let counterparty = world.server.sample_counterparty();
    let elsewhere = world.elsewhere().accounting();
    let with_lines = |accounting: &sdk_accounting::Client, count| {
        let drafts = accounting.invoice_drafts();
        drafts
            .create(&draft(&counterparty, count))
            .idempotency_key(key("invoice-2026-0001"))
    };

    with_lines(&world.accounting, 1).await.unwrap();
    let error = with_lines(&elsewhere, 2).await.unwrap_err();

    assert_final(&error, "idempotency_conflict");
    assert_eq!(world.server.commits(Operation::CreateInvoiceDraft), 1);
}
