//! Row 16: replies that break off.

use sdk_core::Effect;

use super::fixtures::{add_person, committed, created, get_person, person};
use crate::peer::{Protocol, Step, over_both, reply};
use crate::samples::kick_off;
use crate::support::{calendar_at, crm_at};

over_both! {
    fault_16_a_read_is_repeated_when_its_reply_breaks_off
    fault_16_a_reply_may_break_off_within_a_character
    fault_16_a_keyed_command_is_replayed_when_its_reply_breaks_off
    fault_16_without_a_key_the_effect_is_unknown
}

/// The ways in which the second half of a reply can go missing.
fn halves(whole: &Step) -> [Step; 3] {
    let half = whole.clone().body(&whole.text()[..whole.text().len() / 2]);
    [half.clone(), whole.clone().cut_at(20), half.unended()]
}

async fn fault_16_a_read_is_repeated_when_its_reply_breaks_off(over: Protocol) {
    for half in halves(&person()) {
        let peer = over.start([half, person()]);

        let person = get_person(&crm_at(&peer)).await.unwrap();

        assert_eq!(person.attempts(), 2);
        assert_eq!(peer.requests().len(), 2);
    }
}

async fn fault_16_a_reply_may_break_off_within_a_character(over: Protocol) {
    let text = "{\"displayName\":\"Zoë\"}";
    let cut = reply(200).body(&text.as_bytes()[..=text.find('ë').unwrap()]);
    let peer = over.start([cut, person()]);

    let person = get_person(&crm_at(&peer)).await.unwrap();

    assert_eq!(person.attempts(), 2);
}

async fn fault_16_a_keyed_command_is_replayed_when_its_reply_breaks_off(over: Protocol) {
    for half in halves(&created()) {
        let peer = over.start([half.clone(), half, created()]);

        let receipt = kick_off(&calendar_at(&peer)).await.unwrap();

        let seen = peer.requests();
        assert_eq!((receipt.attempts(), seen.len()), (3, 3));
        for again in &seen[1..] {
            assert_eq!((again.key(), &again.body), (seen[0].key(), &seen[0].body));
        }
    }
}

async fn fault_16_without_a_key_the_effect_is_unknown(over: Protocol) {
    for half in halves(&committed()) {
        let peer = over.start([half, committed()]);
        let error = add_person(&crm_at(&peer)).await.unwrap_err();
        assert_eq!((error.attempts(), error.effect()), (1, Effect::Unknown));
        assert_eq!(error.status(), Some(201));
        assert_eq!(peer.requests().len(), 1);
    }
}
