//! A transport with scripted answers, and a seed that makes a run repeatable.

use std::time::Duration;

use sdk_core::testing::{self, ScriptedTransport};
use sdk_core::{Effect, ErrorKind, RetryPolicy};
use tokio::time::Instant;

use crate::fixtures::{add_person, get_person};
use crate::samples::kick_off;
use crate::support::{Clients, assert_says, assert_tried};

const CREATED: &str = r#"{"schemaVersion": "suite-calendar-command-result.v1", "operation": "event.create",
    "outcome": "succeeded", "publicReference": "EVT-1", "recordVersion": 1, "replayed": false}"#;

#[tokio::test(start_paused = true)]
async fn a_built_command_survives_scripted_faults_with_one_key() {
    let busy = http::Response::builder().status(503);
    let busy = busy.header("retry-after", "7").body("").unwrap();
    let transport = ScriptedTransport::new().not_sent().lost().answer(busy);
    let transport = transport.json(201, CREATED);
    let suite = transport.suite().token_url("https://id.suite.test/token");
    let retry = RetryPolicy::default().with_attempts(4);
    let calendar = suite.retry(retry).calendar();
    let command = &sdk_calendar::operations::SUBMIT_EVENT_COMMAND;
    let command = testing::prepared(command, &serde_json::json!({"title": "Kick-off"}));
    let started = Instant::now();
    assert_eq!(transport.answers_left(), 4);

    let receipt = calendar.send_prepared(&command).await.unwrap();

    assert_eq!((receipt.attempts(), transport.answers_left()), (4, 0));
    assert!(started.elapsed() >= Duration::from_secs(7));
    let requests = transport.requests();
    // The first attempt was not sent.
    assert_eq!(requests.len(), 3);
    let uri = "https://calendar.suite.test/calendar/v1/event-commands";
    let key = receipt.idempotency_key().unwrap().as_str();
    for sent in &requests {
        assert_eq!(sent.uri(), uri);
        assert_eq!(sent.headers()["idempotency-key"], key);
        assert_eq!(&sent.body()[..], br#"{"title":"Kick-off"}"#);
    }
    let shown = format!("{transport:?} {:?}", requests[0].headers());
    for secret in ["scripted", "Kick-off"] {
        assert!(!shown.contains(secret), "{shown}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_stall_lasts_until_the_timeout_and_a_request_after_the_last_answer_fails() {
    let transport = ScriptedTransport::new().stalled().status(404);
    let minute = Duration::from_secs(60);
    let crm = transport.suite().timeout(minute).deadline(minute * 2).crm();
    let started = Instant::now();
    let error = add_person(&crm).await.unwrap_err();
    assert_tried(&error, ErrorKind::Timeout, Effect::Unknown, 1);
    assert!(started.elapsed() >= minute);
    assert!(get_person(&crm).await.unwrap_err().is_not_found());

    let error = crm.people().list().await.unwrap_err();

    assert_tried(&error, ErrorKind::InvalidInput, Effect::NotSent, 1);
    assert_says(&error, &["no answer left for GET /api/crm/v1/people"]);
    assert_eq!(transport.requests().len(), 2);
}

/// Returns the keys of three commands, and the delays of a call with four attempts.
async fn keys_and_waits(seed: Option<u64>) -> (Vec<String>, Vec<Duration>) {
    let transport = (0..4).fold(ScriptedTransport::new(), |it, _| it.status(503));
    let mut builder = transport.suite();
    builder = builder.retry(RetryPolicy::default().with_attempts(4));
    if let Some(seed) = seed {
        builder = builder.seed(seed);
    }
    let suite = builder.suite();
    let calendar = suite.calendar();
    let key = |_| {
        let command = kick_off(&calendar).prepare().unwrap();
        command.idempotency_key().unwrap().as_str().to_owned()
    };
    let keys = (0..3).map(key).collect();
    let error = get_person(&suite.crm()).await.unwrap_err();
    let waits = error.attempt_log()[1..].iter().map(|it| it.waited);
    (keys, waits.collect())
}

#[tokio::test(start_paused = true)]
async fn equal_seeds_give_equal_keys_and_delays() {
    let (keys, waits) = keys_and_waits(Some(7)).await;
    assert_eq!((keys.len(), waits.len()), (3, 3));
    let again = keys_and_waits(Some(7)).await;
    assert_eq!(again, (keys.clone(), waits.clone()));
    for seed in [Some(8), None] {
        let (other_keys, other_waits) = keys_and_waits(seed).await;
        assert!(keys.iter().all(|key| !other_keys.contains(key)));
        assert_ne!(other_waits, waits);
    }
}
