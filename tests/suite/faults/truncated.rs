//! Row 16: replies that break off.

use sdk_core::{Effect, ErrorKind};
use sdk_reference_server::Operation;

use super::fixtures::{add_person, committed, created, get_person, person, server};
use crate::peer::{Peer, Step, reply};
use crate::samples::kick_off;
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

        let person = get_person(&crm_at(&peer)).await.unwrap();

        assert_eq!(person.attempts(), 2);
        assert_eq!(peer.requests().len(), 2);
    }
}

#[tokio::test]
async fn fault_16_a_reply_may_break_off_within_a_character() {
    let text = "{\"displayName\":\"Zoë\"}";
    let cut = reply(200).body(&text.as_bytes()[..=text.find('ë').unwrap()]);
    let peer = Peer::start([cut, person()]);

    let person = get_person(&crm_at(&peer)).await.unwrap();

    assert_eq!(person.attempts(), 2);
}

#[tokio::test]
async fn fault_16_a_keyed_command_is_replayed_when_its_reply_breaks_off() {
    for half in halves(&created()) {
        let peer = Peer::start([half, created()]);

        let receipt = kick_off(&calendar_at(&peer)).await.unwrap();

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

    let receipt = kick_off(&calendar).await.unwrap();

    assert_eq!((receipt.replayed, receipt.attempts()), (true, 3));
    assert_eq!(server.commits(Operation::SubmitEventCommand), 1);
}

#[tokio::test]
async fn fault_16_without_a_key_the_effect_is_unknown_and_the_command_replayable() {
    for half in halves(&committed()) {
        let peer = Peer::start([half, committed()]);
        let error = add_person(&crm_at(&peer)).await.unwrap_err();
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
    let error = add_person(&crm).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Decode);

    let receipt = crm
        .send_prepared(&error.into_command().unwrap())
        .await
        .unwrap();

    assert_eq!(receipt.http_status(), 200);
    assert_eq!(server.commits(Operation::SubmitCommand), 1);
}
