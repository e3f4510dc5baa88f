//! One renewal for any number of callers, whatever becomes of them.

use tokio::task::JoinSet;

use super::*;

/// Starts so many callers at once and gathers their outcomes.
async fn crowd(entry: &Arc<TokenEntry>, count: usize) -> Vec<Result<Arc<BearerToken>, TokenError>> {
    let mut callers = JoinSet::new();
    for _ in 0..count {
        let entry = Arc::clone(entry);
        callers.spawn(async move { entry.bearer().await });
    }
    callers.join_all().await
}

/// An entry whose first token has expired, and whose further answers follow the script.
async fn expired(
    answer: impl Fn() -> Answer + Send + Sync + 'static,
) -> (Arc<TokenEntry>, Arc<Scripted>) {
    let (entry, source) = entry(move |number| {
        if number == 0 {
            Ok(token(0, 300))
        } else {
            answer()
        }
    });
    entry.bearer().await.unwrap();
    pass(301.0).await;
    (entry, source)
}

#[tokio::test(start_paused = true)]
async fn fault_09_five_thousand_cold_callers_share_one_exchange() {
    let (entry, source) = entry(|number| Ok(token(number, 300)));
    let start = Instant::now();

    let outcomes = crowd(&entry, 5_000).await;

    assert!(
        outcomes
            .iter()
            .all(|outcome| text(outcome.as_ref().unwrap()) == "Bearer token-0")
    );
    assert_eq!((source.asked(), entry.exchanges()), (1, 1));
    assert!(start.elapsed() < EXCHANGE * 3 / 2);
}

#[tokio::test(start_paused = true)]
async fn ten_thousand_tasks_at_an_expired_token_cause_one_exchange() {
    let (entry, source) = expired(|| Ok(token(1, 300))).await;

    let outcomes = crowd(&entry, 10_000).await;

    assert!(
        outcomes
            .iter()
            .all(|outcome| text(outcome.as_ref().unwrap()) == "Bearer token-1")
    );
    assert_eq!(source.asked(), 2);
}

#[tokio::test(start_paused = true)]
async fn ten_thousand_tasks_at_an_expired_token_share_one_failure_at_once() {
    let (entry, source) = expired(|| Err(outage())).await;
    let start = Instant::now();

    let outcomes = crowd(&entry, 10_000).await;

    assert!(
        outcomes
            .iter()
            .all(|outcome| outcome.as_ref().unwrap_err().kind() == TokenErrorKind::Unavailable)
    );
    assert_eq!(source.asked(), 2);
    assert!(start.elapsed() < EXCHANGE * 3 / 2);
}

#[tokio::test(start_paused = true)]
async fn ten_thousand_tasks_at_an_expired_token_cause_one_exchange_though_half_are_cancelled() {
    let (entry, source) = expired(|| Ok(token(1, 300))).await;
    let callers: Vec<_> = (0..10_000)
        .map(|_| {
            let entry = Arc::clone(&entry);
            tokio::spawn(async move { entry.bearer().await })
        })
        .collect();

    sleep(EXCHANGE / 2).await;
    callers
        .iter()
        .step_by(2)
        .for_each(tokio::task::JoinHandle::abort);

    let mut served = 0;
    for caller in callers {
        match caller.await {
            Ok(outcome) => {
                assert_eq!(text(&outcome.unwrap()), "Bearer token-1");
                served += 1;
            }
            Err(gone) => assert!(gone.is_cancelled()),
        }
    }
    assert_eq!((served, source.asked()), (5_000, 2));
}

#[tokio::test(start_paused = true)]
async fn fault_10_the_first_caller_may_be_cancelled_or_panic_while_the_others_go_on() {
    for panics in [false, true] {
        let (entry, source) = entry(|number| Ok(token(number, 300)));
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
        let others = crowd(&entry, 100).await;

        assert_eq!(first.await.is_err(), panics);
        assert!(
            others
                .iter()
                .all(|outcome| text(outcome.as_ref().unwrap()) == "Bearer token-0")
        );
        assert_eq!(source.asked(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_renewal_goes_on_though_every_caller_is_gone() {
    let (entry, source) = entry(|number| Ok(token(number, 300)));

    tokio::time::timeout(EXCHANGE / 2, entry.bearer())
        .await
        .unwrap_err();
    sleep(EXCHANGE).await;

    assert_eq!(text(&entry.try_bearer().unwrap()), "Bearer token-0");
    assert_eq!(source.asked(), 1);
}

#[tokio::test(start_paused = true)]
async fn fault_12_audiences_and_scope_sets_never_mix() {
    let source = scripted(|_, request| {
        let name = format!(
            "{}/{}",
            request.audience().unwrap_or("-"),
            request.scopes().join("+")
        );
        Ok(AccessToken::new(name).with_lifetime(Duration::from_secs(300)))
    });
    let cache = cache(&source);
    let requests = [
        TokenRequest::new(),
        TokenRequest::new().with_audience("crm"),
        TokenRequest::new().with_audience("calendar"),
        TokenRequest::new()
            .with_audience("crm")
            .with_scopes(["crm:read"]),
        TokenRequest::new()
            .with_audience("crm")
            .with_scopes(["crm:read", "crm:write"]),
    ];
    let expected = [
        "-/",
        "crm/",
        "calendar/",
        "crm/crm:read",
        "crm/crm:read+crm:write",
    ];

    for (request, name) in requests.iter().zip(expected) {
        let bearer = cache.entry(request.clone()).bearer().await.unwrap();
        assert_eq!(text(&bearer), format!("Bearer {name}"));
    }
    // The same scopes in another order, or twice, are the same request.
    let same = TokenRequest::new()
        .with_scopes(["crm:write crm:read", "crm:write"])
        .with_audience("crm");
    assert!(Arc::ptr_eq(
        &cache.entry(same),
        &cache.entry(requests[4].clone())
    ));
    assert_eq!((source.asked(), cache.exchanges()), (5, 5));
}
