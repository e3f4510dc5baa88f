//! Rows 37, 42, 67 and 71: tokens that die before their time, sources that hang, renewals that fail behind a 401.

use std::error::Error as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::{join_all, ready};
use http::request::Parts;
use sdk_core::{AccessToken, Effect, ErrorKind, Method, TokenError, TokenRequest};
use sdk_reference_server::Operation;
use serde_json::json;
use tokio::time::{Instant, advance, sleep};

use crate::fixtures::{Tokens, add_person, get_person, in_memory, person};
use crate::peer::{Peer, always, json, reply, script, token};
use crate::seams::transport::service::Scripted;
use crate::support::{
    Clients, HoldClock, assert_refused_with, assert_says, assert_tried, crm_at, until,
};

#[tokio::test(start_paused = true)]
async fn fault_37_steady_calls_do_not_notice_that_tokens_are_revoked() {
    const STEP: Duration = Duration::from_millis(100);
    for every in [1, 3, 10, 20_u64] {
        let (server, builder) = in_memory();
        let crm = builder.crm();
        let (mut calls, mut failures) = (0, 0);
        // Four callers of two operations, for ten revocations, or for a minute.
        let steps = (every * 100).min(600);
        for step in 1..=steps {
            advance(STEP).await;
            let revoked = step % (every * 10) == 0;
            let callers = join_all((0..4).map(async |caller| {
                if revoked && caller == 2 {
                    // In the middle of the others.
                    server.revoke_tokens();
                }
                match caller % 2 {
                    0 => crm.people().list().limit(1).await.map(drop),
                    _ => crm.tasks().list().limit(1).await.map(drop),
                }
            }));
            for outcome in callers.await {
                calls += 1;
                failures += u32::from(outcome.is_err());
            }
        }
        let revocations = steps / 10 / every;
        assert_eq!((calls, failures), (steps * 4, 0), "every {every} s");
        // One for each generation that was rejected, and those that are due anyway.
        let exchanges = server.exchanges();
        assert!(exchanges <= revocations + 2, "{exchanges} exchanges");
    }
}

#[tokio::test(start_paused = true)]
async fn fault_37_tokens_that_die_long_before_their_stated_end_are_renewed_as_often_as_they_die() {
    const STEP: Duration = Duration::from_millis(250);
    for dies_after in [1, 3, 10, 20] {
        // Opaque to the client: nothing but the 401 tells that the 300 seconds are not true.
        let dying = Dying::new();
        let mut failures = 0;
        for call in 0..240 {
            advance(STEP).await;
            dying.lives(format!("t-{}", call / (dies_after * 4)));
            failures += u32::from(get_person(&dying.1).await.is_err());
        }
        assert_eq!(failures, 0, "dies after {dies_after} s");
        assert_eq!(dying.asked(), 60 / dies_after, "dies after {dies_after} s");
    }
}

#[tokio::test]
async fn fault_37_a_token_that_is_refused_on_arrival_fails_the_call() {
    // Each token is refused as it comes: one renewal for the call, as ever, and then the error.
    let peer = Peer::start(always(reply(401)));
    let error = get_person(&crm_at(&peer)).await.unwrap_err();
    assert_eq!((error.status(), error.attempts()), (Some(401), 2));
    assert_eq!(peer.exchanges().len(), 2);

    // Tokens die under one call, each after it had served another one: it goes on twice, and not for ever.
    let refused = || reply(401).held();
    for deaths in [2, 3, 4, 5] {
        let steps = (0..deaths).flat_map(|_| [person(), refused()]);
        let peer = Peer::start(script(steps).then_always(person()));
        let crm = crm_at(&peer);
        get_person(&crm).await.unwrap();
        let call = tokio::spawn(get_person(&crm).send());
        for round in 1..=deaths.min(4) {
            peer.saw(2 * round).await;
            // Meanwhile another call is served by the same token.
            get_person(&crm).await.unwrap();
            peer.release(1);
        }
        let attempts = match call.await.unwrap() {
            Ok(person) => person.attempts(),
            Err(error) => {
                assert_eq!((deaths > 3, error.status()), (true, Some(401)), "{error}");
                error.attempts()
            }
        };
        assert_eq!(attempts as usize, (deaths + 1).min(4), "{deaths}");
        assert_eq!(peer.exchanges().len(), (deaths + 1).min(4), "{deaths}");
    }
}

