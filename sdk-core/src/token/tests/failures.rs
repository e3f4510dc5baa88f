//! Failed renewals: shared by all callers, remembered with a growing backoff, and without effect on live tokens.

use super::*;

#[tokio::test(start_paused = true)]
async fn a_success_resets_the_backoff() {
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
    assert_eq!(
        source.requests(),
        8,
        "the backoff starts again at one second"
    );
}

#[tokio::test(start_paused = true)]
async fn the_backoff_honors_retry_after_up_to_its_cap() {
    for (asked, waited) in [(20, 20_u32), (u64::MAX, 30)] {
        let asked = Duration::from_secs(asked);
        let (entry, source) = entry(move |_| Err(outage().with_retry_after(asked)));
        entry.bearer().await.unwrap_err();
        assert_eq!(entry.backoff_left().as_secs(), u64::from(waited));
        // At least as long as requested, plus jitter within the backoff of a second.
        pass(f64::from(waited) + 0.4).await;
        entry.bearer().await.unwrap_err();
        assert_eq!(source.requests(), 1);
        pass(0.7).await;
        entry.bearer().await.unwrap_err();
        assert_eq!(source.requests(), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn a_panic_of_the_source_is_an_error_for_all_waiters_and_the_next_renewal_works() {
    let (entry, source) = entry(|number| {
        assert!(number > 0, "the source panics on purpose");
        Ok(token(number, 300))
    });
    let (first, second) = tokio::join!(entry.bearer(), called(&entry));
    assert_eq!(first.unwrap_err().kind(), TokenErrorKind::Source);
    let panicked = "token source failed: the token source or its transport panicked";
    assert_eq!(second.unwrap_err(), panicked);

    pass(1.0).await;
    assert_eq!(called(&entry).await, Ok(1));
    assert_eq!(source.requests(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_token_that_is_invalid_in_a_header_is_an_error_without_the_token() {
    let invalid = "|canary\r\nX-Evil: 1|canary\u{e9}|canary with spaces|canary\n";
    for canary in invalid.split('|') {
        let (entry, _) = entry(move |_| Ok(AccessToken::new(canary)));
        let error = entry.bearer().await.unwrap_err();
        assert_eq!(error.kind(), TokenErrorKind::Malformed);
        assert!(!format!("{error} {error:#?}").contains("canary"));
    }
}

#[test]
fn an_error_returns_its_source_and_prints_one_line() {
    let error = TokenError::from_source(std::io::Error::other("the file is gone"));
    assert_eq!(error.to_string(), "token source failed: the file is gone");
    let source = std::error::Error::source(&error).unwrap();
    assert_eq!(source.to_string(), "the file is gone");

    let description = format!("no\r\nsuch\u{2028}scope {}", "x".repeat(1_000));
    let error = TokenError::refused("invalid_scope", description)
        .with_status(400)
        .with_request_id("r-1");
    let line = error.to_string();
    let start = "token request rejected (status 400): no such scope xxx";
    assert!(line.starts_with(start), "{line}");
    let end = "x… [invalid_scope] [request r-1]";
    assert!(line.ends_with(end), "{line}");
    assert!(line.lines().count() == 1 && line.len() < 400, "{line}");
}

#[test]
fn all_types_are_send_and_sync() {
    fn check<T: Send + Sync + 'static>() {}
    fn sends<T: Send>(_: T) {}
    check::<TokenCache>();
    check::<TokenEntry>();
    check::<BearerToken>();
    check::<TokenError>();
    check::<AccessToken>();
    check::<ClientCredentialsSource>();
    let (entry, _) = entry(|_| Err(outage()));
    sends(entry.bearer());
}
