//! Replays of prepared commands: their own time and policy, their own refusals, raw paths too.

use std::time::Duration;

use sdk_calendar::types::CalendarCommandResult;
use sdk_core::{Effect, ErrorKind, ExactReplay, Method, RetryPolicy, SchemaPolicy};
use sdk_reference_server::Operation;
use serde_json::json;

use super::stage::{Mishap, Stage};
use crate::samples::{kick_off, new_person};
use crate::support::{assert_failed, assert_refused_with, stored};

#[tokio::test]
async fn a_replay_has_its_own_time_attempts_and_policy() {
    let stage = Stage::start().await;
    let command = kick_off(&stage.calendar).prepare().unwrap();

    stage
        .mishap(Mishap::LostReply, Operation::SubmitEventCommand)
        .await;
    let once = stage.calendar.send_prepared(&command);
    let error = once.retry(RetryPolicy::none()).await.unwrap_err();
    assert_eq!((error.attempts(), error.effect()), (1, Effect::Unknown));
    let open = error.command().unwrap();
    assert_eq!(
        (open.body(), open.idempotency_key(), open.was_sent()),
        (command.body(), command.idempotency_key(), true)
    );

    let slow = stage.server.fault(Operation::SubmitEventCommand);
    let slow = slow.delay(Duration::from_secs(30));
    let hurried = stage.calendar.send_prepared(&command);
    let hurried = hurried.deadline(Duration::from_millis(20));
    let error = hurried.await.unwrap_err();
    assert!(error.is_timeout(), "{error}");
    slow.remove();

    // A schema that this SDK does not know is not taken for the known one, also as raw JSON.
    let fault = stage.server.fault(Operation::SubmitEventCommand);
    let fault = fault.schema_suffix("v9");
    let error = stage.calendar.send_prepared(&command).await.unwrap_err();
    assert_failed(&error, ErrorKind::SchemaVersion, Effect::Unknown);
    let typed = stage.calendar.send_prepared(&command);
    let typed = typed.typed::<CalendarCommandResult>();
    let receipt = typed.schema_policy(SchemaPolicy::Warn).await.unwrap();
    assert_eq!(receipt.schema_version, "suite-calendar-command-result.v9");
    fault.remove();

    let raw = stage.calendar.send_prepared(&command).await.unwrap();
    let decoded = raw.decode::<CalendarCommandResult>().unwrap();
    assert_eq!(decoded.public_reference, receipt.public_reference);
    assert_eq!((raw.is_replay(), raw.http_status()), (Some(true), 200));
    assert_eq!(raw.idempotency_key(), command.idempotency_key());
    assert_eq!(stage.server.commits(Operation::SubmitEventCommand), 1);
}

#[tokio::test]
async fn fault_23_a_replay_that_is_refused_is_final() {
    let stage = Stage::start().await;
    let event = kick_off(&stage.calendar).prepare();
    let person = stage.crm.commands().submit(new_person("Ann")).prepare();
    for (operation, command) in [
        (Operation::SubmitEventCommand, event.unwrap()),
        (Operation::SubmitCommand, person.unwrap()),
    ] {
        for status in [400, 403, 404, 409, 422] {
            let fault = stage.server.fault(operation).status(status);
            let before = stage.server.attempts(operation);
            let send = match command.application() {
                "crm" => stage.crm.send_prepared(&command),
                _ => stage.calendar.send_prepared(&command),
            };
            let send = send.exact_replay(ExactReplay::Allowed);
            let error = send.await.unwrap_err();
            assert_refused_with(&error, status);
            assert!(!error.is_retryable() && error.command().is_none());
            assert_eq!(stage.server.attempts(operation), before + 1);
            fault.remove();
        }
    }
}

#[tokio::test]
async fn a_raw_path_whose_effect_is_unknown_can_be_replayed_too() {
    let stage = Stage::start().await;
    stage.mishap(Mishap::LostReply, Operation::ManageHold).await;
    let holds = "/calendar/v1/hold-commands";
    let hold = stage.calendar.raw_call((Method::Post, holds));
    let error = hold.body(json!({"note": "any"})).await.unwrap_err();
    assert_eq!((error.effect(), error.attempts()), (Effect::Unknown, 1));

    let command = stored(&error.into_command().unwrap());
    let again = stage.calendar.send_prepared(&command);
    let refused = again.await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::PreparedCommand);
    let again = stage.calendar.send_prepared(&command).allow_raw_path();
    again.await.unwrap();

    let seen = stage.server.requests_for(Operation::ManageHold);
    assert_eq!(seen.len(), 2);
    assert_eq!(seen[0].body(), seen[1].body());
    let read = stage.calendar.raw_call((Method::Get, holds));
    let error = read.prepare().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PreparedCommand);
}
