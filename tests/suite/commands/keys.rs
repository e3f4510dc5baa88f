//! Row 22, before the wire: a key stands for one command, as far as this process knows.

use std::time::Duration;

use sdk_calendar::types::EventCommand;
use sdk_core::{Effect, Error, ErrorKind, IdempotencyKey, Method, SuiteBuilder};
use sdk_reference_server::Operation;
use tokio::time::timeout;

use super::proxy::{Then, Way};
use super::samples::event;
use super::stage::{Stage, new_person, stored};

const KEY: &str = "order-4711.delivery";

fn key() -> IdempotencyKey {
    KEY.parse().unwrap()
}

async fn send(stage: &Stage, command: &EventCommand) -> Result<bool, Error> {
    let call = stage.calendar.events().command(command);
    let receipt = call.idempotency_key(key()).await?;
    Ok(receipt.replayed)
}

/// Refused here, and the server saw nothing of it.
fn assert_caught(stage: &Stage, error: &Error, requests: u64) {
    assert_eq!(error.kind(), ErrorKind::KeyReused, "{error}");
    assert!(error.is_idempotency_conflict() && !error.is_conflict());
    assert_eq!((error.effect(), error.attempts()), (Effect::NotSent, 0));
    assert!(!error.retryable() && error.command().is_none());
    assert_eq!(error.idempotency_key(), Some(&key()));
    assert!(!format!("{error} {error:?}").contains(KEY), "{error}");
    assert_eq!(
        stage.server.attempts(Operation::SubmitEventCommand),
        requests
    );
}

#[tokio::test]
async fn fault_22_a_key_with_another_body_is_caught_before_the_wire() {
    let stage = Stage::start().await;
    assert!(!send(&stage, &event("First")).await.unwrap());

    let error = send(&stage, &event("Second")).await.unwrap_err();
    assert_caught(&stage, &error, 1);

    // The same command is a replay, however its JSON is written.
    assert!(send(&stage, &event("First")).await.unwrap());
    let mut spaced = event("First");
    spaced.recurrence = Some(" null ".parse().unwrap());
    assert!(send(&stage, &spaced).await.unwrap());
}

#[tokio::test]
async fn fault_22_every_way_to_send_and_to_prepare_is_watched() {
    let stage = Stage::start().await;
    send(&stage, &event("First")).await.unwrap();
    let other = serde_json::to_value(event("Second")).unwrap();

    let raw = stage
        .calendar
        .raw_call(&sdk_calendar::operations::SUBMIT_EVENT_COMMAND);
    let error = raw
        .body(other.clone())
        .idempotency_key(key())
        .await
        .unwrap_err();
    assert_caught(&stage, &error, 1);

    let path = (Method::Post, "/calendar/v1/event-commands");
    let raw = stage.calendar.raw_call(path);
    let error = raw.body(other).idempotency_key(key()).await.unwrap_err();
    assert_caught(&stage, &error, 1);

    let call = stage.calendar.events().command(&event("Second"));
    let error = call.idempotency_key(key()).prepare().unwrap_err();
    assert_caught(&stage, &error, 1);

    // Prepared where nothing was known of the first one, and sent from here.
    let elsewhere = sdk_calendar::Client::new(&stage.elsewhere()).unwrap();
    let call = elsewhere.events().command(&event("Second"));
    let command = call.idempotency_key(key()).prepare().unwrap();
    let error = stage
        .calendar
        .send_prepared(&stored(&command))
        .await
        .unwrap_err();
    assert_caught(&stage, &error, 1);

    // Clients of one suite share what it knows, whatever their scopes.
    let narrow = stage
        .suite
        .with_scopes("calendar", ["calendar:event:write"]);
    let narrow = sdk_calendar::Client::new(&narrow).unwrap();
    let call = narrow.events().command(&event("Second"));
    let error = call.idempotency_key(key()).await.unwrap_err();
    assert_caught(&stage, &error, 1);
}

#[tokio::test]
async fn fault_22_a_key_of_the_sdks_own_is_watched_too() {
    let stage = Stage::start().await;
    let receipt = stage
        .calendar
        .events()
        .command(&event("First"))
        .await
        .unwrap();
    let taken = receipt.idempotency_key().unwrap().as_str().parse().unwrap();

    let call = stage.calendar.events().command(&event("Second"));
    let error = call.idempotency_key(taken).await.unwrap_err();

    assert_eq!(error.kind(), ErrorKind::KeyReused);
    assert_eq!(stage.server.attempts(Operation::SubmitEventCommand), 1);
}

