//! A transport that answers from a script.

use std::time::Duration;

use sdk_core::testing::{self, ScriptedTransport};
use sdk_core::{Effect, ErrorKind};
use serde_json::Value;

use crate::fixtures::add_person;
use crate::samples::kick_off;
use crate::support::{Clients, assert_says, assert_tried};

const CREATED: &str = r#"{"schemaVersion": "suite-calendar-command-result.v1", "operation": "event.create",
    "outcome": "succeeded", "publicReference": "EVT-1", "recordVersion": 1, "replayed": false}"#;

#[tokio::test(start_paused = true)]
async fn a_command_survives_what_is_scripted_under_one_key() {
    let transport = ScriptedTransport::new().not_sent().lost();
    let transport = transport.json(201, CREATED);
    let suite = transport.suite().build().unwrap();

    let receipt = kick_off(&suite.calendar()).await.unwrap();

    assert_eq!(receipt.attempts(), 3);
    let requests = transport.requests();
    // The first one was not sent.
    assert_eq!(requests.len(), 2);
    let uri = "https://calendar.suite.test/calendar/v1/event-commands";
    assert_eq!(requests[0].uri(), uri);
    let key = receipt.idempotency_key().unwrap().as_str();
    let keyed = |sent: &http::Request<_>| sent.headers()["idempotency-key"] == key;
    assert!(requests.iter().all(keyed));
    let body: Value = serde_json::from_slice(requests[1].body()).unwrap();
    assert_eq!(body["title"], "Kick-off");
    let shown = format!("{transport:?} {:?}", requests[0].headers());
    for secret in ["scripted", "Kick-off"] {
        assert!(!shown.contains(secret), "{shown}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_stall_takes_the_time_of_an_attempt_and_what_it_sent_is_unknown() {
    let transport = ScriptedTransport::new().stalled();
    let started = tokio::time::Instant::now();
    let error = add_person(&transport.suite().crm()).await.unwrap_err();
    assert_tried(&error, ErrorKind::Timeout, Effect::Unknown, 1);
    assert!(started.elapsed() >= Duration::from_secs(10));
}

#[tokio::test]
async fn a_request_after_the_last_answer_is_refused_by_its_path() {
    let transport = ScriptedTransport::new().status(404);
    let crm = transport.suite().crm();
    let missing = crm.people().get("PER-0123456789AB").await.unwrap_err();
    assert!(missing.is_not_found());

    let error = crm.people().list().await.unwrap_err();

    assert_tried(&error, ErrorKind::InvalidInput, Effect::NotSent, 1);
    assert_says(&error, &["the script has ended", "GET /api/crm/v1/people"]);
    assert_eq!(transport.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_made_command_is_sent_and_waits_as_a_scripted_header_asks() {
    let busy = http::Response::builder()
        .status(503)
        .header("retry-after", "7");
    let transport = ScriptedTransport::new()
        .answer(busy.body("").unwrap())
        .json(201, CREATED);
    let suite = transport.suite().token_url("https://id.suite.test/token");
    let command = &sdk_calendar::operations::SUBMIT_EVENT_COMMAND;
    let command = testing::prepared(command, &serde_json::json!({"title": "Kick-off"}));
    let started = tokio::time::Instant::now();
    assert_eq!(transport.answers_left(), 2);

    let receipt = suite.calendar().send_prepared(&command).await.unwrap();

    assert_eq!(receipt.attempts(), 2);
    assert!(started.elapsed() >= Duration::from_secs(7));
    assert_eq!(
        (transport.requests().len(), transport.answers_left()),
        (2, 0)
    );
}
