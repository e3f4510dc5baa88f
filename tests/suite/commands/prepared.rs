//! Prepared commands: what is stored is what is sent, by any process, or it is refused.

use sdk_core::{CallOptions, ErrorKind, ExactReplay, PreparedCommand};
use sdk_reference_server::Operation;
use serde_json::{Value, json};

use super::stage::Stage;
use crate::samples::{kick_off, new_person};
use crate::support::{assert_unsent, stored};

#[tokio::test]
async fn what_was_changed_in_the_store_is_refused() {
    let stage = Stage::start().await;
    let command = kick_off(&stage.calendar).header("x-tenant", "a");
    let command = serde_json::to_value(command.prepare().unwrap()).unwrap();
    let body = command["body"].as_str().unwrap();
    let changes = [
        ("version", json!(1)),
        ("version", json!(3)),
        ("preparedAt", json!(0)),
        ("preparedAt", Value::Null),
        ("preparedAt", json!(u64::MAX)),
        ("application", json!("crm")),
        ("operation", json!("manageHold")),
        ("method", json!("PUT")),
        ("audience", json!("https://elsewhere.example")),
        ("audience", Value::Null),
        ("path", json!("/calendar/v1/hold-commands")),
        ("path", json!("/calendar/v1/../../crm")),
        ("idempotencyKey", json!("another-key-of-22-char")),
        ("idempotencyKey", Value::Null),
        ("headers", json!([["x-tenant", "b"]])),
        ("headers", json!([])),
        ("body", json!(body.replace("Kick-off", "Kick-out"))),
        ("digest", json!("0".repeat(64))),
    ];
    for (member, value) in changes {
        let mut edited = command.clone();
        edited[member] = value;
        let edited: PreparedCommand = serde_json::from_value(edited).unwrap();
        assert!(edited.verify().is_err(), "{member}");
        let error = stage.calendar.send_prepared(&edited).await.unwrap_err();
        assert_unsent(&error, ErrorKind::PreparedCommand, &[]);
    }
    assert!(stage.server.requests().is_empty());
}

#[tokio::test]
async fn a_stored_command_with_another_flag_is_rejected_before_anything_is_sent() {
    let stage = Stage::start().await;
    let call = || stage.crm.commands().submit(new_person("Ann Example"));
    let replays = [ExactReplay::Allowed, ExactReplay::Forbidden];
    let [allowed, forbidden] = replays.map(|replay| call().exact_replay(replay));
    for (call, others) in [
        (call(), [Some(true), Some(false)]),
        (allowed.without_token(), [None, Some(false)]),
        (forbidden, [None, Some(true)]),
    ] {
        let form = serde_json::to_value(call.prepare().unwrap()).unwrap();
        let flags = ["sent", "replayShown", "withoutToken"];
        let flags = flags.map(|flag| (flag, json!(form[flag] != true)));
        let exact = others.map(|other| ("replayExact", json!(other)));
        for (flag, value) in flags.into_iter().chain(exact) {
            let mut edited = form.clone();
            edited[flag] = value;
            let edited: PreparedCommand = serde_json::from_value(edited).unwrap();
            assert!(edited.verify().is_err(), "{flag}");
            let error = stage.crm.send_prepared(&edited).await.unwrap_err();
            assert_unsent(&error, ErrorKind::PreparedCommand, &[]);
        }
    }
    assert!(stage.server.requests().is_empty());
}

#[tokio::test]
async fn the_wrong_client_refuses_a_command() {
    let stage = Stage::start().await;
    let command = kick_off(&stage.calendar).prepare().unwrap();

    let error = stage.crm.send_prepared(&command).await.unwrap_err();
    let words = ["it is for calendar, but this client is for crm"];
    assert_unsent(&error, ErrorKind::PreparedCommand, &words);

    let other = Stage::start().await;
    let error = other.calendar.send_prepared(&command).await.unwrap_err();
    let words = ["it was prepared for the audience"];
    assert_unsent(&error, ErrorKind::PreparedCommand, &words);
    assert!(stage.server.requests().is_empty() && other.server.requests().is_empty());
}

#[tokio::test]
async fn headers_and_parameters_of_the_call_go_along_once() {
    let stage = Stage::start().await;
    let defaults = CallOptions::default()
        .with_header("x-from", "client")
        .with_query("tenant", "a");
    let calendar = stage.calendar.with_defaults(defaults);
    let call = kick_off(&calendar).header("x-from", "call");
    let command = call.query("trace", "b").prepare().unwrap();
    let both = [("x-from", "client"), ("x-from", "call")];
    assert_eq!(command.headers().collect::<Vec<_>>(), both);
    let path = "/calendar/v1/event-commands?tenant=a&trace=b";
    assert_eq!(command.path(), path);

    let call = calendar.send_prepared(&stored(&command));
    call.header("x-more", "now").await.unwrap();

    let seen = stage.server.requests_for(Operation::SubmitEventCommand);
    let seen = &seen[0];
    assert_eq!(seen.query.as_deref(), Some("tenant=a&trace=b"));
    let from = seen.headers.iter().filter(|(name, _)| name == "x-from");
    let from: Vec<_> = from.map(|(_, value)| &**value).collect();
    assert_eq!(from, ["client", "call"]);
    assert_eq!(seen.header("x-more"), Some("now"));
}

#[tokio::test]
async fn the_digest_can_be_read_and_the_key_is_named_without_being_shown() {
    let stage = Stage::start().await;
    let command = kick_off(&stage.calendar).prepare().unwrap();
    let form = serde_json::to_value(&command).unwrap();
    assert_eq!(form["digest"], command.digest());
    assert_eq!(command.digest().len(), 64);
    let key = command.idempotency_key().unwrap();
    assert_eq!(format!("{key:?}"), "IdempotencyKey(redacted)");
}

#[tokio::test]
async fn nothing_confidential_is_in_what_a_command_prints() {
    let stage = Stage::start().await;
    let call = kick_off(&stage.calendar);
    let command = call.header("x-secret", "hunter2").prepare().unwrap();
    let printed = format!("{command:?} {:?}", stage.calendar.send_prepared(&command));
    let key = command.idempotency_key().unwrap().as_str();
    for hidden in [key, "Kick-off", "hunter2"] {
        assert!(!printed.contains(hidden), "{printed}");
    }
}
