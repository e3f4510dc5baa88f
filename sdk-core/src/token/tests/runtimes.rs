//! Runtimes that end, stall, or are missing.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use futures_util::poll;
use tokio::runtime::{Builder, Runtime};

use super::*;
use crate::token::state::{Action, State, Waiter};

fn paused() -> Runtime {
    let mut paused = Builder::new_current_thread();
    paused.enable_all().start_paused(true).build().unwrap()
}

/// A runtime on the wall clock that runs only while a test blocks on it.
fn blocking() -> Runtime {
    let mut blocking = Builder::new_current_thread();
    blocking.enable_all().build().unwrap()
}

/// A runtime on the wall clock with its own thread.
fn driven() -> Runtime {
    let mut driven = Builder::new_multi_thread();
    driven.worker_threads(1).enable_all().build().unwrap()
}

/// Begins a call on a runtime that then stops running.
fn abandon_renewal(runtime: &Runtime, entry: &Arc<TokenEntry>) {
    let call = async { tokio::time::timeout(REQUEST_TIME / 2, entry.bearer()).await };
    runtime.block_on(call).unwrap_err();
}

/// A call with its own reference to the entry, for another task or thread.
fn call(entry: &Arc<TokenEntry>) -> impl Future<Output = Result<usize, String>> + Send + 'static {
    let entry = Arc::clone(entry);
    async move { called(&entry).await }
}

#[test]
fn fault_11_a_renewal_lost_with_its_runtime_is_restarted_on_another() {
    let (entry, source) = steady();
    abandon_renewal(&paused(), &entry);

    assert_eq!(paused().block_on(timed(&entry)), (Ok(1), REQUEST_TIME));
    assert_eq!(source.requests(), 2);
}

#[test]
fn fault_11_a_token_outlives_its_runtime() {
    let (entry, source) = steady();
    paused().block_on(entry.bearer()).unwrap();
    paused().block_on(entry.bearer()).unwrap();
    assert_eq!(source.requests(), 1);
}

#[test]
fn fault_11_a_renewal_on_a_runtime_that_is_not_driven_is_abandoned() {
    let (entry, source) = steady();
    let idle = paused();
    abandon_renewal(&idle, &entry);

    let (outcome, took) = paused().block_on(timed(&entry));
    assert_eq!(outcome, Ok(1));
    let limit = TokenPolicy::default().exchange_timeout;
    assert!(took < limit + REQUEST_TIME * 2, "{took:?}");

    // When its runtime runs again, the abandoned renewal ends without effect.
    idle.block_on(async { sleep(REQUEST_TIME).await });
    assert!(entry.live().is_some());
    assert_eq!(source.requests(), 2);
}

/// Returns the callers of eight runtimes. The first caller starts a renewal at `start`.
fn eight_callers(state: &mut State, start: Instant, policy: &TokenPolicy) -> Vec<Waiter> {
    let mut callers: Vec<_> = (0..8)
        .map(|_| Waiter::new(blocking().handle().id(), Duration::MAX))
        .collect();
    for (number, waiter) in callers.iter_mut().enumerate() {
        let (action, started) = state.next(start, waiter, policy);
        assert_eq!(started, (number == 0).then_some(1));
        assert!(matches!(action, Action::Wait(_)));
    }
    callers
}

#[test]
fn fault_38_eight_runtimes_wait_for_a_slow_renewal() {
    let (mut state, start, policy) = (State::default(), Instant::now(), TokenPolicy::default());
    let mut callers = eight_callers(&mut state, start, &policy);
    for seconds in 0..10 {
        let now = start + Duration::from_secs(seconds);
        for waiter in &mut callers {
            let (action, started) = state.next(now, waiter, &policy);
            assert_eq!(started, None, "after {seconds} s");
            assert!(matches!(action, Action::Wait(until) if until > now));
        }
    }
    let now = start + Duration::from_secs(10);
    let answer = Ok(token(0, 300));
    state.settle(1, start, now, answer, &policy, 0.5).unwrap();
    for waiter in &mut callers {
        let (action, _) = state.next(now, waiter, &policy);
        assert!(matches!(action, Action::Use(_)));
    }
}

