//! Runtimes that go away, stand still, or are not there.

use tokio::runtime::{Builder, Runtime};

use super::*;

fn paused() -> Runtime {
    Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .unwrap()
}

#[test]
fn fault_11_a_renewal_that_died_with_its_runtime_is_started_anew_on_another() {
    let (entry, source) = entry(|number| Ok(token(number, 300)));
    let first = paused();
    first.block_on(async {
        tokio::time::timeout(EXCHANGE / 2, entry.bearer())
            .await
            .unwrap_err();
    });
    drop(first);

    let second = paused();
    let (outcome, took) = second.block_on(timed(&entry));
    assert_eq!(
        (text(&outcome.unwrap()), took),
        ("Bearer token-1", EXCHANGE)
    );
    assert_eq!(source.asked(), 2);
}

#[test]
fn fault_11_a_token_outlives_its_runtime() {
    let (entry, source) = entry(|number| Ok(token(number, 300)));
    paused().block_on(entry.prewarm()).unwrap();
    paused().block_on(entry.prewarm()).unwrap();
    assert_eq!(source.asked(), 1);
}

#[test]
fn fault_11_a_renewal_on_a_runtime_that_nobody_drives_is_overtaken() {
    let (entry, source) = entry(|number| Ok(token(number, 300)));
    let idle = paused();
    idle.block_on(async {
        tokio::time::timeout(EXCHANGE / 2, entry.bearer())
            .await
            .unwrap_err();
    });

    let (outcome, took) = paused().block_on(timed(&entry));
    assert_eq!(text(&outcome.unwrap()), "Bearer token-1");
    assert!(took < Duration::from_secs(3), "{took:?}");

    // Once driven again, the overtaken renewal ends without harm.
    idle.block_on(async { sleep(EXCHANGE).await });
    assert!(entry.live().is_some());
    assert_eq!(source.asked(), 2);
}

#[test]
fn fault_38_a_renewal_that_is_merely_slow_is_waited_for_by_eight_runtimes() {
    // In real time, since each paused clock would run ahead of the others: longer than a runtime may show no sign of life.
    let (entry, source) = entry(|number| Ok(token(number, 300)));
    source.takes(Duration::from_millis(2_700));
    let callers: Vec<_> = (0..8)
        .map(|_| {
            let entry = Arc::clone(&entry);
            std::thread::spawn(move || {
                let runtime = Builder::new_current_thread().enable_all().build().unwrap();
                runtime
                    .block_on(entry.bearer())
                    .map(|token| text(&token).to_owned())
            })
        })
        .collect();
    for caller in callers {
        assert_eq!(caller.join().unwrap().unwrap(), "Bearer token-0");
    }
    assert_eq!(source.asked(), 1);
}

#[test]
fn fault_68_whoever_waits_is_served_by_whichever_renewal_delivers() {
    let (entry, source) = entry(|number| Ok(token(number, 300)));
    source.takes(Duration::from_secs(3_600));
    // The first renewal runs on a runtime that goes on being driven, and takes an hour.
    let slow = Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let waiting = slow.spawn({
        let entry = Arc::clone(&entry);
        async move { entry.bearer().await }
    });
    while source.asked() == 0 {
        std::thread::yield_now();
    }
    // Somebody gives it up, and starts a second one, which delivers at once.
    source.takes(Duration::ZERO);
    entry.lose(1);
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(entry.bearer()).unwrap();

    let served = runtime.block_on(waiting).unwrap().unwrap();
    assert_eq!(text(&served), "Bearer token-1");
    assert_eq!(source.asked(), 2);
}

#[test]
fn fault_11_a_waiter_on_another_runtime_survives_the_one_that_renews() {
    let (entry, source) = entry(|number| Ok(token(number, 300)));
    source.takes(Duration::from_secs(3_600));
    let (started, start) = std::sync::mpsc::channel();
    let doomed = Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    doomed.spawn({
        let entry = Arc::clone(&entry);
        async move { entry.bearer().await }
    });
    while entry.exchanges() == 0 {
        std::thread::yield_now();
    }
    source.takes(Duration::from_millis(1));
    let waiter = std::thread::spawn({
        let entry = Arc::clone(&entry);
        move || {
            let runtime = Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                started.send(()).unwrap();
                entry.bearer().await
            })
        }
    });
    start.recv().unwrap();
    doomed.shutdown_background();
    assert_eq!(text(&waiter.join().unwrap().unwrap()), "Bearer token-1");
}

#[test]
fn fault_11_without_a_runtime_there_is_an_error_and_no_panic() {
    let (entry, _) = entry(|number| Ok(token(number, 300)));
    let mut call = std::pin::pin!(entry.bearer());
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    let std::task::Poll::Ready(Err(error)) = call.as_mut().poll(&mut context) else {
        panic!("it waits for nothing")
    };
    assert_eq!(
        error.to_string(),
        "token renewal lost with its runtime: there is no Tokio runtime here"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_threads_agree_on_one_exchange() {
    let (entry, source) = entry(|number| Ok(token(number, 300)));
    let mut callers = tokio::task::JoinSet::new();
    for _ in 0..10_000 {
        let entry = Arc::clone(&entry);
        callers.spawn(async move { entry.bearer().await.map(drop) });
    }
    callers
        .join_all()
        .await
        .into_iter()
        .for_each(Result::unwrap);
    assert_eq!(source.asked(), 1);
}
