//! Row 15: a server that takes its time, in every way there is. The clock is moved by hand, once the peer has the
//! request.

use std::time::Duration;

use sdk_core::{Effect, ErrorKind, RetryPolicy};
use tokio::time::{Instant, advance};

use super::fixtures::{PERSON, created, new_event, new_person, person};
use crate::peer::{Peer, Step, always, reply, script, stall};
use crate::support::{HoldClock, calendar_at, crm_at, quick_retry, until};

/// How long an attempt may take, and how long a call: two attempts and a rest.
const ATTEMPT: Duration = Duration::from_secs(4);
const REST: Duration = Duration::from_secs(2);
const CALL: Duration = Duration::from_secs(10);

/// A real pause between two bytes: the peer's clock is never paused.
const PAUSE: Duration = Duration::from_millis(50);

fn many_attempts() -> RetryPolicy {
    quick_retry().max_attempts(100)
}

#[tokio::test(start_paused = true)]
async fn fault_15_the_deadline_holds_over_all_attempts() {
    let _clock = HoldClock::new();
    let slow: [(&str, Step); 3] = [
        ("black hole", stall()),
        ("slow headers", person().slow_headers(PAUSE)),
        ("dripped body", person().dripped(PAUSE)),
    ];
    for (name, step) in slow {
        let peer = Peer::start(always(step));
        let call = crm_at(&peer).people().get(PERSON);
        let call = call.timeout(ATTEMPT).deadline(CALL).retry(many_attempts());
        let start = Instant::now();

        let call = tokio::spawn(call.send());
        for (number, time) in [(1, ATTEMPT), (2, ATTEMPT), (3, REST)] {
            peer.saw(number).await;
            advance(time).await;
        }
        let error = call.await.unwrap().unwrap_err();

        assert_eq!(error.kind(), ErrorKind::Timeout, "{name}: {error}");
        assert_eq!((error.attempts(), error.effect()), (3, Effect::Unknown));
        assert!(
            error
                .to_string()
                .contains("the deadline of the call passed")
        );
        assert_eq!(start.elapsed(), CALL, "{name}");
        assert_eq!(peer.requests().len(), 3, "{name}");
        peer.has_open(0).await;
    }
}

#[tokio::test(start_paused = true)]
async fn fault_15_waiting_for_a_token_counts() {
    let _clock = HoldClock::new();
    let peer = Peer::start(script([]).tokens_always(stall()));
    let start = Instant::now();

    let call = tokio::spawn(crm_at(&peer).people().get(PERSON).deadline(CALL / 2).send());
    until(|| peer.exchanges().len() == 1).await;
    advance(CALL / 2).await;
    let error = call.await.unwrap().unwrap_err();

    assert_eq!(error.kind(), ErrorKind::Timeout);
    assert_eq!((error.attempts(), error.effect()), (0, Effect::NotSent));
    assert!(error.to_string().contains("waited for a token"), "{error}");
    assert_eq!(start.elapsed(), CALL / 2);
    assert_eq!(peer.requests().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn fault_15_a_late_reply_to_a_command_is_replayed_with_a_key_and_unknown_without() {
    let _clock = HoldClock::new();
    let peer = Peer::start([created().held(), created()]);
    let event = new_event("Late");
    let command = calendar_at(&peer).events().command(&event);
    let call = tokio::spawn(command.timeout(ATTEMPT).send());
    peer.saw(1).await;
    advance(ATTEMPT).await;
    assert_eq!(call.await.unwrap().unwrap().attempts(), 2);
    let seen = peer.requests();
    assert_eq!(seen[0].key(), seen[1].key());
    assert_eq!(seen[0].body, seen[1].body);

    let peer = Peer::start(always(stall()));
    let command = crm_at(&peer).commands().submit(new_person());
    let call = tokio::spawn(command.timeout(ATTEMPT).send());
    peer.saw(1).await;
    advance(ATTEMPT).await;
    let error = call.await.unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout);
    assert_eq!((error.attempts(), error.effect()), (1, Effect::Unknown));
    assert!(error.command().is_some());
    assert_eq!(peer.requests().len(), 1);
}

#[tokio::test]
async fn fault_15_limits_beyond_the_clock_are_none() {
    let peer = Peer::start([reply(503), person()]);

    let person = crm_at(&peer)
        .people()
        .get(PERSON)
        .timeout(Duration::MAX)
        .deadline(Duration::MAX)
        .await
        .unwrap();

    assert_eq!(person.attempts(), 2);
}