#[tokio::test]
async fn fault_22_what_another_process_sent_is_a_conflict_of_the_service() {
    let stage = Stage::start().await;
    send(&stage, &event("First")).await.unwrap();
    let elsewhere = sdk_calendar::Client::new(&stage.elsewhere()).unwrap();

    let call = elsewhere.events().command(&event("Second"));
    let error = call.idempotency_key(key()).await.unwrap_err();

    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert!(error.is_idempotency_conflict());
    assert_eq!(error.code(), Some("IDEMPOTENCY_CONFLICT"));
    assert!(error.body().is_some());
    assert_eq!((error.attempts(), error.effect()), (1, Effect::Refused));
    assert_eq!(error.idempotency_key(), Some(&key()));
    assert_eq!(stage.server.commits(Operation::SubmitEventCommand), 1);

    // A process that was told to remember nothing leaves it to the service.
    let stage = Stage::with(|builder: SuiteBuilder| builder.remember_keys(0)).await;
    send(&stage, &event("First")).await.unwrap();
    let error = send(&stage, &event("Second")).await.unwrap_err();
    assert_eq!(error.status(), Some(409));
}

#[tokio::test]
async fn a_command_that_did_not_happen_gives_its_key_back_for_a_corrected_one() {
    let stage = Stage::start().await;
    let refused = event("First").ends_at("2026-02-02T08:00:00Z".parse().unwrap());
    let error = send(&stage, &refused).await.unwrap_err();
    assert_eq!(
        (error.status(), error.effect()),
        (Some(400), Effect::Refused)
    );

    stage
        .server
        .fault(Operation::ExchangeToken)
        .times(3)
        .status(500);
    let unsent = sdk_calendar::Client::new(
        &stage
            .suite
            .with_scopes("calendar", ["calendar:event:write"]),
    );
    let unsent = unsent.unwrap().events().command(&event("Unsent"));
    let error = unsent.idempotency_key(key()).await.unwrap_err();
    assert_eq!(error.effect(), Effect::NotSent);

    assert!(!send(&stage, &event("Corrected")).await.unwrap());

    let error = send(&stage, &event("First")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::KeyReused);
}

#[tokio::test]
async fn a_command_that_may_have_happened_keeps_its_key() {
    let stage = Stage::start().await;
    let fault = stage.server.fault(Operation::SubmitEventCommand).times(3);
    fault.reply_after_commit_with(503);
    let error = send(&stage, &event("First")).await.unwrap_err();
    assert_eq!(error.effect(), Effect::Unknown);
    let requests = stage.server.attempts(Operation::SubmitEventCommand);

    let error = send(&stage, &event("Second")).await.unwrap_err();
    assert_caught(&stage, &error, requests);

    // Nor does a call give it back that was dropped after it was sent.
    let stage = Stage::start().await;
    let wire = stage.wire("calendar");
    wire.break_after(0, Way::Down, Then::Hold);
    let first = event("First");
    let mut call = Box::pin(send(&stage, &first));
    while !wire.broke_within(Duration::ZERO) {
        let _ = timeout(Duration::from_millis(1), &mut call).await;
    }
    drop(call);
    let error = send(&stage, &event("Second")).await.unwrap_err();
    assert_caught(&stage, &error, 1);
    assert!(send(&stage, &event("First")).await.unwrap());
}

#[tokio::test]
async fn calls_under_way_with_one_key_and_one_body_are_one_command() {
    let stage = Stage::start().await;
    let command = event("Kick-off");
    let calls = (0..20).map(|_| send(&stage, &command));
    let replayed = futures_util::future::join_all(calls).await;
    let first = replayed
        .iter()
        .filter(|replayed| !replayed.as_ref().unwrap());
    assert_eq!(first.count(), 1);
    assert_eq!(stage.server.commits(Operation::SubmitEventCommand), 1);
}

#[tokio::test]
async fn only_keyed_operations_take_a_key_by_type() {
    /// What a method is found to be when the builder has none of that name.
    trait NoKey: Sized {
        fn idempotency_key(self, _key: IdempotencyKey) -> &'static str {
            "this operation takes no key"
        }
    }

    impl<T> NoKey for T {}

    let stage = Stage::start().await;
    // These lines compile only as long as the builders have no method of that name themselves.
    let none: [&'static str; 4] = [
        stage
            .crm
            .commands()
            .submit(new_person("Ann"))
            .idempotency_key(key()),
        stage.crm.people().list().idempotency_key(key()),
        stage.calendar.holds().manage(1).idempotency_key(key()),
        stage
            .accounting
            .counterparties()
            .create(1)
            .idempotency_key(key()),
    ];
    assert_eq!(none, ["this operation takes no key"; 4]);
    let command = stage.calendar.events().command(&event("Kick-off"));
    let keyed: sdk_calendar::SubmitEventCommand = command.idempotency_key(key());
    keyed.await.unwrap();
}
