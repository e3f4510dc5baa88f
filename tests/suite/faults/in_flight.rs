//! Row 51: the limit on requests in flight, and too few file descriptors.

use std::future::ready;
use std::io;
use std::pin::Pin;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use futures_util::poll;
use sdk_core::{
    AccessToken, App, Effect, Error, ErrorKind, Method, ScopePolicy, Suite, SuiteBuilder,
    TokenRequest,
};
use sdk_crm::{Client, ListPeople};
use sdk_reference_server::{ClientSpec, Operation, ReferenceServer};
use tokio::time::{Instant, sleep, timeout};

use crate::fixtures::{Tokens, add_person, get_person, in_memory, person, server};
use crate::peer::{Over, always, over_all};
use crate::programs::output;
use crate::samples::{kick_off, new_person};
use crate::seams::transport::answered;
use crate::support::{
    Ahead as _, Clients as _, Events, assert_failed, assert_says, assert_unsent, builder_to, once,
    quick_retry,
};

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);

/// Returns a server that takes a second for each list of people, and a suite with this limit.
fn slow(cap: usize) -> (ReferenceServer, SuiteBuilder) {
    let (server, builder) = in_memory();
    server.fault(Operation::ListPeople).delay(SECOND);
    (server, builder.max_in_flight(cap).timeout(MINUTE))
}

/// Returns a call that takes a second.
fn list(crm: &Client) -> ListPeople {
    crm.people().list().deadline(MINUTE)
}

/// Makes `calls` concurrent calls and returns the attempts of each.
async fn crowd(crm: &Client, calls: usize) -> Vec<u32> {
    let calls = join_all((0..calls).map(|_| list(crm).send())).await;
    calls.into_iter().map(|it| it.unwrap().attempts()).collect()
}

/// Returns a call with an attempt in flight, which proceeds only when polled, and then returns its number of attempts.
async fn begun(crm: &Client) -> Pin<Box<impl Future<Output = Result<u32, Error>>>> {
    crm.prewarm().await.unwrap();
    let call = list(crm).send();
    let mut call = Box::pin(async { Ok(call.await?.attempts()) });
    assert!(poll!(&mut call).is_pending());
    call
}

/// Checks that a call timed out while it waited for a permit.
#[track_caller]
fn assert_crowded(error: &Error, words: &[&str]) {
    assert_unsent(error, ErrorKind::Timeout, words);
    assert_says(error, &["waited for a permit", "`max_in_flight`"]);
    assert!(error.is_retryable());
}

over_all! {
    fault_51_the_limit_counts_requests_over_connections_and_streams
}

