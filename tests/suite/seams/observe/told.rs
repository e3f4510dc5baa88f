//! Observers, by what they write down.

use std::future::{IntoFuture as _, poll_fn, ready};
use std::panic::panic_any;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use sdk_core::observe::{
    AttemptEnded, CallEnded, ExtraHeaders, ObservedAttempt, ObservedCall, Wait,
};
use sdk_core::testing::ScriptedTransport;
use sdk_core::{App, Observer, RetryPolicy, SchemaPolicy, SuiteBuilder};

use super::{Diary, Panics, watched};
use crate::fixtures::{Bomb, add_person, committed, created, get_person, person};
use crate::peer::{Peer, always, close, json, reply, script, token};
use crate::samples::kick_off;
use crate::seams::transport::service::Scripted;
use crate::support::{Clients, Events, builder_at, key, quick_retry, stored};

#[tokio::test]
async fn a_call_is_told_from_its_start_to_its_end() {
    let (diary, _peer, crm) = watched(script([
        reply(503).header("x-request-id", "R-1"),
        close(),
        person().header("x-request-id", "R-3"),
    ]));

    get_person(&crm).await.unwrap();

    let route = "/api/crm/v1/people/{reference}";
    let expected = [
        "call getPerson starts".to_owned(),
        "attempt 1 of (exchange) POST /oauth/token".to_owned(),
        "attempt 1 of (exchange) ok status 200 HTTP/1.1".to_owned(),
        "token crm".to_owned(),
        format!("attempt 1 of getPerson GET {route}"),
        "attempt 1 of getPerson error 503 effect unknown status 503 HTTP/1.1 id R-1".to_owned(),
        "retry getPerson after 1: 503".to_owned(),
        format!("attempt 2 of getPerson GET {route}"),
        "attempt 2 of getPerson error transport effect unknown".to_owned(),
        "retry getPerson after 2: transport".to_owned(),
        format!("attempt 3 of getPerson GET {route}"),
        "attempt 3 of getPerson ok status 200 HTTP/1.1".to_owned(),
        "call getPerson ok after 3 status 200 id R-3".to_owned(),
    ];
    let told = diary.lines(&["call", "attempt", "retry", "token"]);
    assert_eq!(told, expected);
}

#[tokio::test]
async fn a_refused_token_and_exchange_are_told_too() {
    let tokens = [reply(503), token("t-1"), token("t-2"), reply(400)];
    let (diary, _peer, crm) = watched(script([reply(401), person(), reply(401)]).tokens(tokens));

    get_person(&crm).await.unwrap();
    let error = get_person(&crm).await.unwrap_err();

    assert!(error.is_unauthenticated(), "{error}");
    let expected = [
        "call getPerson starts",
        "attempt 1 of (exchange) error 503 status 503 HTTP/1.1",
        "token crm",
        "retry getPerson after 1: 401",
        "token crm",
        "call getPerson ok after 2 status 200",
        "call getPerson starts",
        "retry getPerson after 1: 401",
        "attempt 1 of (exchange) error 400 status 400 HTTP/1.1",
        "token crm token_refused",
        "call getPerson error after 1 401 (unauthenticated) refused status 401",
    ];
    assert_eq!(
        diary.lines(&["attempt 1 of (exchange) e", "retry", "token", "call"]),
        expected
    );
}

#[tokio::test]
async fn a_call_that_is_refused_before_the_wire_ends_as_a_call() {
    let (diary, peer, crm) = watched(always(person()));

    // By a parameter, by an option, and by a stored command that is not allowed.
    crm.people().get("nobody").await.unwrap_err();
    get_person(&crm).header("cookie", "a").await.unwrap_err();
    let raw = crm.raw_call((sdk_core::Method::Post, "/api/x"));
    let raw = raw.body(serde_json::json!({})).prepare();
    crm.send_prepared(&raw.unwrap()).await.unwrap_err();
    // Nor is one that belongs to another client.
    let elsewhere = builder_at(&peer.url()).audience(App::Calendar, "another");
    let command = kick_off(&elsewhere.calendar()).prepare();
    let here = builder_at(&peer.url()).observer(diary.clone());
    let sending = here.calendar().send_prepared(&command.unwrap());
    sending.await.unwrap_err();

    let refused = |call: &str, kind: &str| {
        let ended = format!("call {call} error after 0 {kind} ({kind}) not sent");
        [format!("call {call} starts"), ended]
    };
    let expected = [
        refused("getPerson", "invalid_input"),
        refused("getPerson", "invalid_input"),
        refused("rawCall", "prepared_command"),
        refused("submitEventCommand", "prepared_command"),
    ];
    assert_eq!(diary.all(), expected.concat());
    assert_eq!(peer.requests().len() + peer.exchanges().len(), 0);
}

