//! What a 401 does.

use super::*;
use crate::operation::Operation;

/// The read rejects a token. Returns whether a call may resend.
fn reject(entry: &TokenEntry, token: &BearerToken) -> bool {
    entry.reject(token, &OPERATIONS.read, 0)
}

/// The read accepts a token, which is returned.
async fn serve(entry: &Arc<TokenEntry>) -> Arc<BearerToken> {
    let token = entry.bearer().await.unwrap();
    token.mark_accepted();
    token
}

/// A call that gets a 401 for every token; how often it is sent.
async fn send_rejected(entry: &Arc<TokenEntry>, operation: &'static Operation) -> u32 {
    for attempt in 1.. {
        let sent = entry.bearer().await.unwrap();
        if !entry.reject(&sent, operation, attempt - 1) {
            return attempt;
        }
    }
    unreachable!()
}

fn minutes(minutes: u64) -> Duration {
    Duration::from_secs(60 * minutes)
}

#[tokio::test(start_paused = true)]
async fn a_token_of_another_entry_rejects_nothing() {
    let source = scripted(|number, _| Ok(token(number, 300)));
    let cache = cache(&source);
    let crm = cache.entry(TokenRequest::new().with_audience("crm"));
    let calendar = cache.entry(TokenRequest::new().with_audience("calendar"));
    let foreign = calendar.bearer().await.unwrap();
    crm.bearer().await.unwrap();

    assert!(reject(&crm, &foreign));
    assert!(crm.try_bearer().is_some());
}

#[tokio::test(start_paused = true)]
async fn a_service_that_rejects_every_token_causes_no_storm() {
    let (entry, source) = steady();
    let start = Instant::now();
    let mut kept = 0;
    // Ten minutes of a hundred calls a second, each rejected.
    while start.elapsed() < minutes(10) {
        let sent = entry.bearer().await.unwrap();
        kept += u32::from(!reject(&entry, &sent));
        pass(0.01).await;
    }
    // The operation is believed every 15 to 30 seconds, however many calls it rejects meanwhile.
    source.assert_asked(20..=50);
    assert!(kept > 50_000, "most calls are not resent: {kept}");
}

#[tokio::test(start_paused = true)]
async fn a_token_that_has_served_is_renewed_at_once_whatever_the_streak() {
    let (entry, source) = steady();
    // Another operation rejects tokens on arrival, again and again: it is believed more and more rarely.
    while send_rejected(&entry, &OPERATIONS.command).await > 1 {}
    let before = source.asked();
    // Further ones serve and are then revoked, three times a second.
    for _ in 0..100 {
        let sent = serve(&entry).await;
        assert!(reject(&entry, &sent));
        pass(0.3).await;
    }
    // One exchange for each of them.
    source.assert_asked(1..=before + 100);
}

#[tokio::test(start_paused = true)]
async fn a_record_that_is_always_rejected_causes_no_storm_beside_one_that_is_not() {
    let (entry, source) = steady();
    let start = Instant::now();
    while start.elapsed() < minutes(10) {
        serve(&entry).await;
        send_rejected(&entry, &OPERATIONS.read).await;
        pass(0.01).await;
    }
    // One in five seconds, because the token that serves the other record may have been revoked.
    source.assert_asked(1..=130);
    // If the other record rejects its token then, this is believed within these seconds.
    let good = serve(&entry).await;
    let revoked = Instant::now();
    while !reject(&entry, &good) {
        pass(0.1).await;
    }
    let doubted = revoked.elapsed();
    assert!(doubted <= Duration::from_secs(5), "{doubted:?}");
    // The next token is doubted again, or each would be renewed until the backoff ends.
    let next = serve(&entry).await;
    assert!(!reject(&entry, &next));
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_new_token_is_rejected_on_arrival_is_not_resent() {
    let (entry, _source) = steady();
    let sent = serve(&entry).await;
    assert!(reject(&entry, &sent));
    let new = entry.bearer().await.unwrap();
    assert!(!entry.reject(&new, &OPERATIONS.read, 1));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_has_replaced_three_tokens_does_not_use_that_of_another_call() {
    let (entry, _source) = steady();
    let sent = entry.bearer().await.unwrap();
    assert!(reject(&entry, &sent));
    assert!(entry.reject(&sent, &OPERATIONS.read, 2));
    assert!(!entry.reject(&sent, &OPERATIONS.read, 3));
}

#[tokio::test(start_paused = true)]
async fn a_revocation_every_few_minutes_is_believed_at_once() {
    let (entry, source) = steady();
    for _ in 0..20 {
        let sent = entry.bearer().await.unwrap();
        assert!(reject(&entry, &sent));
        pass(120.0).await;
    }
    assert_eq!(source.asked(), 20);
}
