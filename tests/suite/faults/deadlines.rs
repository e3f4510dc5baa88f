//! Row 15: slow servers of every kind. The test advances the clock once the peer has the request.

use std::time::Duration;

use sdk_core::{Effect, ErrorKind};
use serde_json::json;
use tokio::time::{Instant, advance};

use crate::fixtures::{add_person, created, get_person, person};
use crate::peer::{Over, always, json, over_all, reply, script, stall};
use crate::samples::kick_off;
use crate::support::{
    Clients, HoldClock, assert_failed, assert_says, assert_tried, assert_unsent, builder_to,
    calendar_at, crm_at, quick_retry, quick_tokens_with, run_script_over, until,
};

over_all! {
    fault_15_limits_beyond_the_clock_never_expire
    fault_15_the_status_decides_if_the_body_of_an_error_never_ends
    fault_15_a_rejected_credential_is_recognized_without_its_body
}

over_all! {
    paused:
    fault_15_the_deadline_covers_all_attempts
    fault_15_the_deadline_covers_the_wait_for_a_token
    fault_15_a_command_with_a_key_is_resent_after_a_timeout
}

/// The limit of an attempt and of a call: two attempts and a rest.
const ATTEMPT: Duration = Duration::from_secs(4);
const REST: Duration = Duration::from_secs(2);
const CALL: Duration = Duration::from_secs(10);

/// A real pause between two bytes. The peer's clock is never paused.
const PAUSE: Duration = Duration::from_millis(50);

async fn fault_15_the_deadline_covers_all_attempts(over: Over) {
    let _clock = HoldClock::new();
    for (name, step) in [
        ("black hole", stall()),
        ("slow headers", person().slow_headers(PAUSE)),
        ("dripped body", person().dripped(PAUSE)),
    ] {
        let peer = over.start(always(step));
        let call = get_person(&crm_at(&peer)).retry(quick_retry().with_attempts(100));
        let call = call.timeout(ATTEMPT).deadline(CALL);
        let start = Instant::now();

        let call = tokio::spawn(call.send());
        for (number, time) in [(1, ATTEMPT), (2, ATTEMPT), (3, REST)] {
            peer.saw(number).await;
            advance(time).await;
        }
        let error = call.await.unwrap().unwrap_err();

        assert_tried(&error, ErrorKind::Timeout, Effect::Unknown, 3);
        assert_says(&error, &["the deadline of the call passed"]);
        assert_eq!(start.elapsed(), CALL, "{name}");
        assert_eq!(peer.requests().len(), 3, "{name}");
        peer.has_open(0).await;
    }
}

async fn fault_15_the_deadline_covers_the_wait_for_a_token(over: Over) {
    let _clock = HoldClock::new();
    let needed = [&sdk_crm::operations::LIST_PEOPLE];
    for way in ["a call", "ahead of calls", "a look at scopes"] {
        let peer = over.start(script([]).tokens_always(stall()));
        let crm = builder_to(&peer).deadline(CALL / 2).crm();
        let start = Instant::now();

        let wait = tokio::spawn(async move {
            match way {
                "a call" => get_person(&crm).await.map(drop),
                "ahead of calls" => crm.prewarm().await,
                _ => crm.missing_scopes(&needed).await.map(drop),
            }
        });
        until(|| peer.exchanges().len() == 1).await;
        advance(CALL / 2).await;
        let error = wait.await.unwrap().unwrap_err();

        assert_unsent(&error, ErrorKind::Timeout, &["waited for a token"]);
        assert_eq!(start.elapsed(), CALL / 2, "{way}");
        assert_eq!(peer.requests().len(), 0);
    }
}

async fn fault_15_a_command_with_a_key_is_resent_after_a_timeout(over: Over) {
    let _clock = HoldClock::new();
    let peer = over.start([created().held(), created()]);
    let command = kick_off(&calendar_at(&peer));
    let call = tokio::spawn(command.timeout(ATTEMPT).send());
    peer.saw(1).await;
    advance(ATTEMPT).await;
    assert_eq!(call.await.unwrap().unwrap().attempts(), 2);
    let [first, second] = [0, 1].map(|at| peer.requests()[at].clone());
    assert_eq!((first.key(), &first.body), (second.key(), &second.body));
}

async fn fault_15_limits_beyond_the_clock_never_expire(over: Over) {
    let run = run_script_over(over, [reply(503), person()], async |suite| {
        let call = get_person(&suite.crm()).timeout(Duration::MAX);
        call.deadline(Duration::MAX).await
    })
    .await;
    assert_eq!(run.result.unwrap().attempts(), 2);
}

async fn fault_15_the_status_decides_if_the_body_of_an_error_never_ends(over: Over) {
    // The head arrives immediately. The body arrives byte by byte and outlasts the test.
    let hung = async |status| {
        let body = json!({"error": {"code": "NO"}});
        let script = [json(status, &body).dripped(Duration::from_secs(3_600))];
        run_script_over(over, script, async |suite| {
            let brief = Duration::from_secs(1);
            match status {
                409 => kick_off(&suite.calendar()).timeout(brief).await.map(drop),
                _ => add_person(&suite.crm()).timeout(brief).await.map(drop),
            }
        })
        .await
    };
    let (keyed, unkeyed, busy) = tokio::join!(hung(409), hung(422), hung(503));
    for (run, status, kind, effect) in [
        (keyed, 409, ErrorKind::Conflict, Effect::Refused),
        (unkeyed, 422, ErrorKind::Rejected, Effect::Refused),
        (busy, 503, ErrorKind::Unavailable, Effect::Unknown),
    ] {
        let error = run.assert_failed(kind, effect, 1);
        assert_eq!(error.status(), Some(status));
        assert_eq!(error.is_retryable(), status == 503);
    }
}

async fn fault_15_a_rejected_credential_is_recognized_without_its_body(over: Over) {
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
