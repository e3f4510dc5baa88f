//! Tokens that nobody uses any more go, and nothing that anybody needs goes with them.

use std::sync::Weak;

use crate::policy::retry::Backoff;

use super::*;

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
    // Whoever holds an entry loses the expired token only.
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
