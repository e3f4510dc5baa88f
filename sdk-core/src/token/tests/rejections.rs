//! What a 401 does.

use super::*;
use crate::operation::Operation;

fn target(operation: &'static Operation) -> Target {
    Target::new(operation, operation.route)
}

#[tokio::test(start_paused = true)]
async fn fault_06_a_thousand_rejections_of_one_token_cause_one_renewal() {
    let (entry, source) = entry(|number| Ok(token(number, 300)));
    let sent = entry.bearer().await.unwrap();
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..1_000 {
        let (entry, sent) = (Arc::clone(&entry), Arc::clone(&sent));
        calls.spawn(async move {
            assert!(
                entry
                    .reject(&sent, target(&OPERATIONS.read), 0)
                    .allows_resend()
            );
            entry.bearer().await
        });
    }
    for renewed in calls.join_all().await {
        assert_eq!(text(&renewed.unwrap()), "Bearer token-1");
    }
    assert_eq!(source.asked(), 2);
}

#[tokio::test(start_paused = true)]
async fn fault_07_a_late_401_leaves_the_newer_token_alone() {
    let (entry, source) = entry(|number| Ok(token(number, 300)));
    let older = entry.bearer().await.unwrap();
    assert_eq!(
        entry.reject(&older, target(&OPERATIONS.read), 0),
        Rejection::Dropped
    );
    let newer = entry.bearer().await.unwrap();

    assert_eq!(
        entry.reject(&older, target(&OPERATIONS.read), 0),
        Rejection::Superseded
    );
    assert!(Arc::ptr_eq(&entry.try_bearer().unwrap(), &newer));
    assert_eq!(
        (older.generation(), newer.generation(), source.asked()),
        (1, 2, 2)
    );
}

#[tokio::test(start_paused = true)]
async fn a_token_of_another_entry_rejects_nothing() {
    let source = scripted(|number, _| Ok(token(number, 300)));
    let cache = cache(&source);
    let crm = cache.entry(TokenRequest::new().with_audience("crm"));
    let calendar = cache.entry(TokenRequest::new().with_audience("calendar"));
    let foreign = calendar.bearer().await.unwrap();
    crm.bearer().await.unwrap();

    assert_eq!(
        crm.reject(&foreign, target(&OPERATIONS.read), 0),
        Rejection::Superseded
    );
    assert!(crm.try_bearer().is_some());
}

#[tokio::test(start_paused = true)]
async fn a_service_that_refuses_every_token_causes_no_storm() {
    let (entry, source) = entry(|number| Ok(token(number, 300)));
    let start = Instant::now();
    let mut kept = 0;
    // Ten minutes of a hundred calls a second, each refused.
    while start.elapsed() < Duration::from_secs(600) {
        let sent = entry.bearer().await.unwrap();
        kept += u32::from(
            !entry
                .reject(&sent, target(&OPERATIONS.read), 0)
                .allows_resend(),
        );
        pass(0.01).await;
    }
    assert!(
        source.asked() <= 50,
        "{} exchanges in ten minutes",
        source.asked()
    );
    assert!(kept > 50_000, "most calls are not resent: {kept}");
}

#[tokio::test(start_paused = true)]
async fn fault_37_a_token_that_has_served_is_renewed_at_once_whatever_the_streak() {
    let (entry, source) = entry(|number| Ok(token(number, 300)));
    // Refused as soon as they come, again and again: such rejections are believed ever more rarely.
    while {
        let sent = entry.bearer().await.unwrap();
        entry
            .reject(&sent, target(&OPERATIONS.read), 0)
            .allows_resend()
    } {}
    let before = source.asked();
    // The next one serves, and dies in the middle of its life, three times a second.
    for _ in 0..100 {
        let sent = entry.bearer().await.unwrap();
        entry.serves(&sent, &OPERATIONS.read, OPERATIONS.read.route);
        assert_eq!(
            entry.reject(&sent, target(&OPERATIONS.read), 0),
            Rejection::Dropped
        );
        pass(0.3).await;
    }
    assert!(
        source.asked() <= before + 100,
        "one exchange for each that was refused"
    );
}

#[tokio::test(start_paused = true)]
async fn fault_37_an_operation_that_refuses_every_token_causes_no_storm_beside_one_that_takes_them()
{
    let (entry, source) = entry(|number| Ok(token(number, 300)));
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(600) {
        let good = entry.bearer().await.unwrap();
        entry.serves(&good, &OPERATIONS.read, OPERATIONS.read.route);
        refused(&entry, target(&OPERATIONS.command)).await;
        pass(0.01).await;
    }
    // One in five seconds, since the token that serves the other one may have died.
    assert!(
        source.asked() <= 130,
        "{} exchanges in ten minutes",
        source.asked()
    );
}

