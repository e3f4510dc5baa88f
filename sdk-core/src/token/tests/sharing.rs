//! All callers share a renewal, whatever happens to them. No token, renewal or backoff in use is evicted.

use std::sync::Weak;

use tokio::task::{JoinHandle, JoinSet};

use super::*;
use crate::policy::retry::Backoff;

/// Starts this many concurrent callers, and asserts that all get this result.
async fn assert_crowd_gets(entry: &Arc<TokenEntry>, count: usize, expected: Result<usize, String>) {
    let mut callers = JoinSet::new();
    for _ in 0..count {
        let entry = Arc::clone(entry);
        callers.spawn(async move { called(&entry).await });
    }
    let outcomes = callers.join_all().await;
    assert_eq!(outcomes.len(), count);
    assert!(outcomes.iter().all(|outcome| *outcome == expected));
}

#[tokio::test(start_paused = true)]
async fn fault_09_five_thousand_concurrent_first_callers_share_one_token_request() {
    let (entry, source) = steady();
    let start = Instant::now();

    assert_crowd_gets(&entry, 5_000, Ok(0)).await;

    assert_eq!(source.requests(), 1);
    assert!(start.elapsed() < REQUEST_TIME * 3 / 2);
}

#[tokio::test(start_paused = true)]
async fn ten_thousand_tasks_with_an_expired_token_cause_one_token_request_if_half_are_cancelled() {
    let (entry, source) = steady();
    entry.bearer().await.unwrap();
    pass(301.0).await;
    let callers: Vec<_> = (0..10_000)
        .map(|_| {
            let entry = Arc::clone(&entry);
            tokio::spawn(async move { called(&entry).await })
        })
        .collect();

    sleep(REQUEST_TIME / 2).await;
    callers.iter().step_by(2).for_each(JoinHandle::abort);

    for (index, caller) in callers.into_iter().enumerate() {
        match caller.await {
            Ok(outcome) => assert_eq!((index % 2, outcome), (1, Ok(1))),
            Err(gone) => assert!(index % 2 == 0 && gone.is_cancelled()),
        }
    }
    assert_eq!(source.requests(), 2);
}

#[tokio::test(start_paused = true)]
async fn fault_10_the_other_callers_succeed_if_the_first_caller_is_cancelled_or_panics() {
    for panics in [false, true] {
        let (entry, source) = steady();
        let first = tokio::spawn({
            let entry = Arc::clone(&entry);
            async move {
                tokio::select! {
                    biased;
                    _ = entry.bearer() => unreachable!(),
                    () = sleep(REQUEST_TIME / 4) => assert!(!panics, "the caller panics on purpose"),
                }
            }
        });
        tokio::task::yield_now().await;
        assert_crowd_gets(&entry, 100, Ok(0)).await;

        assert_eq!(first.await.is_err(), panics);
        assert_eq!(source.requests(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_renewal_continues_if_every_caller_is_cancelled() {
    let (entry, source) = steady();

    tokio::time::timeout(REQUEST_TIME / 2, entry.bearer())
        .await
        .unwrap_err();
    sleep(REQUEST_TIME).await;

    assert_eq!(header(&entry.try_bearer().unwrap()), "Bearer token-0");
    assert_eq!(source.requests(), 1);
}

fn request(number: usize) -> TokenRequest {
    TokenRequest::new().with_scopes([format!("scope:{number}")])
}

/// Creates a cache with a token for each of `count` requests. No caller references the entries.
async fn filled(count: usize) -> (TokenCache, Vec<Weak<TokenEntry>>) {
    let cache = cache(&scripted(|number, _| Ok(token(number, 300))));
    let mut entries = Vec::new();
    for number in 0..count {
        let entry = cache.entry(request(number));
        entry.bearer().await.unwrap();
        entries.push(Arc::downgrade(&entry));
    }
    (cache, entries)
}

fn alive(entries: &[Weak<TokenEntry>]) -> usize {
    entries.iter().filter(|it| it.strong_count() > 0).count()
}

#[tokio::test(start_paused = true)]
async fn fault_53_an_expired_unused_token_is_evicted() {
    let (cache, entries) = filled(100).await;
    let held = entries[7].upgrade().unwrap();
    let token = Arc::downgrade(&held.bearer().await.unwrap());
    pass(285.0).await;
    cache.entry(request(0));
    // A client that is created for each call still finds its token.
    assert_eq!(alive(&entries), 100);

    pass(70.0).await;
    cache.entry(request(100));

    assert_eq!(alive(&entries), 1);
    // The caller with a reference to the entry loses only the expired token.
    assert!(token.upgrade().is_none());
    assert!(Arc::ptr_eq(&cache.entry(request(7)), &held));
    assert_eq!(called(&held).await, Ok(100));
    assert_eq!(cache.exchanges(), 101);
}

#[tokio::test(start_paused = true)]
async fn fault_53_backoffs_and_renewals_in_flight_are_not_evicted() {
    let source = scripted(|_, _| Err(outage()));
    let long = Duration::from_secs(300);
    let policy = TokenPolicy {
        renewal_backoff: Backoff::new(long, long),
        ..TokenPolicy::default()
    };
    let cache = TokenCache::new(Arc::clone(&source) as _, policy);
    called(&cache.entry(request(0))).await.unwrap_err();
    pass(61.0).await;
    // This call sweeps the cache. The backoff survives, so the error comes without traffic.
    called(&cache.entry(request(0))).await.unwrap_err();
    assert_eq!(source.requests(), 1);

    source.takes(Duration::from_secs(20));
    pass(50.0).await;
    let entry = cache.entry(request(1));
    let renewing = Arc::downgrade(&entry);
    tokio::time::timeout(REQUEST_TIME, entry.bearer())
        .await
        .unwrap_err();
    drop(entry);
    pass(12.0).await;
    cache.entry(request(0));
    assert_eq!(alive(&[renewing]), 1);
}

#[tokio::test(start_paused = true)]
async fn a_renewal_ends_if_its_entry_is_dropped() {
    let (entry, source) = steady();
    source.takes(Duration::from_secs(50));
    tokio::time::timeout(REQUEST_TIME, entry.bearer())
        .await
        .unwrap_err();
    let left = Arc::downgrade(&entry);
    pass(1.0).await;
    assert_eq!(
        (alive(std::slice::from_ref(&left)), source.requests()),
        (1, 1)
    );

    drop(entry);
    pass(0.6).await;

    assert_eq!(alive(&[left]), 0);
    assert_eq!(Arc::strong_count(&source), 1);
}
