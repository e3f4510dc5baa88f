//! Row 16: replies that break off.

use sdk_core::Effect;

use crate::fixtures::{add_person, committed, created, get_person, person};
use crate::peer::{Over, Step, close, over_all, raw, reply, reset};
use crate::samples::kick_off;
use crate::support::{calendar_at, crm_at};

over_all! {
    fault_16_a_read_is_repeated_when_its_reply_breaks_off
    fault_16_a_reply_may_break_off_within_a_character
    fault_16_a_keyed_command_is_replayed_when_its_reply_breaks_off
    fault_16_without_a_key_the_effect_is_unknown
    fault_16_a_broken_response_leaves_the_effect_unknown
}

/// The ways in which the second half of a reply can go missing.
fn halves(whole: &Step) -> [Step; 3] {
    let half = whole.clone().body(&whole.text()[..whole.text().len() / 2]);
    [half.clone(), whole.clone().cut_at(20), half.unended()]
}

async fn fault_16_a_read_is_repeated_when_its_reply_breaks_off(over: Over) {
    for half in halves(&person()) {
        let peer = over.start([half, person()]);

        let person = get_person(&crm_at(&peer)).await.unwrap();

        assert_eq!(person.attempts(), 2);
        assert_eq!(peer.requests().len(), 2);
    }
}

async fn fault_16_a_reply_may_break_off_within_a_character(over: Over) {
    let text = "{\"displayName\":\"Zoë\"}";
    let cut = reply(200).body(&text.as_bytes()[..=text.find('ë').unwrap()]);
    let peer = over.start([cut, person()]);

    let person = get_person(&crm_at(&peer)).await.unwrap();

    assert_eq!(person.attempts(), 2);
}

async fn fault_16_a_keyed_command_is_replayed_when_its_reply_breaks_off(over: Over) {
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

async fn fault_16_without_a_key_the_effect_is_unknown(over: Over) {
    for half in halves(&committed()) {
        let peer = over.start([half, committed()]);
        let error = add_person(&crm_at(&peer)).await.unwrap_err();
        assert_eq!((error.attempts(), error.effect()), (1, Effect::Unknown));
        assert_eq!(error.status(), Some(201));
        assert_eq!(peer.requests().len(), 1);
    }
}

/// A response that breaks off before its body, or within it.
fn broken(whole: &Step) -> impl Iterator<Item = Step> {
    let head = "HTTP/1.1 201 Created\r\ncontent-le";
    let heads = [close(), reset(), raw(&head[..10]), raw(head)];
    heads.into_iter().chain(halves(whole))
}

async fn fault_16_a_broken_response_leaves_the_effect_unknown(over: Over) {
    for (unkeyed, keyed) in broken(&committed()).zip(broken(&created())) {
        let peer = over.start([unkeyed.clone(), committed()]);
        let error = add_person(&crm_at(&peer)).await.unwrap_err();
        let found = (error.effect(), error.attempts(), peer.requests().len());
        assert_eq!(found, (Effect::Unknown, 1, 1), "{unkeyed:?}: {error}");

        let peer = over.start([keyed.clone(), created()]);
        kick_off(&calendar_at(&peer)).await.unwrap();
        let [first, again] = &peer.requests()[..] else {
            panic!("not two requests: {keyed:?}")
        };
        assert!(first.key().is_some());
        assert_eq!((again.key(), &again.body), (first.key(), &first.body));
    }
}