#[tokio::test(start_paused = true)]
async fn fault_37_after_a_streak_a_token_that_served_another_operation_is_doubted_for_seconds() {
    let (entry, _source) = entry(|number| Ok(token(number, 300)));
    let odd = target(&OPERATIONS.command);
    // The operation refuses tokens until its backoff has grown long.
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(120) {
        refused(&entry, odd).await;
        pass(0.1).await;
    }
    // From here on it takes what others take. The token that these have is revoked.
    let sent = entry.bearer().await.unwrap();
    entry.serves(&sent, &OPERATIONS.read, OPERATIONS.read.route);
    let revoked = Instant::now();
    while entry.reject(&sent, odd, 0) == Rejection::Kept {
        pass(0.1).await;
    }
    assert!(
        revoked.elapsed() <= Duration::from_secs(5),
        "{:?}",
        revoked.elapsed()
    );
}

/// A call that gets a 401 for every token; how often it is sent.
async fn refused(entry: &Arc<TokenEntry>, target: Target) -> u32 {
    for attempt in 1.. {
        let sent = entry.bearer().await.unwrap();
        if !entry.reject(&sent, target, attempt - 1).allows_resend() {
            return attempt;
        }
    }
    unreachable!()
}

#[tokio::test(start_paused = true)]
async fn fault_37_a_record_that_is_always_refused_causes_no_storm_beside_one_that_is_not() {
    let (entry, source) = entry(|number| Ok(token(number, 300)));
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(600) {
        let good = entry.bearer().await.unwrap();
        entry.serves(&good, &OPERATIONS.read, "/people/good");
        refused(&entry, Target::new(&OPERATIONS.read, "/people/odd")).await;
        pass(0.01).await;
    }
    // One in five seconds, since the token that serves the other one may have died.
    assert!(
        source.asked() <= 130,
        "{} exchanges in ten minutes",
        source.asked()
    );
    // Neither does the one hold up the other: its token died, and is replaced at once.
    let good = entry.bearer().await.unwrap();
    let target = Target::new(&OPERATIONS.read, "/people/good");
    entry.serves(&good, &OPERATIONS.read, "/people/good");
    assert_eq!(entry.reject(&good, target, 0), Rejection::Dropped);
}

#[tokio::test(start_paused = true)]
async fn fault_37_one_call_has_a_token_renewed_a_few_times_at_most() {
    let (entry, source) = entry(|number| Ok(token(number, 300)));
    let odd = Target::new(&OPERATIONS.read, "/people/odd");
    // Others are served by each token before the call gets its refusal.
    let mut attempts = 0;
    loop {
        let sent = entry.bearer().await.unwrap();
        entry.serves(&sent, &OPERATIONS.read, "/people/good");
        if !entry.reject(&sent, odd, attempts).allows_resend() {
            break;
        }
        attempts += 1;
    }
    assert_eq!((attempts, source.asked()), (3, 4));
}

#[tokio::test(start_paused = true)]
async fn fault_37_tokens_of_one_use_serve_any_number_of_operations_in_turn() {
    let (entry, source) = entry(|number| Ok(token(number, 300)));
    for call in 0..300_u32 {
        let path = format!("/{}", call % 7);
        let target = Target::new(&OPERATIONS.read, &path);
        let sent = entry.bearer().await.unwrap();
        if call > 0 {
            assert_eq!(entry.reject(&sent, target, 0), Rejection::Dropped);
        }
        let sent = entry.bearer().await.unwrap();
        entry.serves(&sent, &OPERATIONS.read, &path);
        pass(0.3).await;
    }
    assert_eq!(source.asked(), 300);
}

#[tokio::test(start_paused = true)]
async fn a_revocation_every_few_minutes_is_believed_at_once() {
    let (entry, source) = entry(|number| Ok(token(number, 300)));
    for _ in 0..20 {
        let sent = entry.bearer().await.unwrap();
        assert_eq!(
            entry.reject(&sent, target(&OPERATIONS.read), 0),
            Rejection::Dropped
        );
        pass(120.0).await;
    }
    assert_eq!(source.asked(), 20);
}

#[tokio::test(start_paused = true)]
async fn a_rejected_token_is_not_brought_back_by_a_failing_renewal() {
    let (entry, source) = entry(|number| {
        if number == 0 {
            Ok(token(0, 300))
        } else {
            Err(outage())
        }
    });
    let sent = entry.bearer().await.unwrap();
    assert_eq!(
        entry.reject(&sent, target(&OPERATIONS.read), 0),
        Rejection::Dropped
    );

    entry.bearer().await.unwrap_err();
    entry.bearer().await.unwrap_err();
    assert_eq!(source.asked(), 2);
}