#[tokio::test]
async fn a_replay_that_only_the_status_shows_is_told() {
    let (diary, _peer, crm) = watched([committed(), committed().with_status(200)]);
    add_person(&crm).await.unwrap();
    add_person(&crm).await.unwrap();
    let expected = [
        "call submitCommand ok after 1 status 201",
        "call submitCommand ok after 1 status 200 replayed",
    ];
    assert_eq!(diary.lines(&["call submitCommand ok"]), expected);
}

#[tokio::test]
async fn replays_and_tolerated_mismatches_are_told() {
    let diary = Diary::default();
    let other = br#"{"schemaVersion":"suite-calendar-command-result.v9","outcome":"succeeded","operation":"event.create","publicReference":"EVT-1","recordVersion":1,"replayed":true,"other":true}"#;
    let replayed = created().body(*other).with_status(200);
    let peer = Peer::start(script([created(), replayed]));
    let builder = builder_at(&peer.url()).schema_policy(SchemaPolicy::Warn);
    let calendar = builder.observer(diary.clone()).calendar();

    kick_off(&calendar).await.unwrap();
    kick_off(&calendar).await.unwrap();

    let expected = [
        "call submitEventCommand ok after 1 status 201",
        "call submitEventCommand ok after 1 status 200 replayed mismatch",
    ];
    assert_eq!(diary.lines(&["call submitEventCommand ok"]), expected);
}

#[tokio::test(start_paused = true)]
async fn waits_are_told_with_their_reasons_and_lengths() {
    let diary = Diary::default();
    let down = Scripted::always(reply(503).header("retry-after", "2"));
    let builder = down.suite().observer(diary.clone());
    let crm = builder.retry(quick_retry().with_attempts(2)).crm();

    crm.prewarm().await.unwrap();
    get_person(&crm).await.unwrap_err();

    let waits = diary.lines(&["wait"]);
    let [token, retry] = &waits[..] else {
        panic!("{waits:?}")
    };
    assert!(token.starts_with("wait crm.(no call) token "), "{waits:?}");
    let millis = retry.strip_prefix("wait crm.getPerson retry_after ");
    let millis: u64 = millis.unwrap().parse().unwrap();
    assert!((2_000..=3_500).contains(&millis), "{millis}");
}

