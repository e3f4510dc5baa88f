//! Runtimes that end, stand still, or are missing.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use tokio::runtime::{Builder, Runtime};

use super::*;

fn paused() -> Runtime {
    let mut paused = Builder::new_current_thread();
    paused.enable_all().start_paused(true).build().unwrap()
}

/// A runtime on the wall clock, driven by whoever blocks on it.
fn blocking() -> Runtime {
    let mut blocking = Builder::new_current_thread();
    blocking.enable_all().build().unwrap()
}

/// A runtime on the wall clock with a thread that drives it.
fn driven() -> Runtime {
    let mut driven = Builder::new_multi_thread();
    driven.worker_threads(1).enable_all().build().unwrap()
}

/// Begins a call on a runtime, which is then driven no more.
fn abandon(runtime: &Runtime, entry: &Arc<TokenEntry>) {
    let call = async { tokio::time::timeout(EXCHANGE / 2, entry.bearer()).await };
    runtime.block_on(call).unwrap_err();
}

/// A call with an entry of its own, for another task or thread.
fn call(entry: &Arc<TokenEntry>) -> impl Future<Output = Result<usize, String>> + Send + 'static {
    let entry = Arc::clone(entry);
    async move { called(&entry).await }
}

#[test]
fn fault_11_a_renewal_that_died_with_its_runtime_is_started_anew_on_another() {
    let (entry, source) = steady();
    abandon(&paused(), &entry);

    assert_eq!(paused().block_on(timed(&entry)), (Ok(1), EXCHANGE));
    assert_eq!(source.asked(), 2);
}

#[test]
fn fault_11_a_token_outlives_its_runtime() {
    let (entry, source) = steady();
    paused().block_on(entry.prewarm()).unwrap();
    paused().block_on(entry.prewarm()).unwrap();
    assert_eq!(source.asked(), 1);
}

#[test]
fn fault_11_a_renewal_on_a_runtime_that_nobody_drives_is_overtaken() {
    let (entry, source) = steady();
    let idle = paused();
    abandon(&idle, &entry);

    let (outcome, took) = paused().block_on(timed(&entry));
    assert_eq!(outcome, Ok(1));
    assert!(took < Duration::from_secs(3), "{took:?}");

    // Once driven again, the overtaken renewal ends without harm.
    idle.block_on(async { sleep(EXCHANGE).await });
    assert!(entry.live().is_some());
    assert_eq!(source.asked(), 2);
}

#[test]
fn fault_38_a_renewal_that_is_merely_slow_is_waited_for_by_eight_runtimes() {
    // In real time, because each paused clock would run ahead of the others, and for longer than a runtime may be silent.
    let (entry, source) = steady();
    source.takes(Duration::from_millis(2_700));
    let callers = [(); 8].map(|()| {
        let call = call(&entry);
        std::thread::spawn(|| blocking().block_on(call))
    });
    for caller in callers {
        assert_eq!(caller.join().unwrap(), Ok(0));
    }
    assert_eq!(source.asked(), 1);
}

#[test]
fn fault_68_whoever_waits_is_served_by_whichever_renewal_delivers() {
    let (entry, source) = steady();
    source.takes(Duration::from_secs(3_600));
    // The first renewal runs on a runtime that stays driven, and takes an hour.
    let slow = driven();
    let waiting = slow.spawn(call(&entry));
    while source.asked() == 0 {
        std::thread::yield_now();
    }
    // Another caller gives it up and starts a second one, which succeeds at once.
    source.takes(Duration::ZERO);
    entry.lose(1);
    let runtime = blocking();
    runtime.block_on(entry.bearer()).unwrap();

    assert_eq!(runtime.block_on(waiting).unwrap(), Ok(1));
    assert_eq!(source.asked(), 2);
}

#[test]
fn fault_11_a_waiter_on_another_runtime_survives_the_one_that_renews() {
    let (entry, source) = steady();
    source.takes(Duration::from_secs(3_600));
    let (started, start) = std::sync::mpsc::channel();
    let doomed = driven();
    doomed.spawn(call(&entry));
    while entry.exchanges() == 0 {
        std::thread::yield_now();
    }
    source.takes(Duration::from_millis(1));
    let call = call(&entry);
    let waiter = std::thread::spawn(move || {
        blocking().block_on(async {
            started.send(()).unwrap();
            call.await
        })
    });
    start.recv().unwrap();
    doomed.shutdown_background();
    assert_eq!(waiter.join().unwrap(), Ok(1));
}

#[test]
fn fault_11_without_a_runtime_there_is_an_error_and_no_panic() {
    let (entry, _) = steady();
    let mut context = Context::from_waker(Waker::noop());
    let why = "token renewal lost with its runtime: there is no Tokio runtime here; await the call within one";
    let refused = Poll::Ready(Err(why.to_owned()));
    assert_eq!(pin!(called(&entry)).poll(&mut context), refused);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_threads_agree_on_one_exchange() {
    let (entry, source) = steady();
    let mut callers = tokio::task::JoinSet::new();
    for _ in 0..10_000 {
        callers.spawn(call(&entry));
    }
    for outcome in callers.join_all().await {
        assert_eq!(outcome, Ok(0));
    }
    assert_eq!(source.asked(), 1);
}