#[tokio::test(start_paused = true)]
async fn fault_37_many_operations_share_tokens_that_die_and_none_pays_for_another() {
    const STEP: Duration = Duration::from_millis(100);
    let dying = Dying::new();
    let crm = &dying.1;
    let mut failures = 0;
    for call in 0..600_usize {
        advance(STEP).await;
        // Sooner than an operation has its turn again: it meets dead ones that served others, never itself.
        dying.lives(format!("t-{}", call / 4));
        let outcome = match call % 7 {
            0 => get_person(crm).await.map(drop),
            1 => crm.organizations().get("ORG-0123456789AB").await.map(drop),
            _ => {
                let path = format!("/api/crm/v1/notes/{}", call % 7);
                let call = crm.raw_call((Method::Get, path));
                call.await.map(drop)
            }
        };
        failures += u32::from(outcome.is_err());
    }
    assert_eq!((failures, dying.asked()), (0, 150));
}

/// A service, and the one token that lives there just now: it is what a source gives. And how often that was asked.
struct Dying(Arc<Mutex<(String, usize)>>, sdk_crm::Client);

impl Dying {
    fn new() -> Self {
        let now = Arc::<Mutex<(String, usize)>>::default();
        let (asked, known) = (Arc::clone(&now), Arc::clone(&now));
        let source = Tokens(move |_: &TokenRequest| {
            let (token, count) = &mut *asked.lock().unwrap();
            *count += 1;
            let token = AccessToken::new(token.clone());
            ready(Ok(token.with_lifetime(Duration::from_secs(300))))
        });
        let service = Scripted::new(move |request| {
            let own = format!("Bearer {}", known.lock().unwrap().0);
            let lives = request.headers()["authorization"] == own;
            let step = if lives { person() } else { reply(401) };
            ready(Ok(step.in_memory()))
        });
        Self(now, service.suite().token_source(source).crm())
    }

    fn lives(&self, token: String) {
        self.0.lock().unwrap().0 = token;
    }

    fn asked(&self) -> usize {
        self.0.lock().unwrap().1
    }
}

#[tokio::test(start_paused = true)]
async fn fault_42_a_source_that_hangs_holds_up_no_call_whose_token_outlives_it() {
    let asked = AtomicUsize::new(0);
    let source = Tokens(move |_: &TokenRequest| {
        let first = asked.fetch_add(1, Ordering::Relaxed) == 0;
        async move {
            if first {
                return Ok(AccessToken::new("t-1").with_lifetime(Duration::from_secs(300)));
            }
            std::future::pending().await
        }
    });
    let service = Scripted::always(person());
    let crm = service.suite().token_source(source).crm();
    get_person(&crm).await.unwrap();

    // 20 seconds are left: enough for an attempt of ten, or of just these twenty.
    advance(Duration::from_secs(280)).await;
    let start = Instant::now();
    get_person(&crm).await.unwrap();
    let exact = get_person(&crm).timeout(Duration::from_secs(20));
    exact.await.unwrap();
    // 5 seconds: too little for an attempt of ten, and enough for a call that may take four.
    advance(Duration::from_secs(15)).await;
    let hurried = get_person(&crm).deadline(Duration::from_secs(4));
    hurried.await.unwrap();
    assert_eq!(start.elapsed(), Duration::from_secs(15), "nobody waited");
    // An attempt of ten waits for half of the rest, and then uses the live token.
    let patient = get_person(&crm).timeout(Duration::from_secs(10));
    patient.await.unwrap();
    assert_eq!(start.elapsed(), Duration::from_millis(17_500));

    let seen = service.seen();
    assert_eq!(seen.len(), 5);
    let first = |seen: &Parts| seen.headers["authorization"] == "Bearer t-1";
    assert!(seen.iter().all(first));
}

