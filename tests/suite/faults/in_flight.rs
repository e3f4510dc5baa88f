//! Row 51: a cap on what is in flight, and too few file descriptors.

use std::pin::Pin;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::join_all;
use futures_util::poll;

use sdk_core::transport::RequestBody;
use sdk_core::{
    AccessToken, App, Effect, Error, ErrorKind, Method, ScopePolicy, Suite, SuiteBuilder,
    TokenRequest, TokenSource,
};
use sdk_reference_server::Operation;
use tokio::time::{Instant, sleep, timeout};

use crate::fixtures::{Tokens, add_person, get_person, person, server};
use crate::peer::{Over, Step, always, over_all, reply};
use crate::programs::output;
use crate::samples::new_person;
use crate::seams::transport::service::Scripted;
use crate::support::{
    Ahead as _, Clients as _, Events, assert_failed, assert_says, assert_unsent, builder_at,
    builder_to, quick_retry,
};

const SECOND: Duration = Duration::from_secs(1);

/// A service in memory that takes a second for each request, and the most that it had at once.
struct Slow(Scripted, Arc<AtomicUsize>);

impl Slow {
    fn new() -> Self {
        Self::beginning_with(person())
    }

    /// This is its first reply.
    fn beginning_with(first: Step) -> Self {
        let (first, most) = (Mutex::new(Some(first)), Arc::<AtomicUsize>::default());
        let (now, highest) = (Arc::new(()), Arc::clone(&most));
        let service = Scripted::new(move |request: http::Request<RequestBody>| {
            let here = Arc::clone(&now);
            highest.fetch_max(Arc::strong_count(&here) - 1, Ordering::SeqCst);
            let answer = first.lock().unwrap().take().unwrap_or_else(person);
            async move {
                request.into_body().into_bytes().unwrap();
                sleep(SECOND).await;
                drop(here);
                Ok(answer.in_memory())
            }
        });
        Self(service, most)
    }

    /// A suite of it with so many places.
    fn suite(&self, places: usize) -> SuiteBuilder {
        self.0.suite().max_in_flight(places)
    }

    fn seen(&self) -> Vec<http::request::Parts> {
        self.0.seen()
    }

    fn take_most(&self) -> usize {
        self.1.swap(0, Ordering::SeqCst)
    }
}

/// So many calls at once: how many attempts each took.
async fn crowd(crm: &sdk_crm::Client, calls: usize) -> Vec<u32> {
    let calls = join_all((0..calls).map(|_| get_person(crm).send())).await;
    calls.into_iter().map(|it| it.unwrap().attempts()).collect()
}

/// Checks that a call waited in vain for its turn.
#[track_caller]
fn assert_crowded(error: &Error, words: &[&str]) {
    assert_unsent(error, ErrorKind::Timeout, words);
    assert_says(error, &["its turn", "`max_in_flight`"]);
    assert!(error.is_retryable());
}

/// A call that has begun, and proceeds only when it is polled: how many attempts it took.
async fn begun(crm: &sdk_crm::Client) -> Pin<Box<impl Future<Output = Result<u32, Error>>>> {
    crm.prewarm().await.unwrap();
    let call = get_person(crm).deadline(60 * SECOND).send();
    let mut call = Box::pin(async { Ok(call.await?.attempts()) });
    assert!(poll!(&mut call).is_pending());
    call
}

over_all! {
    fault_51_a_cap_holds_over_connections_and_streams
}

