//! Row 16: replies that break off.

use sdk_core::Effect;

use crate::fixtures::{add_person, committed, created, get_person, person};
use crate::peer::{Over, Step, close, over_all, raw, reply, reset};
use crate::samples::kick_off;
use crate::support::{Clients, run_script_over};

over_all! {
    fault_16_a_read_is_repeated
    fault_16_a_keyed_command_is_resent_with_its_key_and_body
    fault_16_without_a_key_the_effect_is_unknown
}

/// The ways in which the second half of a reply can go missing.
fn halves(whole: &Step) -> [Step; 3] {
    let half = whole.clone().body(&whole.text()[..whole.text().len() / 2]);
    [half.clone(), whole.clone().cut_at(20), half.unended()]
}

/// A reply that breaks off before its body, or within it.
fn broken(whole: &Step) -> impl Iterator<Item = Step> {
    let head = "HTTP/1.1 201 Created\r\ncontent-le";
    let heads = [close(), reset(), raw(&head[..10]), raw(head)];
    heads.into_iter().chain(halves(whole))
}

async fn fault_16_a_read_is_repeated(over: Over) {
    let text = "{\"displayName\":\"Zoë\"}";
    let within_a_character = reply(200).body(&text.as_bytes()[..=text.find('ë').unwrap()]);
    for half in halves(&person()).into_iter().chain([within_a_character]) {
        let run = run_script_over(over, [half, person()], async |suite| {
            get_person(&suite.crm()).await
        })
        .await;
        assert_eq!((run.result.unwrap().attempts(), run.requests.len()), (2, 2));
    }
}

async fn fault_16_a_keyed_command_is_resent_with_its_key_and_body(over: Over) {
    for half in broken(&created()) {
        let run = run_script_over(over, [half.clone(), half, created()], async |suite| {
            kick_off(&suite.calendar()).await
        })
        .await;
        assert!(run.same_bytes() && run.requests[0].key().is_some());
        assert_eq!((run.attempts(), run.result.unwrap().attempts()), (3, 3));
    }
}

async fn fault_16_without_a_key_the_effect_is_unknown(over: Over) {
    for half in broken(&committed()) {
        let run = run_script_over(over, [half, committed()], async |suite| {
            add_person(&suite.crm()).await
        })
        .await;
        assert_eq!(run.error().effect(), Effect::Unknown);
        assert_eq!(run.attempts(), 1);
    }
    for half in halves(&committed()) {
        let run = run_script_over(over, [half, committed()], async |suite| {
            add_person(&suite.crm()).await
        })
        .await;
        assert_eq!(run.error().status(), Some(201));
    }
}
