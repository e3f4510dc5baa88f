//! One renewal for all callers, whatever happens to them; and no token, renewal or backoff is evicted that anybody needs.

use std::sync::Weak;

use tokio::task::{JoinHandle, JoinSet};

use super::*;
use crate::policy::retry::Backoff;

/// Starts this many callers at once, and asserts that all get this outcome.
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
async fn fault_09_five_thousand_cold_callers_share_one_exchange() {
    let (entry, source) = steady();
    let start = Instant::now();

    assert_crowd_gets(&entry, 5_000, Ok(0)).await;

    assert_eq!(source.asked(), 1);
    assert!(start.elapsed() < EXCHANGE * 3 / 2);
}

#[tokio::test(start_paused = true)]
async fn ten_thousand_tasks_at_an_expired_token_cause_one_exchange_though_half_are_cancelled() {
    let (entry, source) = steady();
    entry.bearer().await.unwrap();
    pass(301.0).await;
    let callers: Vec<_> = (0..10_000)
        .map(|_| {
            let entry = Arc::clone(&entry);
            tokio::spawn(async move { called(&entry).await })
        })
        .collect();

    sleep(EXCHANGE / 2).await;
    callers.iter().step_by(2).for_each(JoinHandle::abort);

    for (index, caller) in callers.into_iter().enumerate() {
        match caller.await {
            Ok(outcome) => assert_eq!((index % 2, outcome), (1, Ok(1))),
            Err(gone) => assert!(index % 2 == 0 && gone.is_cancelled()),
        }
    }
    assert_eq!(source.asked(), 2);
}

#[tokio::test(start_paused = true)]
async fn fault_10_the_first_caller_may_be_cancelled_or_panic_while_the_others_go_on() {
    for panics in [false, true] {
        let (entry, source) = steady();
        let first = tokio::spawn({
            let entry = Arc::clone(&entry);
            async move {
                tokio::select! {
                    biased;
                    _ = entry.bearer() => unreachable!(),
                    () = sleep(EXCHANGE / 4) => assert!(!panics, "the caller panics on purpose"),
                }
            }
        });
        tokio::task::yield_now().await;
        assert_crowd_gets(&entry, 100, Ok(0)).await;

        assert_eq!(first.await.is_err(), panics);
        assert_eq!(source.asked(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_renewal_goes_on_though_every_caller_is_gone() {
    let (entry, source) = steady();

    tokio::time::timeout(EXCHANGE / 2, entry.bearer())
        .await
        .unwrap_err();
    sleep(EXCHANGE).await;

    assert_eq!(text(&entry.try_bearer().unwrap()), "Bearer token-0");
    assert_eq!(source.asked(), 1);
}

fn request(number: usize) -> TokenRequest {
    TokenRequest::new().with_scopes([format!("scope:{number}")])
}

/// A cache with a token for each of so many requests, which nobody holds.
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
async fn fault_53_an_expired_token_that_nobody_uses_is_evicted() {
    let (cache, entries) = filled(100).await;
    let held = entries[7].upgrade().unwrap();
    let token = Arc::downgrade(&held.bearer().await.unwrap());
    pass(285.0).await;
    cache.entry(request(0));
    // A client that is made for each call keeps finding its token.
    assert_eq!(alive(&entries), 100);

    pass(70.0).await;
    cache.entry(request(100));

    assert_eq!(alive(&entries), 1);
    // The holder of an entry loses the expired token only.
    assert!(token.upgrade().is_none());
    assert!(Arc::ptr_eq(&cache.entry(request(7)), &held));
    assert_eq!(called(&held).await, Ok(100));
    assert_eq!(cache.exchanges(), 101);
}

#[tokio::test(start_paused = true)]
async fn fault_53_backoffs_and_renewals_under_way_are_kept() {
    let source = scripted(|_, _| Err(outage()));
    let long = Duration::from_secs(300);
    let policy = TokenPolicy {
        renewal_backoff: Backoff::new(long, long),
        ..TokenPolicy::default()
    };
    let cache = TokenCache::new(Arc::clone(&source) as _, policy);
    called(&cache.entry(request(0))).await.unwrap_err();
    pass(61.0).await;
    // Sweeps, and the backoff outlives it: the error comes without traffic.
    called(&cache.entry(request(0))).await.unwrap_err();
    assert_eq!(source.asked(), 1);

    source.takes(Duration::from_secs(20));
    pass(50.0).await;
    let entry = cache.entry(request(1));
    let renewing = Arc::downgrade(&entry);
    tokio::time::timeout(EXCHANGE, entry.bearer())
        .await
        .unwrap_err();
    drop(entry);
    pass(12.0).await;
    cache.entry(request(0));
    assert_eq!(alive(&[renewing]), 1);
}

#[tokio::test(start_paused = true)]
async fn a_renewal_that_nobody_can_use_any_more_ends() {
    let (entry, source) = steady();
    source.takes(Duration::from_secs(50));
    tokio::time::timeout(EXCHANGE, entry.bearer())
        .await
        .unwrap_err();
    let left = Arc::downgrade(&entry);
    pass(1.0).await;
    assert_eq!((alive(std::slice::from_ref(&left)), source.asked()), (1, 1));

    drop(entry);
    pass(0.6).await;

    assert_eq!(alive(&[left]), 0);
    assert_eq!(Arc::strong_count(&source), 1);
}
