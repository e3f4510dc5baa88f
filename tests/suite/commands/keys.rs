//! Rows 22, 23, 46, 47 and 82: a key identifies one command, the service decides about conflicts, and its rejections
//! are final.

use futures_util::future::join_all;
use sdk_calendar::types::EventCommand;
use sdk_core::{
    Effect, Error, ErrorKind, ExactReplay, IdempotencyKey, Method, RawJson, Secret, Suite,
};
use sdk_reference_server::Operation;
use serde_json::json;

use super::Stage;
use crate::fixtures::add_person;
use crate::peer::{always, json as reply_of};
use crate::samples::{event, kick_off};
use crate::support::{
    Clients, assert_failed, assert_refused_with, assert_says, builder_for, key as parsed,
    run_script, stored,
};

const KEY: &str = "order-4711.delivery";

fn key() -> IdempotencyKey {
    parsed(KEY)
}

async fn send(stage: &Stage, command: &EventCommand) -> Result<bool, Error> {
    let call = stage.calendar.events().command(command);
    let receipt = call.idempotency_key(key()).await?;
    Ok(receipt.replayed)
}

fn assert_conflict(error: &Error) {
    assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
    assert!(error.is_idempotency_conflict());
    assert_refused_with(error, 409);
    assert_eq!(error.code(), Some("IDEMPOTENCY_CONFLICT"));
    assert!(!error.is_retryable() && error.command().is_none() && error.body().is_some());
    assert_eq!(error.attempts(), 1);
    assert_eq!(error.idempotency_key(), Some(&key()));
    assert!(!format!("{error} {error:#?}").contains(KEY), "{error}");
}

#[tokio::test]
async fn fault_22_a_key_with_another_command_is_a_conflict_in_every_kind_of_call() {
    let stage = Stage::start();
    assert!(!send(&stage, &event("First")).await.unwrap());
    let other = serde_json::to_value(event("Second")).unwrap();

    assert_conflict(&send(&stage, &event("Second")).await.unwrap_err());

    let calendar = &stage.calendar;
    let raw = calendar.raw_call(&sdk_calendar::operations::SUBMIT_EVENT_COMMAND);
    let raw = raw.body(other.clone()).idempotency_key(key());
    assert_conflict(&raw.await.unwrap_err());

    let raw = calendar.raw_call((Method::Post, "/calendar/v1/event-commands"));
    assert_conflict(&raw.body(other).idempotency_key(key()).await.unwrap_err());

    // The command is stored and sent by another process.
    let elsewhere = builder_for(&stage.server).transport(stage.server.service());
    let elsewhere = elsewhere.calendar();
    let call = elsewhere.events().command(&event("Second"));
    let command = stored(&call.idempotency_key(key()).prepare().unwrap());
    assert_conflict(&elsewhere.send_prepared(&command).await.unwrap_err());

    assert_eq!(stage.server.attempts(Operation::SubmitEventCommand), 5);
    assert_eq!(stage.server.commits(Operation::SubmitEventCommand), 1);
}

#[tokio::test]
async fn fault_23_no_envelope_makes_a_rejection_retryable() {
    for (status, code, kind) in [
        (400, "validation_failed", ErrorKind::Rejected),
        (403, "insufficient_scope", ErrorKind::Forbidden),
        (404, "not_found", ErrorKind::NotFound),
        (409, "stale_record_version", ErrorKind::Conflict),
        (409, "time_conflict", ErrorKind::Conflict),
        (409, "invalid_state", ErrorKind::Conflict),
        (422, "not_acceptable", ErrorKind::Rejected),
    ] {
        let body = json!({
            "error": {"code": code, "message": "no", "requestId": "req-23", "retryable": true},
        });
        let run = run_script(always(reply_of(status, &body)), async |suite| {
            Ok(errors_of_all_kinds_of_calls(suite).await)
        });
        let run = run.await;
        for error in run.result.as_ref().unwrap() {
            assert_failed(error, kind, Effect::Refused);
            assert_eq!((error.status(), error.attempts()), (Some(status), 1));
            let got = (error.code(), error.request_id());
            assert_eq!(got, (Some(code), Some("req-23")));
            assert!(
                !error.is_retryable() && error.command().is_none(),
                "{error}"
            );
        }
        assert_eq!(run.attempts(), 6);
    }
}

