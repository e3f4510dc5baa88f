//! Lifetimes of tokens, and the time of their renewal.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::super::lifetime;
use super::*;

fn jwt(claims: &str) -> String {
    format!("e30.{}.c2ln", URL_SAFE_NO_PAD.encode(claims))
}

#[tokio::test(start_paused = true)]
async fn a_call_per_second_for_an_hour_needs_at_most_18_token_requests_and_one_wait() {
    for _ in 0..20 {
        let (entry, source) = steady();
        let mut waited = Vec::new();
        for second in 0..3_600 {
            let (outcome, took) = timed(&entry).await;
            outcome.unwrap();
            if !took.is_zero() {
                waited.push(second);
            }
            pass(1.0).await;
        }
        source.assert_requests(13..=18);
        assert_eq!(waited, [0]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_token_is_renewed_in_the_background_before_it_expires() {
    let (entry, source) = steady();
    entry.bearer().await.unwrap();

    pass(200.0).await;
    assert!(
        entry.try_bearer().is_some(),
        "a token is fresh for at least 210 s"
    );
    pass(45.0).await;
    assert!(
        entry.try_bearer().is_none(),
        "renewal is due after at most 240 s"
    );
    assert_eq!(timed(&entry).await, (Ok(0), Duration::ZERO));
    sleep(REQUEST_TIME * 2).await;
    assert_eq!(header(&entry.try_bearer().unwrap()), "Bearer token-1");
    assert_eq!(source.requests(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_call_waits_for_renewal_shortly_before_expiry_and_an_idle_client_renews_nothing() {
    let (entry, source) = steady();
    entry.bearer().await.unwrap();

    pass(275.0).await;
    assert_eq!(source.requests(), 1);
    assert_eq!(timed(&entry).await, (Ok(1), REQUEST_TIME));

    pass(100_000.0).await;
    assert_eq!(source.requests(), 2);
}

#[tokio::test(start_paused = true)]
async fn fault_04_unusual_lifetimes_cause_few_requests_and_are_capped_at_300_seconds() {
    // Ten calls per second for two minutes. No call fails, and token requests are spaced.
    for (lifetime, most) in [
        (Some(0), 120),
        (Some(1), 120),
        (None, 3),
        (Some(3_600), 1),
        (Some(u64::MAX), 1),
    ] {
        let (entry, source) = entry(move |number| match lifetime {
            Some(seconds) => Ok(token(number, seconds)),
            None => Ok(AccessToken::new(format!("token-{number}"))),
        });
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(120) {
            entry.bearer().await.unwrap();
            pass(0.1).await;
        }
        source.assert_requests(1..=most);
    }
    for stated in [3_600, u64::MAX] {
        let (entry, _) = entry(move |number| Ok(token(number, stated)));
        let token = entry.bearer().await.unwrap();
        assert!(token.expires_in() <= Duration::from_secs(300));
        pass(300.0).await;
        assert!(entry.live().is_none());
    }
}

#[tokio::test(start_paused = true)]
async fn fault_05_the_wall_clock_has_no_effect() {
    // Issued an hour ago, in an hour, or in 1970: the lifetime is 120 s from the request.
    for issued in [0_u64, 1_700_000_000, 1_700_003_600] {
        let claims = format!(r#"{{"iat":{issued},"exp":{}}}"#, issued + 120);
        let (entry, source) = entry(move |_| Ok(AccessToken::new(jwt(&claims))));
        let token = entry.bearer().await.unwrap();
        assert_eq!(token.expires_in() + REQUEST_TIME, Duration::from_secs(120));
        pass(30.0).await;
        assert!(entry.try_bearer().is_some());
        pass(90.0).await;
        assert!(entry.live().is_none());
        assert_eq!(source.requests(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn the_shorter_of_the_stated_and_the_jwt_lifetime_applies() {
    for (claims, stated, expected) in [
        (r#"{"iat":1000,"exp":1020}"#, 300, 20),
        (r#"{"iat":1000,"exp":1300}"#, 20, 20),
        (r#"{"iat":1000,"exp":9000}"#, 3_600, 300),
        (r#"{"iat":1000,"exp":1000}"#, 60, 60),
    ] {
        let stated = Duration::from_secs(stated);
        let (entry, _) = entry(move |_| Ok(AccessToken::new(jwt(claims)).with_lifetime(stated)));
        let lifetime = entry.bearer().await.unwrap().expires_in() + REQUEST_TIME;
        assert_eq!(lifetime, Duration::from_secs(expected), "{claims}");
    }
}

#[test]
fn the_lifetime_of_a_jwt_is_read_without_a_clock() {
    let seconds =
        |claims: &str| lifetime::jwt_lifetime(&jwt(claims)).map(|lifetime| lifetime.as_secs());
    assert_eq!(seconds(r#"{"iat":1000,"exp":1240,"sub":"x"}"#), Some(240));
    assert_eq!(seconds(r#"{"iat":1000.5,"exp":1001.75}"#), Some(1));
    for invalid in [
        r#"{"exp":1240}"#,
        r#"{"iat":1240,"exp":1240}"#,
        r#"{"iat":1240,"exp":1000}"#,
        r#"{"iat":0,"exp":1e300}"#,
        r#"{"iat":"0","exp":"10"}"#,
        "[]",
        "",
    ] {
        assert_eq!(seconds(invalid), None, "{invalid}");
    }
    for invalid in ["", "opaque", "a.b", "..", "a.!!.c", "a.b.c.d"] {
        assert_eq!(lifetime::jwt_lifetime(invalid), None, "{invalid}");
    }
}

#[test]
fn the_schedule_scales_with_the_lifetime_and_is_ordered_for_any_policy() {
    let policy = TokenPolicy {
        soft_fraction: 0.25,
        hard_fraction: 0.10,
        soft_jitter: 0.05,
        ..TokenPolicy::default()
    };
    let start = Instant::now();
    let plan = |policy: &TokenPolicy, seconds: u64, random: f64| {
        let plan = lifetime::schedule(start, Duration::from_secs(seconds), policy, random);
        [plan.renew_soon_at, plan.renew_now_at, plan.expires_at].map(|at| (at - start).as_millis())
    };
    assert_eq!(plan(&policy, 300, 0.5), [225_000, 270_000, 300_000]);
    assert_eq!(plan(&policy, 300, 0.0), [240_000, 270_000, 300_000]);
    assert_eq!(plan(&policy, 300, 1.0), [210_000, 270_000, 300_000]);
    assert_eq!(plan(&policy, 10, 0.5), [7_500, 9_000, 10_000]);
    for fraction in [f64::NAN, f64::INFINITY, -1.0, 0.0, 2.0] {
        let policy = TokenPolicy {
            soft_fraction: fraction,
            hard_fraction: fraction,
            max_lifetime: Duration::MAX,
            ..TokenPolicy::default()
        };
        let longest = lifetime::effective(Some(Duration::MAX), "", &policy);
        let [renew_soon_at, renew_now_at, expires_at] = plan(&policy, longest.as_secs(), 0.9);
        assert!(renew_soon_at <= renew_now_at && renew_now_at <= expires_at);
    }
}