#[test]
fn fault_38_a_renewal_on_a_stalled_runtime_is_abandoned_after_its_time_limit() {
    let (mut state, start, policy) = (State::default(), Instant::now(), TokenPolicy::default());
    let mut callers = eight_callers(&mut state, start, &policy);
    let limit = start + policy.exchange_timeout;
    for waiter in &mut callers[1..] {
        let (early, _) = state.next(limit - REQUEST_TIME, waiter, &policy);
        assert!(matches!(early, Action::Wait(until) if until == limit));
    }
    // The caller on the renewal's own runtime knows that this runtime is running.
    let (own, started) = state.next(limit, &mut callers[0], &policy);
    assert!(started.is_none() && matches!(own, Action::Wait(until) if until > limit));
    let (_, started) = state.next(limit, &mut callers[1], &policy);
    assert_eq!(started, Some(2));
    for waiter in &mut callers[2..] {
        let (joins, started) = state.next(limit, waiter, &policy);
        assert!(started.is_none() && matches!(joins, Action::Wait(_)));
    }
    // The abandoned renewal fails. Its last waiter waits for the new renewal, and no backoff begins.
    let failed = state.settle(1, start, limit, Err(outage()), &policy, 0.5);
    assert!(failed.is_err() && state.backoff_left(limit).is_zero());
    for waiter in &mut callers {
        let (waits, started) = state.next(limit, waiter, &policy);
        assert!(started.is_none() && matches!(waits, Action::Wait(_)));
    }
}

#[test]
fn fault_68_a_waiter_gets_the_token_of_the_first_renewal_that_succeeds() {
    let (entry, source) = steady();
    source.takes(HOUR);
    // The first renewal runs on a runtime that keeps running.
    let slow = driven();
    let waiting = slow.spawn(call(&entry));
    while source.requests() == 0 {
        std::thread::yield_now();
    }
    // Another caller abandons it and starts a second renewal, which succeeds immediately.
    source.takes(Duration::ZERO);
    entry.abandon_renewal(1);
    let runtime = blocking();
    runtime.block_on(entry.bearer()).unwrap();

    assert_eq!(runtime.block_on(waiting).unwrap(), Ok(1));
    assert_eq!(source.requests(), 2);
}

#[test]
fn fault_11_a_waiter_on_another_runtime_survives_the_end_of_the_renewing_runtime() {
    let (entry, source) = steady();
    source.takes(HOUR);
    let doomed = driven();
    doomed.spawn(call(&entry));
    while source.requests() == 0 {
        std::thread::yield_now();
    }
    source.takes(Duration::ZERO);
    blocking().block_on(async {
        let mut waiter = pin!(call(&entry));
        assert!(poll!(waiter.as_mut()).is_pending());
        let start = Instant::now();
        doomed.shutdown_background();
        assert_eq!(waiter.await, Ok(1));
        assert!(start.elapsed() < TokenPolicy::default().exchange_timeout);
    });
}

#[test]
fn fault_11_a_call_without_a_runtime_returns_an_error() {
    let (entry, _) = steady();
    let mut context = Context::from_waker(Waker::noop());
    let message = "token renewal lost with its runtime: no Tokio runtime is running; await the call in a Tokio runtime";
    let lost = Poll::Ready(Err(message.to_owned()));
    assert_eq!(pin!(called(&entry)).poll(&mut context), lost);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_threads_share_one_token_request() {
    const CALLERS: usize = 10_000;
    let (entry, source) = steady();
    source.takes(Duration::from_secs(5));
    let started = Arc::new(AtomicUsize::new(0));
    let mut callers = tokio::task::JoinSet::new();
    for _ in 0..CALLERS {
        let (call, source, started) = (call(&entry), Arc::clone(&source), Arc::clone(&started));
        callers.spawn(async move {
            // The first token request lasts until every caller has started. A second request would take five seconds.
            if started.fetch_add(1, Ordering::Relaxed) == CALLERS - 1 {
                source.release.notify_one();
            }
            call.await
        });
    }
    for outcome in callers.join_all().await {
        assert_eq!(outcome, Ok(0));
    }
    assert_eq!(source.requests(), 1);
}
