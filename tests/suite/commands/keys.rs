//! Rows 22, 46 and 47: a key stands for one command, and the service is the one that knows which.

use futures_util::future::join_all;
use sdk_calendar::types::EventCommand;
use sdk_core::{
    CallOptions, Effect, Error, ErrorKind, ExactReplay, IdempotencyKey, Method, RawJson,
};
use sdk_reference_server::Operation;

use super::stage::{Mishap, Stage};
use crate::samples::{event, kick_off, new_person};
use crate::support::{Clients, assert_refused_with, stored};

const KEY: &str = "order-4711.delivery";

fn key() -> IdempotencyKey {
    KEY.parse().unwrap()
}

async fn send(stage: &Stage, command: &EventCommand) -> Result<bool, Error> {
    let call = stage.calendar.events().command(command);
    let receipt = call.idempotency_key(key()).await?;
    Ok(receipt.replayed)
}

/// Refused by the service, and told as what it is.
fn assert_conflict(error: &Error) {
    assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
    assert!(error.is_idempotency_conflict());
    assert_refused_with(error, 409);
    assert_eq!(error.code(), Some("IDEMPOTENCY_CONFLICT"));
    assert!(!error.is_retryable() && error.command().is_none() && error.body().is_some());
    assert_eq!(error.attempts(), 1);
    assert_eq!(error.idempotency_key(), Some(&key()));
    assert!(!format!("{error} {error:?}").contains(KEY), "{error}");
}

#[tokio::test]
async fn fault_22_a_key_with_another_command_is_a_conflict_whichever_way_it_is_sent() {
    let stage = Stage::start().await;
    assert!(!send(&stage, &event("First")).await.unwrap());
    let other = serde_json::to_value(event("Second")).unwrap();

    assert_conflict(&send(&stage, &event("Second")).await.unwrap_err());

    let calendar = &stage.calendar;
    let raw = calendar.raw_call(&sdk_calendar::operations::SUBMIT_EVENT_COMMAND);
    let raw = raw.body(other.clone()).idempotency_key(key());
    assert_conflict(&raw.await.unwrap_err());

    let raw = calendar.raw_call((Method::Post, "/calendar/v1/event-commands"));
    assert_conflict(&raw.body(other).idempotency_key(key()).await.unwrap_err());

    // Stored, and as another process sends it.
    let elsewhere = stage.elsewhere().calendar();
    let call = elsewhere.events().command(&event("Second"));
    let command = stored(&call.idempotency_key(key()).prepare().unwrap());
    assert_conflict(&elsewhere.send_prepared(&command).await.unwrap_err());

    assert_eq!(stage.server.attempts(Operation::SubmitEventCommand), 5);
    assert_eq!(stage.server.commits(Operation::SubmitEventCommand), 1);
}

#[tokio::test]
async fn fault_46_two_commands_under_one_key_are_told_apart_by_the_service_at_any_moment() {
    // At once: one of them is committed, the other a conflict.
    let stage = Stage::start().await;
    let (one, other) = (event("First"), event("Second"));
    let both = join_all([send(&stage, &one), send(&stage, &other)]).await;
    let (committed, refused): (Vec<_>, Vec<_>) = both.into_iter().partition(Result::is_ok);
    assert_eq!(committed.len(), 1);
    assert_conflict(refused[0].as_ref().unwrap_err());
    assert_eq!(stage.server.commits(Operation::SubmitEventCommand), 1);

    // The first was refused: the corrected one goes out with its key.
    let stage = Stage::start().await;
    let refused = event("First").ends_at("2026-02-02T08:00:00Z");
    let error = send(&stage, &refused).await.unwrap_err();
    assert_refused_with(&error, 400);
    assert!(!send(&stage, &event("Corrected")).await.unwrap());
    assert_conflict(&send(&stage, &event("First")).await.unwrap_err());

    // The first may have happened, and did: the other is a conflict, the same a replay.
    let stage = Stage::start().await;
    let fault = stage.server.fault(Operation::SubmitEventCommand).times(3);
    fault.reply_after_commit_with(503);
    let error = send(&stage, &event("First")).await.unwrap_err();
    assert_eq!(error.effect(), Effect::Unknown);
    assert_conflict(&send(&stage, &event("Second")).await.unwrap_err());
    assert!(send(&stage, &event("First")).await.unwrap());
    assert_eq!(stage.server.commits(Operation::SubmitEventCommand), 1);
}

