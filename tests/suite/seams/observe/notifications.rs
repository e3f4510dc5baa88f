//! The notifications of observers, and the attempt log of an error.

use std::future::{IntoFuture as _, ready};
use std::panic::panic_any;
use std::pin::pin;
use std::time::Duration;

use futures_util::poll;
use sdk_core::testing::ScriptedTransport;
use sdk_core::{App, Effect, ErrorKind, RetryPolicy, SuiteBuilder};
use tokio::time::sleep;

use super::{Adds, Diary, watched};
use crate::fixtures::{Bomb, add_person, committed, get_person, person};
use crate::peer::{Peer, always, close, json, reply, script, token};
use crate::samples::kick_off;
use crate::seams::transport::answered;
use crate::support::{
    Clients, Events, assert_says, assert_tried, builder_at, key, quick_retry, stored,
};

/// An attempt that fails with a status, an attempt that fails with its connection, and a successful attempt.
const RETRIED: &str = "\
call getPerson starts
attempt 1 of (exchange) POST /oauth/token
attempt 1 of (exchange) ok status 200 HTTP/1.1
token crm
attempt 1 of getPerson GET /api/crm/v1/people/{reference}
attempt 1 of getPerson error 503 effect unknown status 503 HTTP/1.1 id R-1
retry getPerson after 1: 503
attempt 2 of getPerson GET /api/crm/v1/people/{reference}
attempt 2 of getPerson error transport effect unknown
retry getPerson after 2: transport
attempt 3 of getPerson GET /api/crm/v1/people/{reference}
attempt 3 of getPerson ok status 200 HTTP/1.1
call getPerson ok after 3 status 200 id R-3";

/// A token endpoint that first fails, and a token that is rejected twice, the second time permanently.
const RENEWED: &str = "\
call getPerson starts
attempt 1 of (exchange) error 503 status 503 HTTP/1.1
token crm
retry getPerson after 1: 401
token crm
call getPerson ok after 2 status 200
call getPerson starts
retry getPerson after 1: 401
attempt 1 of (exchange) error 400 status 400 HTTP/1.1
token crm token_refused
call getPerson error after 1 401 (unauthenticated) refused status 401";

/// Calls that fail with an invalid parameter, with a stored command that is not allowed, and with a stored command of
/// another client.
const UNSENT: &str = "\
call getPerson starts
call getPerson error after 0 invalid_input (invalid_input) not sent
call rawCall starts
call rawCall error after 0 prepared_command (prepared_command) not sent
call submitEventCommand starts
call submitEventCommand error after 0 prepared_command (prepared_command) not sent";

#[tokio::test]
async fn observers_receive_a_call_from_its_start_to_its_end() {
    let (diary, _peer, crm) = watched(script([
        reply(503).header("x-request-id", "R-1"),
        close(),
        person().header("x-request-id", "R-3"),
    ]));
    get_person(&crm).await.unwrap();
    let all_but_waits = ["call", "attempt", "retry", "token"];
    assert_eq!(diary.text(&all_but_waits), RETRIED);

    let tokens = [reply(503), token("t-1"), token("t-2"), reply(400)];
    let (diary, _peer, crm) = watched(script([reply(401), person(), reply(401)]).tokens(tokens));
    get_person(&crm).await.unwrap();
    let error = get_person(&crm).await.unwrap_err();
    assert!(error.is_unauthenticated(), "{error}");
    let some = ["attempt 1 of (exchange) e", "retry", "token", "call"];
    assert_eq!(diary.text(&some), RENEWED);
}

