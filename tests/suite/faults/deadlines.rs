//! Rows 15, 18 and 23: a server that takes its time, in every way there is. The clock is moved by hand, once the peer has the
//! request.

use std::time::Duration;

use sdk_core::{Effect, ErrorKind, RetryPolicy};
use serde_json::json;
use tokio::time::{Instant, advance};

use crate::fixtures::{add_person, created, get_person, person};
use crate::peer::{Over, Step, always, json, over_all, reply, script, stall};
use crate::samples::kick_off;
use crate::support::{
    Clients, HoldClock, assert_failed, assert_says, assert_tried, builder_to, calendar_at, crm_at,
    quick_retry, quick_tokens_with, until,
};

over_all! {
    fault_15_limits_beyond_the_clock_are_none
    fault_23_a_reply_whose_body_never_ends_is_the_refusal_or_outage_that_it_is
    fault_03_a_refused_credential_is_one_whatever_becomes_of_the_body
}

over_all! {
    paused:
    fault_15_the_deadline_holds_over_all_attempts
    fault_15_waiting_for_a_token_counts
    fault_15_a_late_reply_to_a_command_is_replayed_with_a_key_and_unknown_without
    fault_15_a_token_that_is_fetched_ahead_is_waited_for_within_the_deadline
}

/// How long an attempt may take, and how long a call: two attempts and a rest.
const ATTEMPT: Duration = Duration::from_secs(4);
const REST: Duration = Duration::from_secs(2);
const CALL: Duration = Duration::from_secs(10);

/// A real pause between two bytes: the peer's clock is never paused.
const PAUSE: Duration = Duration::from_millis(50);

fn many_attempts() -> RetryPolicy {
    quick_retry().with_attempts(100)
}

async fn fault_15_the_deadline_holds_over_all_attempts(over: Over) {
    let _clock = HoldClock::new();
    let slow: [(&str, Step); 3] = [
        ("black hole", stall()),
        ("slow headers", person().slow_headers(PAUSE)),
        ("dripped body", person().dripped(PAUSE)),
    ];
    for (name, step) in slow {
        let peer = over.start(always(step));
        let call = get_person(&crm_at(&peer));
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
        assert_says(&error, &["the deadline of the call passed"]);
        assert_eq!(start.elapsed(), CALL, "{name}");
        assert_eq!(peer.requests().len(), 3, "{name}");
        peer.has_open(0).await;
    }
}

async fn fault_15_waiting_for_a_token_counts(over: Over) {
    let _clock = HoldClock::new();
    let peer = over.start(script([]).tokens_always(stall()));
    let start = Instant::now();

    let call = tokio::spawn(get_person(&crm_at(&peer)).deadline(CALL / 2).send());
    until(|| peer.exchanges().len() == 1).await;
    advance(CALL / 2).await;
    let error = call.await.unwrap().unwrap_err();

    assert_tried(&error, ErrorKind::Timeout, Effect::NotSent, 0);
    assert_says(&error, &["waited for a token"]);
    assert_eq!(start.elapsed(), CALL / 2);
    assert_eq!(peer.requests().len(), 0);
}

async fn fault_15_a_late_reply_to_a_command_is_replayed_with_a_key_and_unknown_without(over: Over) {
    let _clock = HoldClock::new();
    let peer = over.start([created().held(), created()]);
    let command = kick_off(&calendar_at(&peer));
    let call = tokio::spawn(command.timeout(ATTEMPT).send());
    peer.saw(1).await;
    advance(ATTEMPT).await;
    assert_eq!(call.await.unwrap().unwrap().attempts(), 2);
    let seen = peer.requests();
    assert_eq!(seen[0].key(), seen[1].key());
    assert_eq!(seen[0].body, seen[1].body);

    let peer = over.start(always(stall()));
    let command = add_person(&crm_at(&peer));
    let call = tokio::spawn(command.timeout(ATTEMPT).send());
    peer.saw(1).await;
    advance(ATTEMPT).await;
    let error = call.await.unwrap().unwrap_err();
    assert_tried(&error, ErrorKind::Timeout, Effect::Unknown, 1);
    assert!(error.command().is_some());
    assert_eq!(peer.requests().len(), 1);
}

async fn fault_15_limits_beyond_the_clock_are_none(over: Over) {
    let peer = over.start([reply(503), person()]);

    let call = get_person(&crm_at(&peer)).timeout(Duration::MAX);
    let person = call.deadline(Duration::MAX).await.unwrap();

    assert_eq!(person.attempts(), 2);
}

async fn fault_23_a_reply_whose_body_never_ends_is_the_refusal_or_outage_that_it_is(over: Over) {
    // Its head comes at once, and its body byte by byte until long after the test.
    let hung = |status| {
        let body = json!({"error": {"code": "NO"}, "error_description": "no"});
        let peer = over.start([json(status, &body).dripped(Duration::from_secs(3_600))]);
        let (crm, calendar) = (crm_at(&peer), calendar_at(&peer));
        async move {
            let brief = Duration::from_secs(1);
            let error = match status {
                409 => kick_off(&calendar).timeout(brief).await.unwrap_err(),
                _ => add_person(&crm).timeout(brief).await.unwrap_err(),
            };
            assert_eq!((error.status(), peer.requests().len()), (Some(status), 1));
            error
        }
    };
    let (keyed, unkeyed, busy) = tokio::join!(hung(409), hung(422), hung(503));
    assert_tried(&keyed, ErrorKind::Conflict, Effect::Refused, 1);
    assert_tried(&unkeyed, ErrorKind::Rejected, Effect::Refused, 1);
    assert!(!keyed.is_retryable() && !unkeyed.is_retryable());
    assert_tried(&busy, ErrorKind::Unavailable, Effect::Unknown, 1);
}

async fn fault_03_a_refused_credential_is_one_whatever_becomes_of_the_body(over: Over) {
    let body = json!({"error": "invalid_client"});
    let hung = json(401, &body).dripped(Duration::from_secs(3_600));
    let peer = over.start(always(person()).tokens_always(hung));
    let policy = quick_tokens_with(|it| it.exchange_timeout = Duration::from_secs(1));
    let crm = builder_to(&peer).token_policy(policy).crm();

    let error = get_person(&crm).await.unwrap_err();

    assert_failed(&error, ErrorKind::Unauthenticated, Effect::NotSent);
    assert!(!error.is_retryable());
    assert_eq!((peer.exchanges().len(), peer.requests().len()), (1, 0));
}

async fn fault_15_a_token_that_is_fetched_ahead_is_waited_for_within_the_deadline(over: Over) {
    let _clock = HoldClock::new();
    let needed = [&sdk_crm::operations::LIST_PEOPLE];
    for ahead in [true, false] {
        let peer = over.start(script([]).tokens_always(stall()));
        let crm = builder_to(&peer).deadline(CALL / 2).crm();
        let wait = tokio::spawn(async move {
            if ahead {
                crm.prewarm().await
            } else {
                crm.missing_scopes(&needed).await.map(drop)
            }
        });
        until(|| peer.exchanges().len() == 1).await;
        advance(CALL / 2).await;
        let error = wait.await.unwrap().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
        assert_says(&error, &["waited for a token"]);
    }
}
