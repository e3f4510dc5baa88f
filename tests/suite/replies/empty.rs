//! Rows 17 and 18: replies that say nothing, or something else.

use sdk_core::{Effect, ErrorKind};

use crate::fixtures::{created, get_person, person};
use crate::peer::{Over, Peer, Step, always, over_all, raw, reply};
use crate::samples::kick_off;
use crate::support::{Clients, assert_says, crm_at, run_script};

over_all! { fault_17_garbage_is_a_lost_connection }

#[tokio::test]
async fn fault_17_a_2xx_that_is_no_such_reply_is_a_typed_error() {
    let html = format!("<html>{}</html>", "maintenance ".repeat(10_000));
    let odd: [(Step, &str); 4] = [
        (reply(200).body(html), "<html>maintenance"),
        (reply(204), "the body is empty"),
        (reply(200).body("[1, 2]"), "AttentionQueue"),
        (
            reply(200).body(r#"{"schemaVersion": "suite-crm-today.v1", "workspace": 7}"#),
            "workspace",
        ),
    ];
    for (step, words) in odd {
        let status = step.status();
        let peer = Peer::start([step.header("x-request-id", "req-17")]);

        let error = crm_at(&peer).today().get().await.unwrap_err();

        assert_eq!(error.kind(), ErrorKind::Decode, "{error}");
        assert_eq!((error.status(), error.attempts()), (Some(status), 1));
        assert!(!error.is_retryable());
        let line = error.to_string();
        assert_says(&line, &[words]);
        assert!(line.ends_with("(request req-17)"), "{line}");
        assert!(line.len() < 500 && line.lines().count() == 1, "{line}");
        assert_eq!(peer.requests().len(), 1);
    }
}

async fn fault_17_garbage_is_a_lost_connection(over: Over) {
    let peer = over.start([raw("220 mail.example.com ESMTP\r\n"), person()]);

    let person = get_person(&crm_at(&peer)).await.unwrap();

    assert_eq!(person.attempts(), 2);
    let (seen, again) = (&peer.requests()[0], &peer.requests()[1]);
    assert_eq!((&*seen.method, &seen.target), ("GET", &again.target));
}

#[tokio::test]
async fn fault_17_a_command_with_such_a_reply_may_have_happened() {
    let run = run_script([reply(200).body("<html>")], async |suite| {
        kick_off(&suite.calendar()).await
    })
    .await;
    let error = run.assert_failed(ErrorKind::Decode, Effect::Unknown, 1);
    let (key, sent) = (error.idempotency_key().unwrap(), &run.requests[0]);
    assert_eq!(sent.key(), Some(key.as_str()));
    assert_eq!(error.command().unwrap().body(), sent.text());
    assert_eq!(run.exchanges, 1);
}

#[tokio::test]
async fn fault_18_a_503_is_one_whatever_its_body() {
    for body in ["", "<html>busy</html>"] {
        let busy = reply(503).body(body).header("x-request-id", "req-18");
        let peer = Peer::start(always(busy));

        let error = get_person(&crm_at(&peer)).await.unwrap_err();

        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert_eq!((error.status(), error.attempts()), (Some(503), 3));
        assert_eq!(error.request_id(), Some("req-18"));
        assert!(error.is_retryable() && error.is_unavailable());
        assert_eq!((error.code(), error.body()), (None, Some(body.as_bytes())));
        assert_eq!(peer.requests().len(), 3);
    }
}

#[tokio::test]
async fn fault_18_a_503_repeats_a_command_with_its_key() {
    let script = [reply(503).body("<html>"), reply(503), created()];
    let run = run_script(script, async |suite| kick_off(&suite.calendar()).await).await;
    assert!(run.same_bytes());
    assert_eq!((run.attempts(), run.result.unwrap().attempts()), (3, 3));
}