/// Many streams share one connection of HTTP/2, so connections are not what is counted.
async fn fault_51_a_cap_holds_over_connections_and_streams(over: Over) {
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
async fn fault_51_a_cap_holds_and_attempts_go_in_the_order_of_their_calls() {
    let slow = Slow::new();
    let suite = slow.suite(3).build().unwrap();
    let (crm, start) = (suite.crm(), Instant::now());
    let references: Vec<_> = (0..20).map(|it| format!("PER-0000000000{it:02}")).collect();

    let calls = references.iter().map(|it| crm.people().get(it).send());
    for person in join_all(calls).await {
        person.unwrap();
    }

    assert_eq!((slow.take_most(), start.elapsed()), (3, 7 * SECOND));
    for (asked, reference) in slow.seen().iter().zip(&references) {
        assert!(asked.uri.path().ends_with(reference), "{asked:?}");
    }

    // The same application in other scopes shares the places; another application has its own.
    let few = suite.with_scopes(App::Crm, ["crm:people:read"]).unwrap();
    let few = few.crm();
    let (start, calendar) = (Instant::now(), suite.calendar());
    let other = calendar.raw_call((Method::Get, "/x"));
    let (.., other) = tokio::join!(crowd(&crm, 3), crowd(&few, 3), async {
        other.send().await.unwrap();
        start.elapsed()
    });
    assert_eq!(other, SECOND);
    assert_eq!((slow.take_most(), start.elapsed()), (4, 2 * SECOND));
}

#[tokio::test(start_paused = true)]
async fn fault_51_waiting_for_a_turn_ends_with_the_deadline_and_sent_nothing() {
    let (events, _guard) = Events::here();
    let slow = Slow::new();
    let crm = slow.suite(1).crm();
    let first = begun(&crm).await;
    let start = Instant::now();
    let half = Duration::from_millis(500);

    let second = add_person(&crm).deadline(half).send();
    let gone = timeout(half / 2, get_person(&crm).send());
    let third = async {
        sleep(half / 5).await;
        get_person(&crm).deadline(half / 2).await.unwrap_err()
    };
    let (second, gone, third) = tokio::join!(second, gone, third);

    // The one that its caller gave up no longer waits.
    assert!(gone.is_err());
    let words = ["500ms", "1 attempt of crm in flight", "0 more wait"];
    let second = second.unwrap_err();
    assert_crowded(&second, &words);
    assert!(second.into_command().is_some());
    assert_crowded(&third, &["250ms", "and 1 more wait"]);
    assert_eq!(start.elapsed(), half);
    let waited = events.lines("DEBUG", &["the attempt waited for its turn", "suite.call"]);
    assert_eq!(waited.len(), 2, "{waited:?}");
    assert!(waited[1].contains("wait_s=0.5"), "{waited:?}");
    first.await.unwrap();
    get_person(&crm).await.unwrap();
    assert_eq!((slow.seen().len(), slow.take_most()), (2, 1));
}

#[tokio::test(start_paused = true)]
async fn fault_51_what_counts_for_the_cap_is_every_kind_of_call() {
    let slow = Slow::new();
    let suite = slow.suite(1).deadline(SECOND / 2).build().unwrap();
    let crm = suite.crm();
    let prepared = crm.commands().submit(new_person("Ann")).prepare().unwrap();
    for ahead in [false, true] {
        let first = begun(&crm).await;
        let mut walk = crm.people().list().items().ahead(ahead);
        let mut pages = crm.people().list().pages().ahead(ahead);
        let raw = crm.raw_call((Method::Get, "/x"));
        let failed = tokio::join!(
            async { walk.try_next().await.map(drop) },
            async { pages.try_next().await.map(drop) },
            async { crm.send_prepared(&prepared).await.map(drop) },
            async { raw.send().await.map(drop) },
            async { suite.crm().check_contract().await.map(drop) },
        );
        let (walk, pages, prepared, raw, contract) = failed;
        for failed in [walk, pages, prepared, raw, contract] {
            assert_crowded(&failed.unwrap_err(), &[]);
        }
        first.await.unwrap();
    }
}

/// A source that takes five seconds for tokens of chosen scopes, which live for six. Others live for two.
fn hesitant() -> impl TokenSource {
    Tokens(|request: &TokenRequest| {
        let few = !request.scopes().is_empty();
        async move {
            sleep(if few { 5 * SECOND } else { Duration::ZERO }).await;
            let lifetime = if few { 6 * SECOND } else { 2 * SECOND };
            Ok(AccessToken::new("t-1").with_lifetime(lifetime))
        }
    })
}

#[tokio::test(start_paused = true)]
async fn fault_51_who_waits_for_a_retry_or_a_token_holds_no_place() {
    let slow = Slow::beginning_with(reply(503).header("retry-after", "10"));
    let crm = slow.suite(1).crm();
    let first = begun(&crm).await;
    let start = Instant::now();
    let (first, second) = tokio::join!(first, async {
        get_person(&crm).await.unwrap();
        start.elapsed()
    });
    assert_eq!(second, 2 * SECOND);
    assert_eq!(first.unwrap(), 2);
    assert!(start.elapsed() >= 11 * SECOND);

    let suite = slow.suite(1).token_source(hesitant()).build().unwrap();
    let few = suite.with_scopes(App::Crm, ["crm:people:read"]).unwrap();
    let (few, crm, start) = (few.crm(), suite.crm(), Instant::now());
    let (few, all) = tokio::join!(get_person(&few).send(), async {
        get_person(&crm).await.unwrap();
        start.elapsed()
    });
    few.unwrap();
    assert_eq!((all, start.elapsed()), (SECOND, 6 * SECOND));
}

#[tokio::test(start_paused = true)]
async fn fault_51_a_token_that_expires_during_the_wait_is_not_sent() {
    let slow = Slow::new();
    let suite = slow.suite(1).token_source(hesitant()).build().unwrap();
    let crm = suite.crm();
    // The last call waits for five seconds.
    assert_eq!(crowd(&crm, 6).await, [1; 6]);
    assert_eq!(suite.stats().token_exchanges, 3);

    // The one that waits for a new token leaves its place to others.
    let few = suite.with_scopes(App::Crm, ["crm:people:read"]).unwrap();
    let (few, start) = (few.crm(), Instant::now());
    let others = async {
        sleep(9 * SECOND / 2).await;
        crowd(&crm, 3).await;
        assert_eq!(start.elapsed(), 15 * SECOND / 2);
        get_person(&crm).await.unwrap();
        start.elapsed()
    };
    let (few, others) = tokio::join!(get_person(&few).send(), others);
    assert_eq!(few.unwrap().attempts(), 1);
    assert_eq!(others, 17 * SECOND / 2);
    assert_eq!(start.elapsed(), 25 * SECOND / 2);
}

/// On a stalled runtime, an attempt is kept and not polled.
#[tokio::test(start_paused = true)]
async fn fault_51_a_stalled_attempt_keeps_its_place_until_it_is_dropped() {
    let slow = Slow::new();
    let crm = slow.suite(1).crm();
    let stalled = begun(&crm).await;

    let late = get_person(&crm).deadline(60 * SECOND).await.unwrap_err();

    assert_crowded(&late, &["60s", "1 attempt of crm in flight"]);
    drop(stalled);
    get_person(&crm).await.unwrap();
    assert_eq!(slow.take_most(), 1);
}

#[test]
fn fault_51_a_dropped_runtime_drops_its_places() {
    let runtime = || {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        builder.enable_all().start_paused(true).build().unwrap()
    };
    let slow = Slow::new();
    let crm = slow.suite(1).crm();
    let first = runtime();
    first.block_on(async {
        tokio::spawn(get_person(&crm).send());
        while slow.seen().is_empty() {
            tokio::task::yield_now().await;
        }
    });

    drop(first);

    runtime().block_on(get_person(&crm).send()).unwrap();
    assert_eq!((slow.seen().len(), slow.take_most()), (2, 1));
}

/// Whoever waits for a place may find another token than the one it came with.
#[tokio::test(start_paused = true)]
async fn fault_51_a_token_without_the_scope_is_not_sent_from_the_queue() {
    let first = AtomicUsize::new(0);
    let narrowing = Tokens(move |_: &TokenRequest| {
        let scope =
            ["crm:people:read", "crm:tasks:read"][first.fetch_add(1, Ordering::SeqCst).min(1)];
        let token = AccessToken::new("t").with_lifetime(5 * SECOND);
        async move { Ok(token.with_scopes([scope])) }
    });
    let slow = Slow::new();
    let suite = slow.suite(1).token_source(narrowing);
    let crm = suite.scope_policy(ScopePolicy::Refuse).crm();
    let calls = join_all((0..8).map(|_| get_person(&crm).send()));
    let renewed = async {
        sleep(21 * SECOND / 5).await;
        crm.prewarm().await.unwrap();
    };
    let (calls, ()) = tokio::join!(calls, renewed);
    let refused = calls.iter().filter_map(|it| it.as_ref().err());
    let refused: Vec<_> = refused.collect();
    assert!(!refused.is_empty());
    for error in refused {
        assert_failed(error, ErrorKind::Forbidden, Effect::NotSent);
    }
    // Those that were sent had the first token.
    assert!(slow.seen().len() <= 5, "{}", slow.seen().len());
}

#[test]
fn fault_51_a_cap_of_none_is_a_mistake() {
    let error = builder_at("https://suite.test").max_in_flight(0).build();
    let error = error.unwrap_err();
    assert_failed(&error, ErrorKind::Configuration, Effect::NotSent);
    assert_says(&error, &["`max_in_flight` must be at least 1: got 0"]);
    let most = builder_at("https://suite.test").max_in_flight(usize::MAX);
    most.build().unwrap();
}

#[tokio::test]
async fn fault_51_a_process_without_descriptors_sent_nothing_and_a_cap_prevents_it() {
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
            .args(["--exact", "--nocapture", "faults::in_flight::fault_51_a_process_without_descriptors_sent_nothing_and_a_cap_prevents_it"])
            .env(PLACES, places)
            .envs(server.environment());
        let output = output(&mut own);
        let told = String::from_utf8_lossy(&output.stdout);
        let (_, failed) = told.split_once("failed: ").unwrap();
        let failed: u64 = failed.lines().next().unwrap().parse().unwrap();
        assert_eq!(failed == 0, suffices, "{failed} with {places}");
        assert_eq!(server.commits(Operation::SubmitCommand), 200 - failed);
    }
}