/// Returns the errors of a read with each kind of envelope, a command with a key, a resendable command without a key,
/// and both commands in stored form.
async fn errors_of_all_kinds_of_calls(suite: &Suite) -> [Error; 6] {
    let (crm, calendar) = (suite.crm(), suite.calendar());
    let unkeyed = add_person(&crm).exact_replay(ExactReplay::Allowed);
    let event = kick_off(&calendar).prepare().unwrap();
    let person = unkeyed.clone().prepare().unwrap();
    [
        crm.people().list().await.unwrap_err(),
        suite.platform().apps().list().await.unwrap_err(),
        kick_off(&calendar).await.unwrap_err(),
        unkeyed.clone().await.unwrap_err(),
        calendar.send_prepared(&event).await.unwrap_err(),
        crm.send_prepared(&person).await.unwrap_err(),
    ]
}

#[tokio::test]
async fn fault_46_the_service_decides_between_commands_with_one_key_at_any_moment() {
    // Two different commands run concurrently. One is committed, and the other is a conflict.
    let stage = Stage::start();
    let (one, other) = (event("First"), event("Second"));
    let both = join_all([send(&stage, &one), send(&stage, &other)]).await;
    let (committed, refused): (Vec<_>, Vec<_>) = both.into_iter().partition(Result::is_ok);
    assert_eq!(committed.len(), 1);
    assert_conflict(refused[0].as_ref().unwrap_err());
    assert_eq!(stage.server.commits(Operation::SubmitEventCommand), 1);

    // Twenty equal commands run concurrently. One is committed, and the others get its replay.
    let stage = Stage::start();
    let replayed = join_all((0..20).map(|_| send(&stage, &one))).await;
    let replays = replayed
        .into_iter()
        .filter(|replayed| *replayed.as_ref().unwrap());
    assert_eq!(replays.count(), 19);

    // The first command was rejected. The corrected command is sent with the same key.
    let stage = Stage::start();
    let refused = event("First").ends_at("2026-02-02T08:00:00Z");
    let error = send(&stage, &refused).await.unwrap_err();
    assert_refused_with(&error, 400);
    assert!(!send(&stage, &event("Corrected")).await.unwrap());
    assert_conflict(&send(&stage, &event("First")).await.unwrap_err());

    // The first command was committed, although its effect is unknown. Another command is then a conflict, and the same
    // command gets a replay.
    let stage = Stage::start();
    let fault = stage.server.fault(Operation::SubmitEventCommand);
    let fault = fault.reply_after_commit_with(503);
    let error = send(&stage, &event("First")).await.unwrap_err();
    assert_eq!(error.effect(), Effect::Unknown);
    fault.remove();
    assert_conflict(&send(&stage, &event("Second")).await.unwrap_err());
    assert!(send(&stage, &event("First")).await.unwrap());
    assert_eq!(stage.server.commits(Operation::SubmitEventCommand), 1);
}

#[tokio::test]
async fn fault_47_the_same_parsed_command_in_another_notation_is_a_replay() {
    let stage = Stage::start();
    let event = r#""operation":"create","collectionReference":"COL-1","startsAt":"2026-02-01T09:00:00Z",
        "endsAt":"2026-02-01T10:00:00Z","timezone":"UTC""#;
    let notations = [
        format!(r#"{{{event},"title":"A","recurrence":{{"count":100,"weight":1}}}}"#),
        format!(r#"{{"title":"\u0041",{event},"recurrence":{{"weight":1.0,"count":1e2}}}}"#),
        format!(
            r#"{{{event},"title":"A","recurrence":{{"count":100.0,"weight":10e-1,"end":null}}}}"#
        ),
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

#[test]
fn fault_82_keys_derived_with_a_secret_cannot_be_guessed() {
    let [secret, another] = ["from the vault: 1", "from the vault: 2"].map(Secret::from);
    let plain = IdempotencyKey::derive("payroll", ["ann@example.com"]);
    let derive =
        |secret| IdempotencyKey::derive_keyed(secret, "payroll", ["ann@example.com"]).unwrap();
    let keyed = derive(&secret);
    assert_ne!(plain, keyed);
    assert_eq!(keyed, derive(&secret));
    assert_ne!(keyed, derive(&another));
    assert_eq!(keyed, parsed(keyed.as_str()));
    assert_eq!(format!("{keyed:?}"), "IdempotencyKey(redacted)");
    // An unset variable is not accepted as a secret.
    for short in ["", "fifteen bytes !"] {
        let short = Secret::from(short);
        let error = IdempotencyKey::derive_keyed(&short, "payroll", ["x"]).unwrap_err();
        assert_says(&error, &["at least 16 bytes"]);
        assert!(!error.to_string().contains("fifteen bytes"), "{error}");
    }
}
