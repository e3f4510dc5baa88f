//! Rows 37, 42, 67 and 71: tokens that end early, sources that hang, renewals that fail after a 401.

use std::error::Error as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::{join_all, pending};
use sdk_core::testing::ScriptedTransport;
use sdk_core::{
    AccessToken, Effect, Error, ErrorKind, Suite, TokenError, TokenRequest, TokenSource,
};
use sdk_crm::Client;
use sdk_reference_server::Operation;
use serde_json::json;
use tokio::time::{Instant, advance, sleep};

use crate::fixtures::{Tokens, get_person, in_memory, send_unkeyed};
use crate::peer::{json, reply, script, token};
use crate::support::{Clients, assert_refused_with, assert_says, assert_unsent, once, run_script};

const SECOND: Duration = Duration::from_secs(1);

/// Returns a suite with tokens from this source, and the transport that answers its calls.
fn suite_of(source: impl TokenSource) -> (ScriptedTransport, Suite) {
    let answered = |it: ScriptedTransport, _| it.json(200, r#"{"displayName": "Ann"}"#);
    let transport = (0..1_000).fold(ScriptedTransport::new(), answered);
    let suite = transport.suite().token_source(source).suite();
    (transport, suite)
}

#[track_caller]
fn assert_sent_with(transport: &ScriptedTransport, token: &str) {
    let bearer = format!("Bearer {token}");
    let requests = transport.requests();
    assert!(!requests.is_empty());
    for request in requests {
        assert_eq!(request.headers()["authorization"], bearer);
    }
}

/// Makes one of seven different calls.
async fn call(crm: &Client, operation: u64) -> Result<(), Error> {
    match operation % 7 {
        0 => crm.people().list().await.map(drop),
        1 => crm.organizations().list().await.map(drop),
        2 => crm.opportunities().list().await.map(drop),
        3 => crm.tasks().list().await.map(drop),
        4 => crm.today().get().await.map(drop),
        5 => crm.funnel().get().await.map(drop),
        _ => crm.presentation().get().await.map(drop),
    }
}

#[tokio::test(start_paused = true)]
async fn fault_37_steady_calls_survive_revoked_tokens() {
    // Only the 401 shows that a token ends before the 300 s that it states. In the first case, each token ends before
    // the same operation runs again, so it has worked only for other operations.
    for (callers, every) in [(1, 4), (4, 10), (4, 30), (4, 100), (4, 200)] {
        let (server, builder) = in_memory();
        let crm = builder.crm();
        // Ten revocations, or a minute.
        let steps = (every * 10).min(600);
        for step in 1..=steps {
            advance(SECOND / 10).await;
            let calls = join_all((0..callers).map(async |caller| {
                if step % every == 0 && caller == callers / 2 {
                    // The revocation happens in the middle of the other calls.
                    server.revoke_tokens();
                }
                call(&crm, step * callers + caller).await
            }));
            for outcome in calls.await {
                outcome.unwrap_or_else(|error| panic!("every {every} steps: {error}"));
            }
        }
        // One exchange for each rejected token, and the first exchange.
        let (exchanges, revocations) = (server.exchanges(), steps / every);
        let expected = revocations..=revocations + 1;
        assert!(expected.contains(&exchanges), "{exchanges} exchanges");
    }
}

#[tokio::test(start_paused = true)]
async fn fault_42_a_hanging_source_delays_no_call_whose_token_outlives_it() {
    let asked = AtomicUsize::new(0);
    let source = Tokens(move |_: &TokenRequest| {
        let first = asked.fetch_add(1, Ordering::Relaxed) == 0;
        async move {
            if first {
                return Ok(AccessToken::new("t-1").with_lifetime(300 * SECOND));
            }
            pending().await
        }
    });
    let (transport, suite) = suite_of(source);
    let crm = suite.crm();
    let call = || get_person(&crm).timeout(10 * SECOND);
    call().await.unwrap();

    // 20 seconds are left: enough for an attempt of 10 seconds, and exactly enough for an attempt of 20.
    advance(280 * SECOND).await;
    let start = Instant::now();
    call().await.unwrap();
    call().timeout(20 * SECOND).await.unwrap();
    // 5 seconds are left: too little for an attempt of 10 seconds, and enough for a call with a deadline of 4.
    advance(15 * SECOND).await;
    call().deadline(4 * SECOND).await.unwrap();
    assert_eq!(start.elapsed(), 15 * SECOND, "no call waited");
    // An attempt of 10 seconds waits for half of the remaining time and then uses the live token.
    call().await.unwrap();
    assert_eq!(start.elapsed(), 35 * SECOND / 2);
    assert_sent_with(&transport, "t-1");
}

#[tokio::test(start_paused = true)]
async fn fault_67_a_token_that_has_expired_on_arrival_is_never_sent() {
    let (server, builder) = in_memory();
    let crm = builder.crm();
    let late = once(&server, Operation::ExchangeToken).delay(3 * SECOND);
    late.token_lifetime(2 * SECOND);

    let error = crm.people().list().await.unwrap_err();

    let words = ["was already expired on arrival"];
    assert_unsent(&error, ErrorKind::TokenUnavailable, &words);
    assert!(error.is_retryable());
    assert_eq!(server.attempts(Operation::ListPeople), 0);
    // The next exchange is faster.
    sleep(2 * SECOND).await;
    crm.people().list().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn fault_67_a_live_token_outlasts_renewals_whose_tokens_expire_sooner() {
    let count = AtomicUsize::new(0);
    let source = Tokens(move |_: &TokenRequest| {
        let number = count.fetch_add(1, Ordering::Relaxed);
        let token = AccessToken::new(format!("t-{number}"));
        // Each later token expires soon after its exchange or during it.
        let lifetime = [300, 5, 2][number.min(1 + number % 2)];
        async move {
            sleep(3 * SECOND).await;
            Ok(token.with_lifetime(lifetime * SECOND))
        }
    });
    let (transport, suite) = suite_of(source);
    let crm = suite.crm();
    let start = Instant::now();
    while start.elapsed() < 299 * SECOND {
        get_person(&crm).timeout(SECOND / 2).await.unwrap();
        sleep(SECOND / 2).await;
    }

    assert_sent_with(&transport, "t-0");
    assert!(suite.stats().token_exchanges > 1);
}

#[tokio::test]
async fn fault_71_a_401_whose_renewal_fails_stays_a_401() {
    let refused = json!({"error": "invalid_client", "error_description": "revoked"});
    for (renewal, retryable) in [(json(401, &refused), false), (reply(503), true)] {
        let script = script([reply(401).header("x-request-id", "req-71")])
            .tokens([token("t-1")])
            .tokens_always(renewal);
        let run = run_script(script, send_unkeyed).await;

        let error = run.assert_failed(ErrorKind::Unauthenticated, Effect::Refused, 1);
        let got = (error.status(), error.request_id(), error.is_retryable());
        assert_eq!(got, (Some(401), Some("req-71"), retryable));
        assert_says(error, &["its token could not be renewed"]);
        let cause = error.source().and_then(std::error::Error::source).unwrap();
        assert!(cause.downcast_ref::<TokenError>().is_some(), "{cause}");
    }
}

#[tokio::test(start_paused = true)]
async fn fault_71_a_401_whose_renewal_exceeds_the_deadline_stays_a_401() {
    let (server, builder) = in_memory();
    let crm = builder.crm();
    crm.people().list().await.unwrap();
    server.revoke_tokens();
    let fault = server.fault(Operation::ExchangeToken);
    fault.delay(3_600 * SECOND);

    let call = crm.people().list().deadline(5 * SECOND);
    let error = call.await.unwrap_err();

    assert_eq!(server.attempts(Operation::ExchangeToken), 2);
    assert_refused_with(&error, 401);
    assert_eq!(error.attempts(), 1);
    assert_says(&error, &["deadline"]);
}
