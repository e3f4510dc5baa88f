//! Row 16: replies that break off.

use sdk_core::Effect;

use super::fixtures::{add_person, committed, created, get_person, person};
use crate::peer::{Peer, Step, reply};
use crate::samples::kick_off;
use crate::support::{calendar_at, crm_at};

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
        let peer = Peer::start([half.clone(), half, created()]);

        let receipt = kick_off(&calendar_at(&peer)).await.unwrap();

        let seen = peer.requests();
        assert_eq!((receipt.attempts(), seen.len()), (3, 3));
        for again in &seen[1..] {
            assert_eq!((again.key(), &again.body), (seen[0].key(), &seen[0].body));
        }
    }
}

#[tokio::test]
async fn fault_16_without_a_key_the_effect_is_unknown() {
    for half in halves(&committed()) {
        let peer = Peer::start([half, committed()]);
        let error = add_person(&crm_at(&peer)).await.unwrap_err();
        assert_eq!((error.attempts(), error.effect()), (1, Effect::Unknown));
        assert_eq!(error.status(), Some(201));
        assert_eq!(peer.requests().len(), 1);
    }
}