/// Writes how long calls and attempts took.
#[derive(Clone, Default)]
struct Watch(Arc<Mutex<Vec<(&'static str, Duration)>>>);

impl Observer for Watch {
    fn call_ended(&self, ended: &CallEnded<'_>) {
        self.0.lock().unwrap().push(("call", ended.duration()));
    }

    fn attempt_ended(&self, ended: &AttemptEnded<'_>) {
        self.0.lock().unwrap().push(("attempt", ended.duration()));
    }
}

#[tokio::test(start_paused = true)]
async fn calls_and_attempts_tell_how_long_they_took() {
    let watch = Watch::default();
    let second = Duration::from_secs(1);
    let slow = |step: crate::peer::Step| {
        Scripted::new(move |_| {
            let reply = step.clone().in_memory();
            async move {
                tokio::time::sleep(second).await;
                Ok(reply)
            }
        })
    };
    let crm = slow(person()).suite().observer(watch.clone()).crm();
    crm.prewarm().await.unwrap();
    get_person(&crm).await.unwrap();
    let told = watch.0.lock().unwrap()[1..].to_vec();
    assert_eq!(told, [("attempt", second), ("call", second)]);
    // An error tells the same of its attempts.
    let crm = slow(reply(422)).suite().crm();
    let error = get_person(&crm).await.unwrap_err();
    assert_eq!(error.attempt_log()[0].duration, second);
}

#[tokio::test]
async fn an_attempt_tells_the_protocol_of_its_reply() {
    for (version, told) in [
        (http::Version::HTTP_10, "1.0"),
        (http::Version::HTTP_11, "1.1"),
        (http::Version::HTTP_2, "2"),
        (http::Version::HTTP_3, "3"),
    ] {
        let diary = Diary::default();
        let service = Scripted::new(move |_| {
            let mut reply = person().in_memory();
            *reply.version_mut() = version;
            ready(Ok(reply))
        });
        get_person(&service.suite().observer(diary.clone()).crm())
            .await
            .unwrap();
        let line = format!("attempt 1 of getPerson ok status 200 HTTP/{told}");
        assert_eq!(diary.lines(&["attempt 1 of getPerson ok"]), [line]);
    }
}

#[tokio::test]
async fn an_observer_adds_as_many_headers_as_a_caller() {
    struct Adds;
    impl Observer for Adds {
        fn attempt_started(&self, _: &ObservedAttempt<'_>, headers: &mut ExtraHeaders<'_>) {
            (0..200).for_each(|it| headers.add(&format!("x-own-{it}"), "1"));
        }
    }
    let service = Scripted::always(person());
    get_person(&service.suite().observer(Adds).crm())
        .await
        .unwrap();
    let own = |name: &&http::HeaderName| name.as_str().starts_with("x-own-");
    assert_eq!(service.seen()[0].headers.keys().filter(own).count(), 128);
}

#[tokio::test]
async fn a_denied_retry_says_what_was_lacking() {
    type Change = fn(SuiteBuilder) -> SuiteBuilder;
    let cases: [(&str, Change); 3] = [
        ("attempts", |it| {
            it.retry(RetryPolicy::default().with_attempts(1))
        }),
        ("budget", |it| it.retry_budget(0)),
        ("deadline", |it| it.deadline(Duration::from_secs(8))),
    ];
    for (reason, change) in cases {
        let diary = Diary::default();
        let peer = Peer::start(always(reply(503).header("retry-after", "9")));
        let builder = change(builder_at(&peer.url()).observer(diary.clone()));

        get_person(&builder.crm()).await.unwrap_err();

        let denied = format!("denied getPerson after 1: 503, {reason}");
        assert_eq!(diary.lines(&["denied", "retry"]), [denied]);
    }
    // What must not be attempted again is not denied.
    let (diary, _peer, crm) = watched(always(reply(503)));
    add_person(&crm).await.unwrap_err();
    assert_eq!(diary.lines(&["denied", "retry"]), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_the_deadline_cuts_leaves_no_time_either() {
    let diary = Diary::default();
    let transport = ScriptedTransport::new().stalled();
    let crm = transport.suite().observer(diary.clone());
    let crm = crm.deadline(Duration::from_secs(8)).crm();
    get_person(&crm).await.unwrap_err();
    let denied = "denied getPerson after 1: timeout, deadline";
    assert_eq!(diary.lines(&["denied", "retry"]), [denied]);
}

#[tokio::test]
async fn a_panic_of_an_observer_touches_neither_the_call_nor_the_other_observers() {
    let (events, _guard) = Events::here();
    let diary = Diary::default();
    let peer = Peer::start(script([close(), committed()]));
    let builder = builder_at(&peer.url()).observer(Panics);
    let crm = builder.observer(diary.clone()).crm();

    let command = add_person(&crm).idempotency_key(key("key-of-the-panic"));
    let error = command.retry(RetryPolicy::none()).await.unwrap_err();
    let command = error.into_command().unwrap();
    crm.send_prepared(&command).await.unwrap();

    assert_eq!(diary.lines(&["call"]).len(), 4);
    assert_eq!(diary.lines(&["attempt"]).len(), 6);
    let told = events.lines("ERROR", &["an observer panicked"]);
    // A start, an end, a wait and a renewal, and twice as many of attempts.
    assert!(told.len() > 8, "{told:?}");
}

/// Panics with a payload that panics when it is dropped.
struct Explodes;

impl Observer for Explodes {
    fn call_started(&self, _: &ObservedCall<'_>) {
        panic_any(Bomb::default());
    }

    fn call_ended(&self, _: &CallEnded<'_>) {
        panic_any(Bomb::default());
    }

    fn waited(&self, _: &Wait<'_>) {
        panic_any(Bomb::default());
    }
}

#[tokio::test]
async fn fault_91_a_panic_whose_payload_panics_when_dropped_ends_no_call() {
    let (events, _guard) = Events::here();
    let peer = Peer::start(script([committed(), committed()]));
    let crm = builder_at(&peer.url()).observer(Explodes).crm();

    add_person(&crm).await.unwrap();
    // Spans and observers are notified while the caller's own panic unwinds.
    let call = add_person(&crm).into_future();
    let panicked = tokio::spawn(async move {
        let mut call = pin!(call);
        let begun = poll_fn(|context| {
            let _ = call.as_mut().poll(context);
            Poll::Ready(())
        });
        begun.await;
        panic!("by the caller");
    });

    let panic = panicked.await.unwrap_err().into_panic();
    assert_eq!(panic.downcast_ref(), Some(&"by the caller"));
    assert!(events.lines("ERROR", &["an observer panicked"]).len() >= 4);
}

/// Adds these headers to every attempt.
pub(super) struct Adds(pub(super) &'static [(&'static str, &'static str)]);

impl Observer for Adds {
    fn attempt_started(&self, attempt: &ObservedAttempt<'_>, headers: &mut ExtraHeaders<'_>) {
        for (name, value) in self.0 {
            headers.add(name, value);
        }
        headers.add("x-attempt", &attempt.number.to_string());
    }
}

#[tokio::test]
async fn an_observer_adds_headers_but_none_of_the_sdk_or_the_caller() {
    let (events, _guard) = Events::here();
    let peer = Peer::start(script([reply(503), committed(), committed()]));
    let crm = builder_at(&peer.url())
        .observer(Adds(&[
            ("traceparent", "00-of-observer-01"),
            ("x-own", "of-observer"),
            ("authorization", "Bearer forged"),
            ("Idempotency-Key", "forged-key-of-an-observer"),
            ("cookie", "forged"),
            ("If-None-Match", "forged"),
            ("content-type", "text/forged"),
            ("bad name", "x"),
            ("x-bad", "a\r\nforged: yes"),
        ]))
        .observer(Adds(&[("traceparent", "00-of-the-second-01")]))
        .crm();

    let add = || add_person(&crm).idempotency_key(key("key-of-the-caller"));
    let command = add().header("x-own", "of-caller").prepare().unwrap();
    crm.send_prepared(&stored(&command)).await.unwrap();
    add().await.unwrap();

    let [first, again, second] = &peer.requests()[..] else {
        panic!("three requests")
    };
    let second = (second, "of-observer", "1");
    for (request, own, number) in [(first, "of-caller", "1"), (again, "of-caller", "2"), second] {
        assert_eq!(request.header("x-own"), Some(own));
        assert_eq!(request.header("traceparent"), Some("00-of-observer-01"));
        assert_eq!(request.header("x-attempt"), Some(number));
        assert_eq!(request.key(), Some("key-of-the-caller"));
        let text = format!("{request:?}");
        assert!(!text.contains("forged"), "{text}");
    }
    assert_eq!(peer.exchanges()[0].header("x-attempt"), Some("1"));
    assert!(!format!("{:?}", peer.exchanges()[0]).contains("forged"));
    let dropped = events.lines("WARN", &["header is left out"]);
    // Seven each, three attempts and an exchange.
    assert_eq!(dropped.len(), 28, "{dropped:?}");
    assert!(!events.text().contains("Bearer forged"));
    // A prepared command holds none of them.
    let text = serde_json::to_string(&command).unwrap();
    assert!(!text.contains("observer"), "{text}");
}

#[tokio::test]
async fn what_observers_are_told_holds_no_secret() {
    let diary = Diary::default();
    let echo = "id-of secret client-secret-of-observers";
    let body = serde_json::json!({"code": echo, "message": echo, "requestId": echo});
    let steps = [
        json(503, &body).header("x-request-id", echo),
        person().header("x-request-id", echo),
    ];
    let peer = Peer::start(script(steps));
    let credentials = sdk_core::ClientCredentials::new("client", "client-secret-of-observers");
    let builder = builder_at(&peer.url()).credentials(credentials);
    let crm = builder.observer(diary.clone()).crm();

    let call = get_person(&crm).query("filter", "of-the-caller");
    call.await.unwrap();

    let told = diary.all().join("\n");
    for secret in ["client-secret-of", "of-the-caller"] {
        assert!(!told.contains(secret), "{told}");
    }
    assert!(told.contains("call getPerson ok after 2"), "{told}");
}
