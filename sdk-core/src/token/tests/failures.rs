//! Failed renewals: shared, remembered for a growing time, and harmless while a token lives.

use super::*;

#[tokio::test(start_paused = true)]
async fn fault_01_a_failing_endpoint_is_not_noticed_while_the_token_lives() {
    let (events, _guard) = Events::here();
    let (entry, source) = first_then(|_| Err(outage()));
    entry.bearer().await.unwrap();
    pass(245.0).await;

    // Below the soft margin: a burst of calls, one failed renewal, one warning.
    for _ in 0..50 {
        assert_eq!(timed(&entry).await, (Ok(0), Duration::ZERO));
        sleep(EXCHANGE / 25).await;
    }
    let warnings = events.of(Level::WARN);
    assert_eq!((source.asked(), warnings.len()), (2, 1), "{warnings:?}");
    for part in ["down for the night", "live_token=true"] {
        assert!(warnings[0].contains(part), "{warnings:?}");
    }

    // To the last second, the token is used and the attempts get rarer.
    while entry.live().is_some() {
        entry.bearer().await.unwrap();
        pass(0.05).await;
    }
    // The last one may still be under way.
    sleep(EXCHANGE).await;
    source.assert_asked(5..=9);
    assert_eq!(events.of(Level::WARN).len(), source.asked() - 1);
}

#[tokio::test(start_paused = true)]
async fn fault_02_without_a_token_all_get_the_error_and_the_next_call_after_the_backoff_recovers() {
    let (entry, source) = first_then(|number| match number {
        1 => Err(outage()),
        _ => Ok(token(number, 300)),
    });
    entry.bearer().await.unwrap();
    pass(400.0).await;

    let error = entry.bearer().await.unwrap_err();
    assert_eq!(kind(&error), (TokenErrorKind::Unavailable, true));
    // Nothing is sent during the backoff.
    let at_once = (Err(error.to_string()), Duration::ZERO);
    assert_eq!(timed(&entry).await, at_once);
    assert_eq!(source.asked(), 2);

    pass(1.0).await;
    assert_eq!(called(&entry).await, Ok(2));
}

#[tokio::test(start_paused = true)]
async fn fault_03_refused_credentials_cause_no_hot_loop() {
    let (entry, source) = entry(|_| Err(TokenError::refused("invalid_client", "unknown client")));
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(600) {
        let error = entry.bearer().await.unwrap_err();
        assert!(!error.is_retryable());
        assert_eq!(error.code(), Some("invalid_client"));
        pass(0.01).await;
    }
    // 1, 2, 4, 8, 16 and then 30 s apart, each up to half shorter.
    source.assert_asked(20..=45);
}

#[tokio::test(start_paused = true)]
async fn a_success_forgets_the_failures_before_it() {
    let (entry, source) = entry(|number| match number {
        5 => Ok(token(5, 300)),
        _ => Err(outage()),
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
        let asked = Duration::from_secs(asked);
        let (events, _guard) = Events::here();
        let (entry, source) = entry(move |_| Err(outage().with_retry_after(asked)));
        entry.bearer().await.unwrap_err();
        let told = format!("next_attempt_in_s={waited}.");
        assert!(events.all().contains(&told), "{}", events.all());
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
    let (one, other) = tokio::join!(entry.bearer(), called(&entry));
    assert_eq!(one.unwrap_err().kind(), TokenErrorKind::Source);
    let panicked = "token source failed: the token source or its transport panicked";
    assert_eq!(other.unwrap_err(), panicked);

    pass(1.0).await;
    assert_eq!(called(&entry).await, Ok(1));
    assert_eq!(source.asked(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_source_that_never_answers_is_cut_off() {
    let (entry, source) = steady();
    source.takes(Duration::MAX);
    let late = "token exchange timed out: the token source did not answer within 60s";
    let cut_off = (Err(late.into()), TokenPolicy::default().renewal_timeout);
    assert_eq!(timed(&entry).await, cut_off);

    source.takes(EXCHANGE);
    pass(1.0).await;
    assert_eq!(called(&entry).await, Ok(1));
}

#[tokio::test(start_paused = true)]
async fn a_token_that_no_header_can_carry_is_an_error_that_does_not_show_it() {
    let odd = "|canary\r\nX-Evil: 1|canary\u{e9}|canary with spaces|canary\n";
    for canary in odd.split('|') {
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
    let source = std::error::Error::source(&error).unwrap();
    assert_eq!(source.to_string(), "the file is gone");

    let text = format!("no\r\nsuch\u{2028}scope {}", "x".repeat(1_000));
    let error = TokenError::refused("invalid_scope", text)
        .with_status(400)
        .with_request_id("r-1");
    let line = error.to_string();
    let start = "token refused (status 400): no such scope xxx";
    assert!(line.starts_with(start), "{line}");
    let end = "x… [invalid_scope] [request r-1]";
    assert!(line.ends_with(end), "{line}");
    assert!(line.lines().count() == 1 && line.len() < 400, "{line}");
}
