//! The effects of a 401 on tokens.

use super::*;
use crate::operation::Operation;

/// Returns whether a call may resend.
fn reject(entry: &TokenEntry, token: &BearerToken) -> bool {
    entry.reject(token, &OPERATIONS.read, 0)
}

/// Returns the token that the read operation accepted.
async fn serve(entry: &Arc<TokenEntry>) -> Arc<BearerToken> {
    let token = entry.bearer().await.unwrap();
    token.mark_accepted();
    token
}

/// Makes a call that gets a 401 for every token. Returns the number of attempts.
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
async fn a_service_that_rejects_every_token_causes_few_token_requests() {
    let (entry, source) = steady();
    let start = Instant::now();
    let mut not_resent = 0;
    // A hundred calls per second for ten minutes, each rejected.
    while start.elapsed() < minutes(10) {
        let sent = entry.bearer().await.unwrap();
        not_resent += u32::from(!reject(&entry, &sent));
        pass(0.01).await;
    }
    // A rejection drops a token only every 15 to 30 seconds, however many calls are rejected.
    source.assert_requests(20..=50);
    assert!(not_resent > 50_000, "{not_resent} calls were not resent");
}

#[tokio::test(start_paused = true)]
async fn a_revoked_token_is_renewed_immediately_despite_earlier_rejections() {
    let (entry, source) = steady();
    // Another operation rejects new tokens repeatedly, so its rejections drop tokens less and less often.
    while send_rejected(&entry, &OPERATIONS.command).await > 1 {}
    let before = source.requests();
    // Further tokens serve calls and are then revoked, three times a second.
    for _ in 0..100 {
        let sent = serve(&entry).await;
        assert!(reject(&entry, &sent));
        pass(0.3).await;
    }
    // One token request for each of them.
    source.assert_requests(1..=before + 100);
}

#[tokio::test(start_paused = true)]
async fn a_record_that_rejects_every_token_causes_few_requests_while_another_record_accepts_them() {
    let (entry, source) = steady();
    let start = Instant::now();
    while start.elapsed() < minutes(10) {
        serve(&entry).await;
        send_rejected(&entry, &OPERATIONS.read).await;
        pass(0.01).await;
    }
    // A renewal every five seconds, because the token that serves the other record may have been revoked.
    source.assert_requests(1..=130);
    // If the other record then rejects its token, the token is dropped within five seconds.
    let good = serve(&entry).await;
    let revoked = Instant::now();
    while !reject(&entry, &good) {
        pass(0.1).await;
    }
    let ignored_for = revoked.elapsed();
    assert!(ignored_for <= Duration::from_secs(5), "{ignored_for:?}");
    // The rejection of the next token is ignored again. Otherwise, each token would be renewed until the backoff ends.
    let next = serve(&entry).await;
    assert!(!reject(&entry, &next));
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_new_token_is_also_rejected_is_not_resent() {
    let (entry, _source) = steady();
    let sent = serve(&entry).await;
    assert!(reject(&entry, &sent));
    let new = entry.bearer().await.unwrap();
    assert!(!entry.reject(&new, &OPERATIONS.read, 1));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_has_replaced_three_tokens_is_not_resent_with_the_token_of_another_call() {
    let (entry, _source) = steady();
    let sent = entry.bearer().await.unwrap();
    assert!(reject(&entry, &sent));
    assert!(entry.reject(&sent, &OPERATIONS.read, 2));
    assert!(!entry.reject(&sent, &OPERATIONS.read, 3));
}

#[tokio::test(start_paused = true)]
async fn a_revocation_every_few_minutes_drops_the_token_immediately() {
    let (entry, source) = steady();
    for _ in 0..20 {
        let sent = entry.bearer().await.unwrap();
        assert!(reject(&entry, &sent));
        pass(120.0).await;
    }
    assert_eq!(source.requests(), 20);
}
