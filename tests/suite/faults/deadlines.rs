//! Row 15: a server that takes its time, in every way there is.

use std::time::{Duration, Instant};

use sdk_core::{Effect, Error, ErrorKind, RetryPolicy};

use super::fixtures::{PERSON, created, new_event, new_person, person};
use crate::peer::{Peer, Step, always, reply, script, stall};
use crate::support::{calendar_at, crm_at};

/// How long an attempt may take, and how long a call.
const ATTEMPT: Duration = Duration::from_millis(60);
const CALL: Duration = Duration::from_millis(150);

/// More time than that has gone wrong, whatever else the machine is doing.
const TOO_LONG: Duration = Duration::from_secs(1);

/// A pause between two bytes that is short in itself.
const PAUSE: Duration = Duration::from_millis(10);

/// Reads a person with many attempts, and says how long that took.
async fn read(peer: &Peer) -> (Error, Duration) {
    let start = Instant::now();
    let error = crm_at(peer)
        .people()
        .get(PERSON)
        .timeout(ATTEMPT)
        .deadline(CALL)
        .retry(RetryPolicy::default().max_attempts(100).base_delay(PAUSE))
        .await
        .unwrap_err();
    (error, start.elapsed())
}

#[tokio::test]
async fn fault_15_the_deadline_holds_over_all_attempts() {
    let slow: [(&str, Step); 3] = [
        ("black hole", stall()),
        ("slow headers", person().slow_headers(PAUSE)),
        ("dripped body", person().dripped(PAUSE)),
    ];
    for (name, step) in slow {
        let peer = Peer::start(always(step));

        let (error, took) = read(&peer).await;

        assert_eq!(error.kind(), ErrorKind::Timeout, "{name}: {error}");
        assert_eq!(error.effect(), Effect::Unknown);
        assert!(error.attempts() >= 2, "{name}: {error}");
        assert!((ATTEMPT * 2..TOO_LONG).contains(&took), "{name}: {took:?}");
        // The last attempt may have been cut off before the peer had read it.
        let seen = peer.requests().len();
        assert!(
            (2..=error.attempts() as usize).contains(&seen),
            "{name}: {seen}"
        );
        peer.has_open(0).await;
    }
}

#[tokio::test]
async fn fault_15_waiting_for_a_token_counts() {
    let peer = Peer::start(script([]).tokens_always(stall()));

    let (error, took) = read(&peer).await;

    assert_eq!(error.kind(), ErrorKind::Timeout);
    assert_eq!((error.attempts(), error.effect()), (0, Effect::NotSent));
    assert!(error.to_string().contains("waited for a token"), "{error}");
    assert!((CALL..TOO_LONG).contains(&took), "{took:?}");
    assert_eq!(peer.requests().len(), 0);
}

#[tokio::test]
async fn fault_15_a_late_reply_to_a_command_is_replayed_with_a_key_and_unknown_without() {
    let peer = Peer::start([created().held(), created()]);
    let receipt = calendar_at(&peer)
        .events()
        .command(&new_event("Late"))
        .timeout(ATTEMPT)
        .await
        .unwrap();
    assert_eq!(receipt.attempts(), 2);
    let seen = peer.requests();
    assert_eq!(seen[0].key(), seen[1].key());
    assert_eq!(seen[0].body, seen[1].body);

    let peer = Peer::start(always(stall()));
    let error = crm_at(&peer)
        .commands()
        .submit(new_person())
        .timeout(ATTEMPT)
        .await
        .unwrap_err();
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
