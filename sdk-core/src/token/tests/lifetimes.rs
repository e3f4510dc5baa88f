//! How long tokens are trusted, and when they are renewed.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::super::lifetime;
use super::*;

fn jwt(claims: &str) -> String {
    format!("e30.{}.c2ln", URL_SAFE_NO_PAD.encode(claims))
}

#[tokio::test(start_paused = true)]
async fn an_hour_of_a_call_each_second_costs_at_most_eighteen_exchanges_and_one_wait() {
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
        source.assert_asked(13..=18);
        assert_eq!(waited, [0]);
    }
}

#[tokio::test(start_paused = true)]
async fn an_ageing_token_is_renewed_behind_the_calls_back() {
    let (entry, source) = steady();
    entry.bearer().await.unwrap();

    pass(200.0).await;
    assert!(entry.try_bearer().is_some(), "fresh for 210 s at least");
    pass(45.0).await;
    assert!(entry.try_bearer().is_none(), "due at 240 s at the latest");
    assert_eq!(timed(&entry).await, (Ok(0), Duration::ZERO));
    sleep(EXCHANGE * 2).await;
    assert_eq!(text(&entry.try_bearer().unwrap()), "Bearer token-1");
    assert_eq!(source.asked(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_dying_token_is_waited_for_and_an_idle_client_renews_nothing() {
    let (entry, source) = steady();
    entry.bearer().await.unwrap();

    pass(275.0).await;
    assert_eq!(source.asked(), 1);
    assert_eq!(timed(&entry).await, (Ok(1), EXCHANGE));

    pass(100_000.0).await;
    assert_eq!(source.asked(), 2);
}

#[tokio::test(start_paused = true)]
async fn fault_04_odd_lifetimes_cause_no_storm_and_nothing_is_trusted_beyond_300_seconds() {
    // For two minutes, ten calls a second: none fails, and exchanges keep their distance.
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
        source.assert_asked(1..=most);
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
async fn fault_05_the_wall_clock_plays_no_part() {
    // Issued an hour ago, an hour ahead, or at the beginning of time: 120 s from when it was asked for.
    for issued in [0_u64, 1_700_000_000, 1_700_003_600] {
        let claims = format!(r#"{{"iat":{issued},"exp":{}}}"#, issued + 120);
        let (entry, source) = entry(move |_| Ok(AccessToken::new(jwt(&claims))));
        let token = entry.bearer().await.unwrap();
        assert_eq!(token.expires_in() + EXCHANGE, Duration::from_secs(120));
        pass(30.0).await;
        assert!(entry.try_bearer().is_some());
        pass(90.0).await;
        assert!(entry.live().is_none());
        assert_eq!(source.asked(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_jwt_that_ends_before_what_is_stated_wins() {
    for (claims, stated, expected) in [
        (r#"{"iat":1000,"exp":1020}"#, 300, 20),
        (r#"{"iat":1000,"exp":1300}"#, 20, 20),
        (r#"{"iat":1000,"exp":9000}"#, 3_600, 300),
        (r#"{"iat":1000,"exp":1000}"#, 60, 60),
    ] {
        let stated = Duration::from_secs(stated);
        let (entry, _) = entry(move |_| Ok(AccessToken::new(jwt(claims)).with_lifetime(stated)));
        let lifetime = entry.bearer().await.unwrap().expires_in() + EXCHANGE;
        assert_eq!(lifetime, Duration::from_secs(expected), "{claims}");
    }
}

#[test]
fn a_jwt_tells_its_lifetime_without_a_clock() {
    let seconds =
        |claims: &str| lifetime::jwt_lifetime(&jwt(claims)).map(|lifetime| lifetime.as_secs());
    assert_eq!(seconds(r#"{"iat":1000,"exp":1240,"sub":"x"}"#), Some(240));
    assert_eq!(seconds(r#"{"iat":1000.5,"exp":1001.75}"#), Some(1));
    for odd in [
        r#"{"exp":1240}"#,
        r#"{"iat":1240,"exp":1240}"#,
        r#"{"iat":1240,"exp":1000}"#,
        r#"{"iat":0,"exp":1e300}"#,
        r#"{"iat":"0","exp":"10"}"#,
        "[]",
        "",
    ] {
        assert_eq!(seconds(odd), None, "{odd}");
    }
    for odd in ["", "opaque", "a.b", "..", "a.!!.c", "a.b.c.d"] {
        assert_eq!(lifetime::jwt_lifetime(odd), None, "{odd}");
    }
}

#[test]
fn the_schedule_scales_with_the_lifetime_and_survives_any_setting() {
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
