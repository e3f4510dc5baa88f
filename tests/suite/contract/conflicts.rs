//! 409: four reasons, each final, none of them answered with another key. And what is no conflict: an exact replay.

use sdk_calendar::types::EventCommand;
use sdk_core::{Effect, Error, ErrorKind};
use sdk_reference_server::Operation;
use serde_json::json;

use super::world::World;
use crate::samples::{draft, event, promotion};
use crate::support::key;

fn assert_final(error: &Error, code: &str) {
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert_eq!(error.code(), Some(code));
    assert_eq!(
        (error.status(), error.effect()),
        (Some(409), Effect::Refused)
    );
    assert_eq!((error.attempts(), error.retryable()), (1, false));
    assert!(error.command().is_none());
}

/// A command that changes or cancels an event; the contract does not show how it names one.
fn about(operation: &str, reference: &str) -> EventCommand {
    let mut command = EventCommand::new().operation(operation.into());
    command.extra.insert("publicReference", reference);
    command
}

#[tokio::test]
async fn the_same_event_command_under_the_same_key_is_replayed() {
    let world = World::start().await;
    let events = world.calendar.events();
    let kick_off = event("Kick-off");
    let command = || {
        events
            .command(&kick_off)
            .idempotency_key(key("kick-off-2026-02"))
    };

    let first = command().await.unwrap();
    let again = command().await.unwrap();

    assert_eq!((first.http_status(), first.replayed), (201, false));
    assert_eq!((again.http_status(), again.replayed), (200, true));
    assert_eq!(again.public_reference, first.public_reference);
    assert_eq!(world.server.commits(Operation::SubmitEventCommand), 1);
}

#[tokio::test]
async fn another_event_command_under_the_same_key_is_an_idempotency_conflict() {
    let world = World::start().await;
    // What one process sent, it would not send with another body.
    let elsewhere = sdk_calendar::Client::new(&world.elsewhere()).unwrap();
    let under_one_key = |calendar: &sdk_calendar::Client, title| {
        calendar
            .events()
            .command(&event(title))
            .idempotency_key(key("kick-off-2026-02"))
    };
    under_one_key(&world.calendar, "Kick-off").await.unwrap();

    let error = under_one_key(&elsewhere, "Something else")
        .await
        .unwrap_err();

    assert_final(&error, "IDEMPOTENCY_CONFLICT");
    assert!(error.is_idempotency_conflict());
    assert_eq!(error.idempotency_key(), Some(&key("kick-off-2026-02")));
    assert_eq!(world.server.commits(Operation::SubmitEventCommand), 1);
}

#[tokio::test]
async fn a_key_is_the_actors_own() {
    let world = World::start().await;
    let suite = world.suite_of(|client| client);
    let other = sdk_calendar::Client::new(&suite).unwrap();

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
async fn an_event_is_updated_and_cancelled_with_a_200() {
    let world = World::start().await;
    let events = world.calendar.events();
    let created = events.command(&event("Kick-off")).await.unwrap();
    let reference = &*created.public_reference;

    let updated = events
        .command(&about("update", reference).title("Start"))
        .await
        .unwrap();
    let cancelled = events.command(&about("cancel", reference)).await.unwrap();

    assert_eq!((updated.http_status(), updated.record_version), (200, 2));
    assert_eq!(
        (cancelled.http_status(), cancelled.record_version),
        (200, 3)
    );
    assert_eq!(updated.operation.as_str(), "event.update");
    assert_eq!(cancelled.operation.as_str(), "event.cancel");
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
async fn the_same_crm_command_is_replayed_with_a_200() {
    let world = World::start().await;
    let command = promotion(&world.server.sample_person(), "Controller");

    let first = world.crm.commands().submit(command.clone()).await.unwrap();
    let again = world.crm.commands().submit(command).await.unwrap();

    assert_eq!((first.http_status(), again.http_status()), (201, 200));
    assert_eq!(first.bytes(), again.bytes());
    assert_eq!(world.server.commits(Operation::SubmitCommand), 1);
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
async fn a_draft_is_replayed_under_its_key_and_conflicts_with_another() {
    let world = World::start().await;
    let counterparty = world.server.sample_counterparty();
    let elsewhere = sdk_accounting::Client::new(&world.elsewhere()).unwrap();
    let with_lines = |accounting: &sdk_accounting::Client, count| {
        let drafts = accounting.invoice_drafts();
        drafts
            .create(&draft(&counterparty, count))
            .idempotency_key(key("invoice-2026-0001"))
    };

    let first = with_lines(&world.accounting, 1).await.unwrap();
    let again = with_lines(&world.accounting, 1).await.unwrap();
    let error = with_lines(&elsewhere, 2).await.unwrap_err();

    assert_eq!((again.http_status(), again.replayed), (201, true));
    assert_eq!(
        again.command_receipt_reference,
        first.command_receipt_reference
    );
    assert_final(&error, "idempotency_conflict");
    assert_eq!(world.server.commits(Operation::CreateInvoiceDraft), 1);
}
