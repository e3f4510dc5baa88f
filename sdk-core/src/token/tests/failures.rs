//! Failed renewals: shared, remembered for a growing while, and harmless while a token lives.

use super::*;

#[tokio::test(start_paused = true)]
async fn fault_01_a_failing_endpoint_is_not_noticed_while_the_token_lives() {
    let (events, _guard) = Events::here();
    let (entry, source) = entry(|number| {
        if number == 0 {
            Ok(token(0, 300))
        } else {
            Err(outage())
        }
    });
    entry.bearer().await.unwrap();
    pass(245.0).await;

    // Below the soft margin: a burst of calls, one failed renewal, one warning.
    for _ in 0..50 {
        let (outcome, took) = timed(&entry).await;
        assert_eq!(
            (text(&outcome.unwrap()), took),
            ("Bearer token-0", Duration::ZERO)
        );
        sleep(EXCHANGE / 25).await;
    }
    let warnings = events.of(Level::WARN);
    assert_eq!((source.asked(), warnings.len()), (2, 1), "{warnings:?}");
    assert!(
        warnings[0].contains("down for the night") && warnings[0].contains("live_token=true"),
        "{warnings:?}"
    );

    // Down to the last second: it is used throughout, and the attempts thin out.
    while entry.live().is_some() {
        entry.bearer().await.unwrap();
        pass(0.05).await;
    }
    assert!(
        (5..=9).contains(&source.asked()),
        "{} exchanges in 55 s",
        source.asked()
    );
    assert_eq!(events.of(Level::WARN).len(), source.asked() - 1);
}

#[tokio::test(start_paused = true)]
async fn fault_02_without_a_token_all_get_the_error_and_the_next_call_after_the_backoff_recovers() {
    let (entry, source) = entry(|number| match number {
        0 => Ok(token(0, 300)),
        1 => Err(outage()),
        _ => Ok(token(number, 300)),
    });
    entry.bearer().await.unwrap();
    pass(400.0).await;

    let error = entry.bearer().await.unwrap_err();
    assert_eq!(
        (error.kind(), error.is_retryable()),
        (TokenErrorKind::Unavailable, true)
    );
    // Nothing goes out within the backoff.
    let (outcome, took) = timed(&entry).await;
    assert_eq!(
        (outcome.unwrap_err().to_string(), took),
        (error.to_string(), Duration::ZERO)
    );
    assert_eq!(source.asked(), 2);

    pass(1.0).await;
    assert_eq!(text(&entry.bearer().await.unwrap()), "Bearer token-2");
}

#[tokio::test(start_paused = true)]
async fn fault_03_refused_credentials_cause_no_hot_loop() {
    let (entry, source) = entry(|_| Err(TokenError::refused("invalid_client", "unknown client")));
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(600) {
        let error = entry.bearer().await.unwrap_err();
        assert_eq!(
            (error.code(), error.is_retryable()),
            (Some("invalid_client"), false)
        );
        pass(0.01).await;
    }
    // 1, 2, 4, 8, 16 and then 30 s apart, each up to half shorter.
    assert!(
        (20..=45).contains(&source.asked()),
        "{} exchanges in ten minutes",
        source.asked()
    );
}

#[tokio::test(start_paused = true)]
async fn a_success_forgets_the_failures_before_it() {
    let (entry, source) = entry(|number| {
        if number == 5 {
            Ok(token(5, 300))
        } else {
            Err(outage())
        }
    });
    while entry.bearer().await.is_err() {
        pass(1.0).await;
    }
    pass(301.0).await;
    entry.bearer().await.unwrap_err();
    pass(1.0).await;
    entry.bearer().await.unwrap_err();
    assert_eq!(source.asked(), 8, "the first backoff is a second again");
}

#[tokio::test(start_paused = true)]
async fn the_backoff_honours_retry_after_within_reason() {
    for (asked, waited) in [(20, 20), (u64::MAX, 30)] {
        let (entry, source) =
            entry(move |_| Err(outage().with_retry_after(Duration::from_secs(asked))));
        entry.bearer().await.unwrap_err();
        // Never earlier than asked, and spread over the backoff of a second.
        pass(f64::from(waited) + 0.4).await;
        entry.bearer().await.unwrap_err();
        assert_eq!(source.asked(), 1);
        pass(0.7).await;
        entry.bearer().await.unwrap_err();
        assert_eq!(source.asked(), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn a_panicking_source_is_an_error_for_all_and_not_the_end() {
    let (entry, source) = entry(|number| {
        assert!(number > 0, "the source panics on purpose");
        Ok(token(number, 300))
    });
    let (one, other) = tokio::join!(entry.bearer(), entry.bearer());
    assert_eq!(one.unwrap_err().kind(), TokenErrorKind::Source);
    assert_eq!(
        other.unwrap_err().to_string(),
        "token source failed: the token source panicked"
    );

    pass(1.0).await;
    assert_eq!(text(&entry.bearer().await.unwrap()), "Bearer token-1");
    assert_eq!(source.asked(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_source_that_never_answers_is_cut_off() {
    let (entry, source) = entry(|number| Ok(token(number, 300)));
    source.takes(Duration::MAX);
    let (outcome, took) = timed(&entry).await;
    assert_eq!(outcome.unwrap_err().kind(), TokenErrorKind::Timeout);
    assert_eq!(took, TokenPolicy::default().renewal_timeout);

    source.takes(EXCHANGE);
    pass(1.0).await;
    assert_eq!(text(&entry.bearer().await.unwrap()), "Bearer token-1");
}

#[tokio::test(start_paused = true)]
async fn a_token_that_no_header_can_carry_is_an_error_that_does_not_show_it() {
    for canary in [
        "",
        "canary\r\nX-Evil: 1",
        "canary\u{e9}",
        "canary with spaces",
        "canary\n",
    ] {
        let (entry, _) = entry(move |_| Ok(AccessToken::new(canary)));
        let error = entry.bearer().await.unwrap_err();
        assert_eq!(error.kind(), TokenErrorKind::Malformed);
        assert!(!format!("{error} {error:?}").contains("canary"));
    }
}

#[test]
fn an_error_keeps_its_source_and_prints_one_line() {
    let error = TokenError::from_source(std::io::Error::other("the file is gone"));
    assert_eq!(error.to_string(), "token source failed: the file is gone");
    assert_eq!(
        std::error::Error::source(&error).unwrap().to_string(),
        "the file is gone"
    );

    let error = TokenError::refused(
        "invalid_scope",
        format!("no\r\nsuch\u{2028}scope {}", "x".repeat(1_000)),
    )
    .with_status(400)
    .with_request_id("r-1");
    let line = error.clone().to_string();
    assert!(
        line.starts_with("token refused (status 400): no such scope xxx"),
        "{line}"
    );
    assert!(
        line.ends_with("x… [invalid_scope] [request r-1]")
            && line.lines().count() == 1
            && line.len() < 400,
        "{line}"
    );
}