#[tokio::test]
async fn fault_47_the_same_parsed_command_in_another_notation_is_a_replay() {
    let stage = Stage::start().await;
    let notations = [
        r#"{"operation":"create","collectionReference":"COL-1","title":"A","startsAt":"2026-02-01T09:00:00Z",
            "endsAt":"2026-02-01T10:00:00Z","timezone":"UTC","recurrence":{"count":100,"weight":1}}"#,
        r#"{"title":"\u0041","operation":"create","collectionReference":"COL-1","startsAt":"2026-02-01T09:00:00Z",
            "endsAt":"2026-02-01T10:00:00Z","timezone":"UTC","recurrence":{"weight":1.0,"count":1e2}}"#,
        r#"{"operation":"create","collectionReference":"COL-1","title":"A","startsAt":"2026-02-01T09:00:00Z",
            "endsAt":"2026-02-01T10:00:00Z","timezone":"UTC","recurrence":{"count":100.0,"weight":10e-1,"end":null}}"#,
    ];
    for (number, notation) in notations.into_iter().enumerate() {
        let submit = &sdk_calendar::operations::SUBMIT_EVENT_COMMAND;
        let raw = stage.calendar.raw_call(submit);
        let body: RawJson = notation.parse().unwrap();
        let receipt = raw.body(body).idempotency_key(key()).await.unwrap();
        assert_eq!(receipt.is_replay(), Some(number > 0), "{notation}");
    }
    assert_eq!(stage.server.attempts(Operation::SubmitEventCommand), 3);
    assert_eq!(stage.server.commits(Operation::SubmitEventCommand), 1);
}

#[tokio::test]
async fn calls_under_way_with_one_key_and_one_body_are_one_command() {
    let stage = Stage::start().await;
    let command = event("Kick-off");
    let replayed = join_all((0..20).map(|_| send(&stage, &command))).await;
    let first = |replayed: &&Result<bool, Error>| !replayed.as_ref().unwrap();
    assert_eq!(replayed.iter().filter(first).count(), 1);
    assert_eq!(stage.server.commits(Operation::SubmitEventCommand), 1);
}

#[tokio::test]
async fn a_caller_who_knows_better_gives_a_key_to_a_command_without_a_documented_one() {
    let stage = Stage::start().await;
    stage
        .mishap(Mishap::Unavailable, Operation::SubmitCommand)
        .await;

    let call = stage.crm.commands().submit(new_person("Ann"));
    let receipt = call.idempotency_key(key()).await.unwrap();

    // With the key it is repeated, as nothing without one is.
    assert_eq!(receipt.attempts(), 2);
    assert_eq!(receipt.idempotency_key(), Some(&key()));
    for seen in stage.server.requests_for(Operation::SubmitCommand) {
        assert_eq!(seen.idempotency_key(), Some(KEY));
    }
    assert_eq!(stage.server.commits(Operation::SubmitCommand), 1);

    // Whoever forbids it has the last word.
    let forbid = CallOptions::default().with_exact_replay(ExactReplay::Forbidden);
    let bob = |crm: &sdk_crm::Client| crm.commands().submit(new_person("Bob"));
    for call in [
        bob(&stage.crm).exact_replay(ExactReplay::Forbidden),
        bob(&stage.crm.with_defaults(forbid)),
    ] {
        stage
            .mishap(Mishap::Unavailable, Operation::SubmitCommand)
            .await;
        let error = call.idempotency_key(key()).await.unwrap_err();
        assert_eq!((error.effect(), error.attempts()), (Effect::Unknown, 1));
    }
}

#[tokio::test]
async fn only_commands_take_a_key_by_type() {
    /// What a method is found to be when the builder has none of that name.
    trait NoKey: Sized {
        fn idempotency_key(self, _key: IdempotencyKey) -> &'static str {
            "this operation takes no key"
        }
    }

    impl<T> NoKey for T {}

    let stage = Stage::start().await;
    // These lines compile only as long as the builders have no method of that name themselves.
    let none: [&'static str; 2] = [
        stage.crm.people().list().idempotency_key(key()),
        stage.accounting.invoices().list().idempotency_key(key()),
    ];
    assert_eq!(none, ["this operation takes no key"; 2]);
    let command = kick_off(&stage.calendar);
    let keyed: sdk_calendar::SubmitEventCommand = command.idempotency_key(key());
    keyed.await.unwrap();
}
