//! Rows 16, 17 and 18: responses that end early or are not HTTP, and error pages.

use sdk_core::{Effect, ErrorKind};

use crate::fixtures::{add_person, committed, created, get_person, person};
use crate::peer::{Over, Step, always, close, over_all, raw, reply, reset};
use crate::samples::kick_off;
use crate::support::{Clients, run_script, run_script_over};

over_all! {
    fault_16_a_read_is_retried
    fault_16_a_keyed_command_is_resent_with_its_key_and_body
    fault_16_without_a_key_the_effect_is_unknown
    fault_17_a_response_that_is_not_http_is_a_lost_connection
}

/// Returns the ways in which the second half of a response can be lost.
fn halves(whole: &Step) -> [Step; 3] {
    let half = whole.clone().body(&whole.text()[..whole.text().len() / 2]);
    [half.clone(), whole.clone().cut_at(20), half.unended()]
}

/// Returns responses that end before their body.
fn headless() -> [Step; 4] {
    let head = "HTTP/1.1 201 Created\r\ncontent-le";
    [close(), reset(), raw(&head[..10]), raw(head)]
}

/// Reads a person. The first response is lost.
async fn assert_retried(over: Over, lost: Step) {
    let run = run_script_over(over, [lost, person()], async |suite| {
        get_person(&suite.crm()).await
    })
    .await;
    assert_eq!((run.result.unwrap().attempts(), run.requests.len()), (2, 2));
}

async fn fault_16_a_read_is_retried(over: Over) {
    let text = "{\"displayName\":\"Zoë\"}";
    let within_a_character = reply(200).body(&text.as_bytes()[..=text.find('ë').unwrap()]);
    for half in halves(&person()).into_iter().chain([within_a_character]) {
        assert_retried(over, half).await;
    }
}

async fn fault_17_a_response_that_is_not_http_is_a_lost_connection(over: Over) {
    assert_retried(over, raw("220 mail.example.com ESMTP\r\n")).await;
}

async fn fault_16_a_keyed_command_is_resent_with_its_key_and_body(over: Over) {
    for half in headless().into_iter().chain(halves(&created())) {
        let run = run_script_over(over, [half.clone(), half, created()], async |suite| {
            kick_off(&suite.calendar()).await
        })
        .await;
        assert!(run.same_bytes() && run.requests[0].key().is_some());
        assert_eq!((run.attempts(), run.result.unwrap().attempts()), (3, 3));
    }
}

async fn fault_16_without_a_key_the_effect_is_unknown(over: Over) {
    let headless = headless().map(|step| (step, None));
    let halves = halves(&committed()).map(|step| (step, Some(201)));
    for (half, status) in headless.into_iter().chain(halves) {
        let run = run_script_over(over, [half, committed()], async |suite| {
            add_person(&suite.crm()).await
        })
        .await;
        let error = run.error();
        assert_eq!((error.effect(), error.status()), (Effect::Unknown, status));
        assert_eq!(run.attempts(), 1);
    }
}

#[tokio::test]
async fn fault_18_a_503_is_recognized_with_any_body() {
    for body in ["", "<html>busy</html>"] {
        let busy = reply(503).body(body).header("x-request-id", "req-18");
        let run = run_script(always(busy), async |suite| get_person(&suite.crm()).await).await;
        let error = run.assert_failed(ErrorKind::Unavailable, Effect::Unknown, 3);
        assert_eq!(error.request_id(), Some("req-18"));
        assert_eq!((error.code(), error.body()), (None, Some(body.as_bytes())));
        assert!(error.is_retryable() && error.status() == Some(503));
    }
}