#[tokio::test]
async fn a_call_that_is_rejected_locally_ends_as_a_call() {
    let (diary, peer, crm) = watched(always(person()));

    crm.people().get("nobody").await.unwrap_err();
    let raw = crm.raw_call((sdk_core::Method::Post, "/api/x"));
    let raw = raw.body(serde_json::json!({})).prepare();
    crm.send_prepared(&raw.unwrap()).await.unwrap_err();
    let elsewhere = builder_at(&peer.url()).audience(App::Calendar, "another");
    let command = kick_off(&elsewhere.calendar()).prepare();
    let here = builder_at(&peer.url()).observer(diary.clone());
    let sending = here.calendar().send_prepared(&command.unwrap());
    sending.await.unwrap_err();

    assert_eq!(diary.all().join("\n"), UNSENT);
    assert_eq!(peer.requests().len() + peer.exchanges().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn observers_receive_the_durations_of_waits_attempts_and_calls() {
    let (diary, second) = (Diary::default(), Duration::from_secs(1));
    let suite = answered(move |_| async move {
        sleep(second).await;
        Ok(reply(503).header("retry-after", "2").in_memory())
    });
    let retry = quick_retry().with_attempts(2);
    let crm = suite.observer(diary.clone()).retry(retry).crm();

    crm.prewarm().await.unwrap();
    let error = get_person(&crm).await.unwrap_err();

    let waits = diary.text(&["wait"]);
    let expected = "wait crm.(no call) token 0\nwait crm.getPerson retry_after ";
    let millis: u64 = waits.strip_prefix(expected).unwrap().parse().unwrap();
    assert!((2_000..=3_500).contains(&millis), "{millis}");
    let printed = diary.printed();
    let total = 2 * second + Duration::from_millis(millis);
    for (event, length) in [("(AttemptEnded", second), ("(CallEnded", total)] {
        let line = printed.lines().find(|line| line.starts_with(event));
        assert!(
            line.unwrap().ends_with(&format!(", {length:?})")),
            "{line:?}"
        );
    }
    // The attempt log of an error has the same durations.
    assert_eq!(error.attempt_log()[0].duration, second);
}

#[tokio::test]
async fn observers_receive_the_protocol_version_of_a_response() {
    for (version, got) in [
        (http::Version::HTTP_10, "1.0"),
        (http::Version::HTTP_11, "1.1"),
        (http::Version::HTTP_2, "2"),
        (http::Version::HTTP_3, "3"),
    ] {
        let diary = Diary::default();
        let suite = answered(move |_| {
            let mut reply = person().in_memory();
            *reply.version_mut() = version;
            ready(Ok(reply))
        });
        let crm = suite.observer(diary.clone()).crm();
        get_person(&crm).await.unwrap();
        let line = format!("attempt 1 of getPerson ok status 200 HTTP/{got}");
        assert_eq!(diary.text(&["attempt 1 of getPerson ok"]), line);
    }
}

#[tokio::test(start_paused = true)]
async fn a_denied_retry_has_its_reason() {
    const EIGHT: Duration = Duration::from_secs(8);
    type Change = fn(SuiteBuilder) -> SuiteBuilder;
    let nine = || {
        let busy = http::Response::builder().status(503);
        let busy = busy.header("retry-after", "9").body("").unwrap();
        ScriptedTransport::new().answer(busy)
    };
    let stalled = ScriptedTransport::new().stalled();
    let rows: [(ScriptedTransport, Change, &str); 4] = [
        (nine(), |it| it.retry(RetryPolicy::none()), "503, attempts"),
        (nine(), |it| it.retry_budget(0), "503, budget"),
        (nine(), |it| it.deadline(EIGHT), "503, deadline"),
        // An attempt that ends at the deadline leaves no time for a retry either.
        (stalled, |it| it.deadline(EIGHT), "timeout, deadline"),
    ];
    for (transport, change, reason) in rows {
        let diary = Diary::default();
        let builder = transport.suite().timeout(EIGHT * 2);
        let crm = change(builder.observer(diary.clone())).crm();
        get_person(&crm).await.unwrap_err();
        let denied = format!("denied getPerson after 1: {reason}");
        assert_eq!(diary.text(&["denied", "retry"]), denied);
    }
    // If a retry isn't allowed at all, it isn't reported as denied.
    let (diary, _peer, crm) = watched(always(reply(503)));
    add_person(&crm).await.unwrap_err();
    assert_eq!(diary.text(&["denied", "retry"]), "");
}

#[tokio::test]
async fn fault_91_a_panic_of_an_observer_or_its_payload_affects_no_call_and_no_other_observer() {
    let (events, _guard) = Events::here();
    let panics: [fn(); 2] = [|| panic!("by an observer"), || panic_any(Bomb::default())];
    for panics in panics {
        let diary = Diary::default();
        let peer = Peer::start([close(), committed(), committed()]);
        let builder = builder_at(&peer.url()).observer(Diary::then(panics));
        let crm = builder.observer(diary.clone()).crm();

        let command = add_person(&crm).idempotency_key(key("key-of-the-panic"));
        let error = command.retry(RetryPolicy::none()).await.unwrap_err();
        let command = error.into_command().unwrap();
        crm.send_prepared(&command).await.unwrap();
        // Spans and observers are notified while the caller's own panic unwinds.
        let call = add_person(&crm).into_future();
        let panicked = tokio::spawn(async move {
            let mut call = pin!(call);
            assert!(poll!(&mut call).is_pending());
            panic!("by the caller");
        });

        let panic = panicked.await.unwrap_err().into_panic();
        assert_eq!(panic.downcast_ref(), Some(&"by the caller"));
        assert_eq!(diary.lines(&["call"]).len(), 6);
        let got = events.take();
        let got = got.matches("an observer panicked").count();
        assert_eq!(got, diary.all().len(), "{:?}", diary.all());
    }
}

#[tokio::test]
async fn an_observer_adds_headers_but_replaces_none() {
    let (events, _guard) = Events::here();
    let peer = Peer::start(script([reply(503), committed(), committed()]));
    let forged = vec![
        ("traceparent", "00-of-observer-01"),
        ("x-own", "of-observer"),
        ("authorization", "Bearer forged"),
        ("Idempotency-Key", "forged-key-of-an-observer"),
        ("cookie", "forged"),
        ("If-None-Match", "forged"),
        ("content-type", "text/forged"),
        ("bad name", "x"),
        ("x-bad", "a\r\nforged: yes"),
    ];
    let second = Adds(vec![("traceparent", "00-of-the-second-01")]);
    let builder = builder_at(&peer.url()).observer(Adds(forged));
    let crm = builder.observer(second).crm();

    let add = || add_person(&crm).idempotency_key(key("key-of-the-caller"));
    let command = add().header("x-own", "of-caller").prepare().unwrap();
    crm.send_prepared(&stored(&command)).await.unwrap();
    add().await.unwrap();

    let seen = peer.requests();
    let got = [("of-caller", "1"), ("of-caller", "2"), ("of-observer", "1")];
    assert_eq!(seen.len(), got.len());
    for (request, (own, number)) in seen.iter().zip(got) {
        assert_eq!(request.header("x-own"), Some(own));
        assert_eq!(request.header("traceparent"), Some("00-of-observer-01"));
        assert_eq!(request.header("x-attempt"), Some(number));
        assert_eq!(request.key(), Some("key-of-the-caller"));
    }
    assert_eq!(peer.exchanges()[0].header("x-attempt"), Some("1"));
    let sent = format!("{seen:?} {:?}", peer.exchanges());
    assert!(!sent.contains("forged"), "{sent}");
    let dropped = events.lines("WARN", &["header was ignored"]);
    // Seven headers are ignored for each of three attempts and one exchange.
    assert_eq!(dropped.len(), 28, "{dropped:?}");
    assert!(!events.text().contains("Bearer forged"));
    // A prepared command contains none of these headers.
    let text = serde_json::to_string(&command).unwrap();
    assert!(!text.contains("observer"), "{text}");
}

#[tokio::test]
async fn an_observer_adds_at_most_as_many_headers_as_a_caller() {
    let scripted = ScriptedTransport::new().json(200, "{}");
    let many = (0..200).map(|it| (format!("x-own-{it}"), "1")).collect();
    let crm = scripted.suite().observer(Adds(many)).crm();
    get_person(&crm).await.unwrap();
    let sent = scripted.requests().remove(0);
    let own = |name: &&http::HeaderName| name.as_str().starts_with("x-own-");
    assert_eq!(sent.headers().keys().filter(own).count(), 128);
}

#[tokio::test]
async fn events_contain_no_secret_and_no_header_value() {
    let diary = Diary::default();
    let echo = "id-of canary-of-header secret client-secret-of-observers";
    let body = serde_json::json!({"code": echo, "message": echo, "requestId": echo});
    let busy = json(503, &body).header("x-request-id", echo);
    let peer = Peer::start(always(busy));
    let credentials = sdk_core::ClientCredentials::new("client", "client-secret-of-observers");
    let builder = builder_at(&peer.url()).credentials(credentials);
    let builder = builder.observer(Adds(vec![("x-of-observer", "canary-of-observer")]));
    let builder = builder.observer(diary.clone());
    let crm = builder.retry(quick_retry().with_attempts(2)).crm();

    let call = add_person(&crm).idempotency_key("canary-key-of-a-command");
    let call = call.header("x-own", "canary-of-header");
    let error = call.query("own", "canary-of-query").await.unwrap_err();

    let (kind, effect) = (error.kind(), error.effect());
    assert_tried(&error, kind, effect, 2);
    let (lines, printed) = (diary.all().join("\n"), diary.printed());
    assert_says(
        &lines,
        &["call submitCommand error after 2", "id [redacted]"],
    );
    let events = ["ExtraHeaders", "AttemptEnded", "Renewal", "CallEnded"];
    assert_says(&printed, &events);
    assert_says(&printed, &["x-own", "x-of-observer"]);
    for secret in ["canary", "client-secret-of"] {
        assert!(!lines.contains(secret), "{lines}");
        assert!(!printed.contains(secret), "{printed}");
    }
}

#[tokio::test]
async fn an_error_lists_its_attempts_in_one_line_or_in_full() {
    let echo = "secret-of-attempts";
    let body = serde_json::json!({"requestId": format!("R-2 {echo}"), "message": "no"});
    let steps = [reply(401), close(), json(503, &body), reply(404)];
    let peer = Peer::start(script(steps));
    let credentials = sdk_core::ClientCredentials::new("client", echo);
    let crm = builder_at(&peer.url()).credentials(credentials).crm();

    let error = get_person(&crm).await.unwrap_err();

    let log = error.attempt_log();
    let got = log
        .iter()
        .map(|it| (it.number, it.kind, it.status, it.effect));
    let expected = [
        (1, ErrorKind::Unauthenticated, Some(401), Effect::Refused),
        (2, ErrorKind::Transport, None, Effect::Unknown),
        (3, ErrorKind::Unavailable, Some(503), Effect::Unknown),
        (4, ErrorKind::NotFound, Some(404), Effect::Refused),
    ];
    assert_eq!(got.collect::<Vec<_>>(), expected);
    assert!(log.is_sorted_by_key(|attempt| attempt.began_after));
    let shown = format!("{error:#?}");
    assert_says(&shown, &["number: 3", "503", "[redacted]"]);
    assert!(!shown.contains(echo), "{shown}");
    let line = error.to_string();
    assert_says(&line, &["after 4 attempts"]);
    assert!(line.lines().count() == 1 && !line.contains("503"), "{line}");
}

#[tokio::test(start_paused = true)]
async fn a_long_attempt_log_keeps_its_last_attempts_with_waits_and_times() {
    let busy = || {
        let busy = http::Response::builder().status(503);
        busy.header("retry-after", "5").body("").unwrap()
    };
    let scripted = (0..40).fold(ScriptedTransport::new(), |it, _| it.answer(busy()));
    let builder = scripted.suite().retry(quick_retry().with_attempts(40));
    let crm = builder.deadline(Duration::MAX).retry_budget(u32::MAX).crm();

    let error = get_person(&crm).await.unwrap_err();

    assert_eq!(error.attempts(), 40);
    let log = error.attempt_log();
    let numbers: Vec<_> = log.iter().map(|it| it.number).collect();
    assert_eq!(numbers, (9..=40).collect::<Vec<_>>());
    let mut began = Duration::ZERO;
    for attempt in log {
        assert!(attempt.waited >= Duration::from_secs(5), "{attempt:?}");
        assert!(attempt.began_after >= began + attempt.waited, "{attempt:?}");
        assert!(attempt.duration < Duration::from_secs(1), "{attempt:?}");
        began = attempt.began_after;
    }
    let unsent = crm.people().get("nobody").await.unwrap_err();
    assert_eq!(unsent.attempt_log(), []);
}