/// An HTTP/2 connection has many streams, so the limit doesn't count connections.
async fn fault_51_the_limit_counts_requests_over_connections_and_streams(over: Over) {
    let peer = over.start(always(person().held()));
    let crm = builder_to(&peer).max_in_flight(2).crm();
    let calls = (0..6).map(|_| tokio::spawn(get_person(&crm).send()));
    let calls: Vec<_> = calls.collect();

    for done in [2, 4, 6] {
        peer.saw(done).await;
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        assert_eq!(peer.requests().len(), done);
        peer.release(2);
    }

    for call in calls {
        call.await.unwrap().unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn fault_51_attempts_within_the_limit_start_in_the_order_of_their_calls() {
    let (server, builder) = slow(3);
    let suite = builder.suite();
    let (crm, start) = (suite.crm(), Instant::now());

    let calls = (1..=20).map(|limit| list(&crm).limit(limit).send());
    for people in join_all(calls).await {
        people.unwrap();
    }

    assert_eq!(start.elapsed(), 7 * SECOND);
    let asked = server.requests_for(Operation::ListPeople);
    for (request, limit) in asked.iter().zip(1..) {
        assert_eq!(request.query, Some(format!("limit={limit}")));
    }

    // The same application with other scopes shares the limit. Another application has its own.
    let few = suite.with_scopes(App::Crm, ["crm:people:read"]).unwrap();
    let (few, calendar, start) = (few.crm(), suite.calendar(), Instant::now());
    let (.., other) = tokio::join!(crowd(&crm, 3), crowd(&few, 3), async {
        kick_off(&calendar).await.unwrap();
        start.elapsed()
    });
    assert_eq!((other, start.elapsed()), (Duration::ZERO, 2 * SECOND));
}

#[tokio::test(start_paused = true)]
async fn fault_51_a_wait_for_a_permit_ends_at_the_deadline_without_sending() {
    let (events, _guard) = Events::here();
    let (server, builder) = slow(1);
    let crm = builder.crm();
    let first = begun(&crm).await;
    let (start, half) = (Instant::now(), SECOND / 2);

    let second = add_person(&crm).deadline(half).send();
    let gone = timeout(half / 2, list(&crm).send());
    let third = async {
        sleep(half / 5).await;
        list(&crm).deadline(half / 2).await.unwrap_err()
    };
    let (second, gone, third) = tokio::join!(second, gone, third);

    // A dropped call no longer waits.
    assert!(gone.is_err());
    let words = ["500ms", "1 attempt of crm in flight", "0 more waiting"];
    let second = second.unwrap_err();
    assert_crowded(&second, &words);
    assert!(second.into_command().is_some());
    assert_crowded(&third, &["250ms", "and 1 more waiting"]);
    assert_eq!(start.elapsed(), half);
    let waited = events.lines("DEBUG", &["the attempt waited for a permit", "suite.call"]);
    assert_eq!(waited.len(), 2, "{waited:?}");
    assert!(waited[1].contains("wait_s=0.5"), "{waited:?}");
    // An attempt in flight that isn't polled, as on a stalled runtime, keeps its permit until it is dropped.
    let late = list(&crm).await.unwrap_err();
    assert_crowded(&late, &["60s", "1 attempt of crm in flight"]);
    drop(first);
    list(&crm).await.unwrap();
    assert_eq!(server.attempts(Operation::ListPeople), 2);
    assert_eq!(server.attempts(Operation::SubmitCommand), 0);
}

#[tokio::test(start_paused = true)]
async fn fault_51_every_kind_of_call_counts_toward_the_limit() {
    let (_server, builder) = slow(1);
    let suite = builder.deadline(SECOND / 2).suite();
    let crm = suite.crm();
    let prepared = crm.commands().submit(new_person("Ann")).prepare().unwrap();
    for ahead in [false, true] {
        let first = begun(&crm).await;
        let mut items = crm.people().list().items().ahead(ahead);
        let mut pages = crm.people().list().pages().ahead(ahead);
        let raw = crm.raw_call((Method::Get, "/x"));
        let (items, pages, prepared, raw, contract) = tokio::join!(
            async { items.try_next().await.map(drop) },
            async { pages.try_next().await.map(drop) },
            async { crm.send_prepared(&prepared).await.map(drop) },
            async { raw.send().await.map(drop) },
            async { suite.crm().check_contract().await.map(drop) },
        );
        for failed in [items, pages, prepared, raw, contract] {
            assert_crowded(&failed.unwrap_err(), &[]);
        }
        first.await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn fault_51_a_call_waiting_for_a_retry_or_a_token_holds_no_permit() {
    let (server, builder) = slow(1);
    let suite = builder.suite();
    let few = suite.with_scopes(App::Crm, ["crm:people:read"]).unwrap();
    let (crm, few) = (suite.crm(), few.crm());
    let busy = once(&server, Operation::ListPeople).status(503);
    busy.retry_after("10");
    let first = begun(&crm).await;
    let start = Instant::now();
    let timed = async || {
        list(&crm).await.unwrap();
        start.elapsed()
    };
    let (first, second) = tokio::join!(first, timed());
    assert_eq!((first.unwrap(), second), (2, 2 * SECOND));
    assert_eq!(start.elapsed(), 12 * SECOND);

    once(&server, Operation::ExchangeToken).delay(5 * SECOND);
    let (few, all) = tokio::join!(list(&few).send(), timed());
    few.unwrap();
    assert_eq!((all, start.elapsed()), (13 * SECOND, 18 * SECOND));
}

/// While one call renews its token, which takes five seconds, other calls use its permit.
#[tokio::test(start_paused = true)]
async fn fault_51_a_call_whose_token_expired_in_the_queue_gives_up_its_permit() {
    let (server, builder) = slow(1);
    let suite = builder.suite();
    let few = suite.with_scopes(App::Crm, ["crm:people:read"]).unwrap();
    let (crm, few) = (suite.crm(), few.crm());
    // The token for these scopes expires while the call that needs it is queued behind the call in flight.
    server.set_token_lifetime(SECOND / 2);
    few.prewarm().await.unwrap();
    server.set_token_lifetime(MINUTE);
    let first = begun(&crm).await;
    once(&server, Operation::ExchangeToken).delay(5 * SECOND);
    let start = Instant::now();
    let others = async {
        crowd(&crm, 3).await;
        start.elapsed()
    };
    let (first, few, others) = tokio::join!(first, list(&few).send(), others);
    assert_eq!((first.unwrap(), few.unwrap().attempts()), (1, 1));
    assert_eq!((others, start.elapsed()), (4 * SECOND, 7 * SECOND));
}

/// Another call has replaced the token with a token that has fewer scopes.
#[tokio::test(start_paused = true)]
async fn fault_51_a_call_checks_the_scopes_of_a_token_replaced_in_the_queue() {
    let issued = AtomicUsize::new(0);
    let narrowing = Tokens(move |_: &TokenRequest| {
        let scopes = ["crm:people:read", "crm:tasks:read"];
        let scope = scopes[issued.fetch_add(1, Ordering::Relaxed).min(1)];
        ready(Ok(AccessToken::new("t")
            .with_lifetime(5 * SECOND)
            .with_scopes([scope])))
    });
    let suite = answered(|request| async move {
        request.into_body().into_bytes().map_err(io::Error::other)?;
        sleep(SECOND).await;
        Ok(person().in_memory())
    });
    let suite = suite.token_source(narrowing).max_in_flight(1);
    let crm = suite.scope_policy(ScopePolicy::Refuse).crm();
    let calls = join_all((0..8).map(|_| get_person(&crm).send()));
    let renewed = async {
        sleep(21 * SECOND / 5).await;
        crm.prewarm().await.unwrap();
    };
    let (calls, ()) = tokio::join!(calls, renewed);
    let (sent, rejected): (Vec<_>, Vec<_>) = calls.into_iter().partition(Result::is_ok);
    assert!(sent.len() <= 5 && !rejected.is_empty());
    for error in rejected.into_iter().filter_map(Result::err) {
        assert_failed(&error, ErrorKind::Forbidden, Effect::NotSent);
    }
}

#[tokio::test(start_paused = true)]
async fn fault_51_a_token_that_expires_during_the_wait_or_lacks_the_scope_is_not_sent() {
    let (server, builder) = slow(1);
    server.set_token_lifetime(2 * SECOND);
    let crm = builder.scope_policy(ScopePolicy::Refuse).crm();
    // The last call waits for five seconds. An expired token would cost an attempt.
    assert_eq!(crowd(&crm, 6).await, [1; 6]);
    assert!(server.exchanges() > 1);

    let first = begun(&crm).await;
    let client = ClientSpec::new(server.client_id(), server.client_secret());
    server.add_client(client.scopes(["crm:tasks:read"]));
    let others = join_all((0..5).map(|_| list(&crm).send()));
    let (first, others) = tokio::join!(first, others);
    first.unwrap();
    let rejected: Vec<_> = others.into_iter().filter_map(Result::err).collect();
    assert!(!rejected.is_empty());
    for error in &rejected {
        assert_unsent(error, ErrorKind::Forbidden, &[]);
    }
    let sent = 6 + 6 - rejected.len() as u64;
    assert_eq!(server.attempts(Operation::ListPeople), sent);
}

#[tokio::test]
async fn fault_51_a_process_without_descriptors_sends_nothing_and_the_limit_prevents_it() {
    const PLACES: &str = "IN_FLIGHT_PLACES";
    if let Ok(places) = std::env::var(PLACES) {
        let builder = Suite::builder().environment().retry(quick_retry());
        let crm = builder.max_in_flight(places.parse().unwrap()).crm();
        crm.prewarm().await.unwrap();
        let calls = join_all((0..200).map(|it| {
            let person = new_person(&format!("Ann {it}"));
            crm.commands().submit(person).send()
        }))
        .await;
        let failed: Vec<_> = calls.into_iter().filter_map(Result::err).collect();
        for error in &failed {
            assert_failed(error, ErrorKind::Connect, Effect::NotSent);
        }
        println!("failed: {}", failed.len());
        return;
    }
    for (places, suffices) in [("200", false), ("16", true)] {
        let server = server().await;
        let mut own = Command::new("sh");
        own.args(["-c", "ulimit -n 64 && exec \"$0\" \"$@\""])
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", "--nocapture", "faults::in_flight::fault_51_a_process_without_descriptors_sends_nothing_and_the_limit_prevents_it"])
            .env(PLACES, places)
            .envs(server.environment());
        let output = output(&mut own);
        let printed = String::from_utf8_lossy(&output.stdout);
        let (_, failed) = printed.split_once("failed: ").unwrap();
        let failed: u64 = failed.lines().next().unwrap().parse().unwrap();
        assert_eq!(failed == 0, suffices, "{failed} with {places}");
        assert_eq!(server.commits(Operation::SubmitCommand), 200 - failed);
    }
}
