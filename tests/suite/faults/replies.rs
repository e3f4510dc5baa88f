//! Rows 16, 17 and 18: replies that break off, say nothing, or say something else.

use sdk_core::{Effect, ErrorKind};
use sdk_reference_server::Operation;

use super::fixtures::{PERSON, committed, created, new_event, new_person, person, server};
use crate::peer::{Peer, Step, always, raw, reply};
use crate::support::{calendar_at, calendar_for, crm_at, crm_for};

/// The ways in which the second half of a reply can go missing.
fn halves(whole: &Step) -> [Step; 3] {
    let half = whole.clone().body(&whole.text()[..whole.text().len() / 2]);
    [half.clone(), whole.clone().cut_at(20), half.unended()]
}

#[tokio::test]
async fn fault_16_a_read_is_repeated_when_its_reply_breaks_off() {
    for half in halves(&person()) {
        let peer = Peer::start([half, person()]);

        let person = crm_at(&peer).people().get(PERSON).await.unwrap();

        assert_eq!(person.attempts(), 2);
        assert_eq!(peer.requests().len(), 2);
    }
}

#[tokio::test]
async fn fault_16_a_reply_may_break_off_within_a_character() {
    let text = "{\"displayName\":\"Zoë\"}";
    let cut = reply(200).body(&text.as_bytes()[..=text.find('ë').unwrap()]);
    let peer = Peer::start([cut, person()]);

    let person = crm_at(&peer).people().get(PERSON).await.unwrap();

    assert_eq!(person.attempts(), 2);
}

#[tokio::test]
async fn fault_16_a_keyed_command_is_replayed_when_its_reply_breaks_off() {
    for half in halves(&created()) {
        let peer = Peer::start([half, created()]);

        let receipt = calendar_at(&peer)
            .events()
            .command(&new_event("Kick-off"))
            .await
            .unwrap();

        let seen = peer.requests();
        assert_eq!((receipt.attempts(), seen.len()), (2, 2));
        assert_eq!(seen[0].key(), seen[1].key());
        assert_eq!(seen[0].body, seen[1].body);
    }
}

#[tokio::test]
async fn fault_16_a_keyed_command_is_committed_once() {
    let server = server().await;
    let calendar = calendar_for(&server);
    server
        .fault(Operation::SubmitEventCommand)
        .times(2)
        .truncate_body();

    let receipt = calendar
        .events()
        .command(&new_event("Kick-off"))
        .await
        .unwrap();

    assert_eq!((receipt.replayed, receipt.attempts()), (true, 3));
    assert_eq!(server.commits(Operation::SubmitEventCommand), 1);
}

#[tokio::test]
async fn fault_16_without_a_key_the_effect_is_unknown_and_the_command_replayable() {
    for half in halves(&committed()) {
        let peer = Peer::start([half, committed()]);
        let error = crm_at(&peer)
            .commands()
            .submit(new_person())
            .await
            .unwrap_err();
        assert_eq!((error.attempts(), error.effect()), (1, Effect::Unknown));
        assert_eq!(error.status(), Some(201));
        assert_eq!(peer.requests().len(), 1);
    }

    let server = server().await;
    let crm = crm_for(&server);
    server
        .fault(Operation::SubmitCommand)
        .times(1)
        .truncate_body();
    let error = crm.commands().submit(new_person()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Decode);

    let receipt = crm
        .send_prepared(&error.into_command().unwrap())
        .await
        .unwrap();

    assert_eq!(receipt.status(), 200);
    assert_eq!(server.commits(Operation::SubmitCommand), 1);
}

#[tokio::test]
async fn fault_17_a_2xx_that_is_no_such_reply_is_a_typed_error() {
    let html = format!("<html>{}</html>", "maintenance ".repeat(10_000));
    let odd: [(Step, &str); 4] = [
        (reply(200).body(html), "<html>maintenance"),
        (reply(204), "the body is empty"),
        (reply(200).body("[1, 2]"), "AttentionQueue"),
        (reply(200).body(r#"{"workspace": 7}"#), "workspace"),
    ];
    for (step, words) in odd {
        let status = step.status();
        let peer = Peer::start([step.header("x-request-id", "req-17")]);

        let error = crm_at(&peer).today().get().await.unwrap_err();

        assert_eq!(error.kind(), ErrorKind::Decode, "{error}");
        assert_eq!((error.status(), error.attempts()), (Some(status), 1));
        assert!(!error.retryable());
        let line = error.to_string();
        assert!(line.contains(words), "{line}");
        assert!(line.ends_with("(request req-17)"), "{line}");
        assert!(line.len() < 500 && line.lines().count() == 1, "{line}");
        assert_eq!(peer.requests().len(), 1);
    }
}

#[tokio::test]
async fn fault_17_garbage_is_a_lost_connection() {
    let peer = Peer::start([raw("220 mail.example.com ESMTP\r\n"), person()]);

    let person = crm_at(&peer).people().get(PERSON).await.unwrap();

    assert_eq!(person.attempts(), 2);
    let (seen, again) = (&peer.requests()[0], &peer.requests()[1]);
    assert_eq!((&*seen.method, &seen.target), ("GET", &again.target));
}

#[tokio::test]
async fn fault_17_a_command_with_such_a_reply_may_have_happened() {
    let peer = Peer::start([reply(200).body("<html>")]);

    let error = calendar_at(&peer)
        .events()
        .command(&new_event("Kick-off"))
        .await
        .unwrap_err();

    assert_eq!(error.kind(), ErrorKind::Decode);
    assert_eq!((error.attempts(), error.effect()), (1, Effect::Unknown));
    let key = error.idempotency_key().unwrap().as_str().to_owned();
    assert_eq!(peer.requests()[0].key(), Some(&*key));
    assert_eq!(error.command().unwrap().body(), peer.requests()[0].text());
}

#[tokio::test]
async fn fault_18_a_503_is_one_whatever_its_body() {
    for busy in [reply(503), reply(503).body("<html>busy</html>")] {
        let peer = Peer::start(always(busy.header("x-request-id", "req-18")));

        let error = crm_at(&peer).people().get(PERSON).await.unwrap_err();

        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert_eq!((error.status(), error.attempts()), (Some(503), 3));
        assert_eq!(error.request_id(), Some("req-18"));
        assert!(error.retryable() && error.is_unavailable());
        assert_eq!(error.code(), None);
        assert_eq!(peer.requests().len(), 3);
    }
}

#[tokio::test]
async fn fault_18_a_503_repeats_a_command_only_with_its_key() {
    let peer = Peer::start([reply(503).body("<html>"), reply(503), created()]);
    let receipt = calendar_at(&peer)
        .events()
        .command(&new_event("Kick-off"))
        .await
        .unwrap();
    assert_eq!(receipt.attempts(), 3);
    let keys: Vec<_> = peer
        .requests()
        .iter()
        .map(|seen| seen.key().map(str::to_owned))
        .collect();
    assert_eq!(
        keys,
        vec![Some(receipt.idempotency_key().unwrap().as_str().to_owned()); 3]
    );

    let peer = Peer::start([reply(503)]);
    let error = crm_at(&peer)
        .commands()
        .submit(new_person())
        .await
        .unwrap_err();
    assert_eq!((error.attempts(), error.effect()), (1, Effect::Unknown));
    assert_eq!(peer.requests().len(), 1);
}