#[tokio::test(start_paused = true)]
async fn fault_67_a_token_that_is_dead_on_arrival_is_never_sent() {
    let _clock = HoldClock::new();
    let token = json!({"access_token": "t-dead", "expires_in": 2});
    let peer = Peer::start(always(person()).tokens([json(200, &token).held()]));
    let crm = crm_at(&peer);

    let call = tokio::spawn(get_person(&crm).send());
    until(|| peer.exchanges().len() == 1).await;
    advance(Duration::from_secs(3)).await;
    peer.release(1);
    let error = call.await.unwrap().unwrap_err();

    assert_tried(&error, ErrorKind::TokenUnavailable, Effect::NotSent, 0);
    assert_says(&error, &["had expired when it arrived"]);
    assert!(error.is_retryable() && peer.requests().is_empty());
    // The next exchange is quicker.
    advance(Duration::from_secs(2)).await;
    get_person(&crm).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn fault_67_a_live_token_outlasts_renewals_whose_tokens_expire_sooner() {
    let second = Duration::from_secs(1);
    let count = AtomicUsize::new(0);
    let source = Tokens(move |_: &TokenRequest| {
        let number = count.fetch_add(1, Ordering::Relaxed);
        let token = AccessToken::new(format!("t-{number}"));
        // Each later token expires soon after its exchange, or during it.
        let lifetime = [300, 5, 2][number.min(1 + number % 2)];
        async move {
            sleep(3 * second).await;
            Ok(token.with_lifetime(lifetime * second))
        }
    });
    let service = Scripted::always(person());
    let suite = service.suite().token_source(source).build().unwrap();
    let crm = suite.crm();
    let start = Instant::now();
    while start.elapsed() < 299 * second {
        get_person(&crm).timeout(second / 2).await.unwrap();
        sleep(second / 2).await;
    }

    let first = |seen: &Parts| seen.headers["authorization"] == "Bearer t-0";
    assert!(service.seen().iter().all(first));
    assert!(suite.stats().token_exchanges > 1);
}

#[tokio::test]
async fn fault_71_a_401_whose_renewal_fails_stays_a_401() {
    let refused = json!({"error": "invalid_client", "error_description": "revoked"});
    for (renewal, retryable) in [(json(401, &refused), false), (reply(503), true)] {
        let tokens = script([reply(401).header("x-request-id", "req-71")])
            .tokens([token("t-1")])
            .tokens_always(renewal);
        let peer = Peer::start(tokens);
        let crm = crm_at(&peer);

        let error = add_person(&crm).await.unwrap_err();

        assert_tried(&error, ErrorKind::Unauthenticated, Effect::Refused, 1);
        let told = (error.status(), error.request_id());
        assert_eq!(told, (Some(401), Some("req-71")));
        assert_eq!(error.is_retryable(), retryable);
        assert_says(&error, &["its token could not be renewed"]);
        let cause = error.source().and_then(std::error::Error::source).unwrap();
        assert!(cause.downcast_ref::<TokenError>().is_some(), "{cause}");
        assert_eq!(peer.requests().len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn fault_71_a_401_whose_renewal_takes_longer_than_the_call_may_stays_a_401() {
    let (server, builder) = in_memory();
    let crm = builder.crm();
    crm.people().list().await.unwrap();
    server.revoke_tokens();
    let fault = server.fault(Operation::ExchangeToken);
    fault.delay(Duration::from_secs(3_600));

    let call = crm.people().list().deadline(Duration::from_secs(5));
    let error = call.await.unwrap_err();

    assert_eq!(server.attempts(Operation::ExchangeToken), 2);
    assert_refused_with(&error, 401);
    assert_eq!(error.attempts(), 1);
    assert_says(&error, &["deadline"]);
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_could_outlast_its_token_waits_for_the_next_one() {
    let second = Duration::from_secs(1);
    for (timeout, sent) in [(2 * second, "Bearer t-0"), (10 * second, "Bearer t-1")] {
        let given = AtomicUsize::new(0);
        let source = Tokens(move |_: &TokenRequest| {
            let token = format!("t-{}", given.fetch_add(1, Ordering::SeqCst));
            async move {
                sleep(second).await;
                Ok(AccessToken::new(token).with_lifetime(100 * second))
            }
        });
        let service = Scripted::always(person());
        let crm = service.suite().token_source(source).crm();
        crm.prewarm().await.unwrap();
        // In its last tenth, a token is good for short attempts only.
        advance(94 * second).await;
        get_person(&crm).timeout(timeout).await.unwrap();
        assert_eq!(service.seen()[0].headers["authorization"], sent);
    }
}
