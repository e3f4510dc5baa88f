//! An error that a test makes is the one that a call ends with.

use std::error::Error as _;
use std::time::Duration;

use sdk_accounting::operations::GET_ACCOUNTING_OVERVIEW;
use sdk_calendar::operations::SUBMIT_EVENT_COMMAND;
use sdk_core::testing::{self, ErrorBuilder, error as made};
use sdk_core::{
    Effect, Error, ErrorKind as Kind, IdempotencyKey, Operation, RetryPolicy, ScopePolicy, Suite,
};
use sdk_crm::operations::{GET_PERSON, SUBMIT_COMMAND};
use sdk_platform::operations::LIST_APPS;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::task::spawn;
use tokio::time::advance;

use crate::faults::fixtures::{Given, add_person, get_person};
use crate::peer::{self, Peer, Reserved, always, close, reply, script, stall};
use crate::samples::kick_off;
use crate::support::{Clients, HoldClock, assert_says, builder_at, crm_at, key};
use crate::transport::service::Scripted;

/// Where a made call goes.
const MADE: &str = "crm.suite.test:443";

/// All that an error says, without what only a network knows: the address, the system's words, and the audience.
fn told(error: &Error, address: &str) -> String {
    let sources = std::iter::successors(error.source(), |source| (*source).source());
    let cause = sources.last().map(ToString::to_string).unwrap_or_default();
    let mut said = format!("{error} | {}", error.message()).replace(address, MADE);
    match error.kind() {
        Kind::Connect | Kind::Transport if !cause.is_empty() => said = said.replace(&cause, ""),
        Kind::Unauthenticated => said.truncate(said.find("; the token is for the").unwrap()),
        _ => {}
    }
    let headers = ["x-request-id", "retry-after", "set-cookie", "x-own"];
    let headers = headers.map(|name| error.headers().and_then(|all| all.get(name)).cloned());
    let facts = (error.kind(), error.effect(), error.status(), error.code());
    let more = (error.is_retryable(), error.retry_after(), error.attempts());
    let whose = (error.request_id(), error.operation(), error.body());
    let key = error.idempotency_key().map(IdempotencyKey::as_str);
    let command = error.command().map(|it| (it, it.was_sent()));
    let is = (error.is_unavailable(), error.is_idempotency_conflict());
    let log = error.attempt_log().iter();
    let log: Vec<_> = log.map(|it| (it.number, it.kind, it.status)).collect();
    format!("{said} {facts:?} {more:?} {whose:?} {headers:?} {key:?} {command:?} {is:?} {log:?}")
}

/// How each sort of operation ends at a peer that refuses everything.
async fn refusals(suite: &Suite) -> [(&'static Operation, Error); 5] {
    let apps = suite.platform().apps().list();
    let event = kick_off(&suite.calendar());
    let overview = suite.accounting().overview().get();
    [
        (&GET_PERSON, get_person(&suite.crm()).await.unwrap_err()),
        (&SUBMIT_COMMAND, add_person(&suite.crm()).await.unwrap_err()),
        (&SUBMIT_EVENT_COMMAND, event.await.unwrap_err()),
        (&LIST_APPS, apps.await.unwrap_err()),
        (&GET_ACCOUNTING_OVERVIEW, overview.await.unwrap_err()),
    ]
}

#[tokio::test]
async fn a_made_refusal_is_the_one_that_a_reply_of_any_status_becomes() {
    const HEADERS: [(&str, &str); 4] = [
        ("x-request-id", "r-1"),
        ("retry-after", "7"),
        ("set-cookie", "session=canary"),
        ("x-own", "kept"),
    ];
    let bodies = [
        "",
        r#"{"error": {"code": "C", "message": "no", "requestId": "r-2", "retryable": true}}"#,
        r#"{"error": {"code": "IDEMPOTENCY_CONFLICT", "retryable": false}}"#,
        r#"{"code": "flat", "message": "one\ntwo"}"#,
        "<html>gateway</html>",
    ];
    // All bodies with a status that the SDK knows, one with each other.
    let known = [401, 403, 404, 407, 408, 409, 429, 500, 501, 503, 505, 302];
    for status in (400..=599).chain([300, 302]) {
        let one = usize::from(status) % bodies.len();
        for (number, body) in bodies.into_iter().enumerate() {
            if number != one && !known.contains(&status) {
                continue;
            }
            let mut step = reply(status).body(body);
            for (name, value) in HEADERS {
                step = step.header(name, value);
            }
            let down = Scripted::always(step).suite();
            let suite = down.retry(RetryPolicy::none()).suite();
            for (operation, real) in refusals(&suite).await {
                let mut made = testing::reply(operation, status).body(body);
                for (name, value) in HEADERS {
                    made = made.header(name, value);
                }
                made = match (real.command(), real.idempotency_key()) {
                    (Some(command), _) => made.command(command.clone()),
                    (None, Some(own)) => made.idempotency_key(key(own.as_str())),
                    (None, None) => made,
                };
                let made = made.attempts(real.attempts()).error();
                assert_eq!(told(&made, MADE), told(&real, MADE), "{status} {body}");
                assert!(!format!("{made} {made:?}").contains("canary"));
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_made_failure_without_a_reply_is_the_one_of_a_network() {
    let _clock = HoldClock::new();
    let once = RetryPolicy::none();
    let builder = |url: &str| builder_at(url).token_source(Given).retry(once);
    let compare = |url: &str, real: Error, made: ErrorBuilder| {
        let made = made.operation(real.operation().unwrap());
        let made = match real.command() {
            Some(command) => made.command(command.clone()),
            None => made,
        };
        let address = url.split_once("://").unwrap().1;
        assert_eq!(told(&made.build(), MADE), told(&real, address));
    };
    let (nobody, closing) = (Reserved::new(), Peer::start(always(close())));
    let broken = (closing.url(), Kind::Transport);
    for (url, kind) in [(nobody.url(), Kind::Connect), broken] {
        let crm = builder(&url).crm();
        compare(&url, get_person(&crm).await.unwrap_err(), made(kind));
        compare(&url, add_person(&crm).await.unwrap_err(), made(kind));
    }

    let peer = Peer::start(always(stall()));
    let call = spawn(add_person(&builder(&peer.url()).crm()).send());
    peer.saw(1).await;
    advance(Duration::from_secs(10)).await;
    let real = call.await.unwrap().unwrap_err();
    compare(&peer.url(), real, made(Kind::Timeout));

    // A TLS handshake that is never answered.
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}", silent.local_addr().unwrap());
    let crm = builder(&url).connect_timeout(Duration::from_secs(60)).crm();
    let call = spawn(add_person(&crm).send());
    let _held = silent.accept().await.unwrap();
    advance(Duration::from_secs(10)).await;
    let unsent = made(Kind::Timeout).effect(Effect::NotSent);
    compare(&url, call.await.unwrap().unwrap_err(), unsent);
}

#[tokio::test]
async fn a_made_failure_without_a_token_is_the_one_of_a_call() {
    let refused = peer::json(401, &json!({"error": "invalid_client"}));
    let unsent = |kind| made(kind).effect(Effect::NotSent).operation(&GET_PERSON);
    let down = [reply(503), reply(503), reply(503)];
    let facts = |it: &Error| {
        let sort = (it.kind(), it.effect(), it.status());
        (sort, it.is_retryable(), it.attempts())
    };
    for (steps, kind) in [
        (vec![refused], Kind::Unauthenticated),
        (down.into(), Kind::TokenUnavailable),
    ] {
        let peer = Peer::start(script([]).tokens(steps));
        let real = get_person(&crm_at(&peer)).await.unwrap_err();
        let made = unsent(kind).build();
        assert_eq!((facts(&made), made.code()), (facts(&real), real.code()));
    }

    let token = json!({"access_token": "t", "token_type": "Bearer", "scope": "crm:tasks:read"});
    let peer = Peer::start(script([]).tokens([peer::json(200, &token)]));
    let strict = builder_at(&peer.url()).scope_policy(ScopePolicy::Refuse);
    let real = get_person(&strict.crm()).await.unwrap_err();
    let made = unsent(Kind::Forbidden).granted(["crm:tasks:read"]).build();
    assert_eq!(told(&made, MADE), told(&real, MADE));
}

#[test]
fn each_kind_has_an_error_of_its_own() {
    let (not_sent, refused, unknown) = (Effect::NotSent, Effect::Refused, Effect::Unknown);
    for (kind, status, effect, retryable, attempts) in [
        (Kind::Configuration, None, not_sent, false, 0),
        (Kind::InvalidInput, None, not_sent, false, 0),
        (Kind::TokenUnavailable, None, not_sent, true, 0),
        (Kind::Unauthenticated, Some(401), refused, false, 1),
        (Kind::Forbidden, Some(403), refused, false, 1),
        (Kind::Rejected, Some(422), refused, false, 1),
        (Kind::NotFound, Some(404), refused, false, 1),
        (Kind::Conflict, Some(409), refused, false, 1),
        (Kind::RateLimited, Some(429), refused, true, 1),
        (Kind::Unavailable, Some(503), unknown, true, 1),
        (Kind::UnexpectedStatus, Some(302), unknown, false, 1),
        (Kind::Connect, None, not_sent, true, 1),
        (Kind::Transport, None, unknown, true, 1),
        (Kind::Timeout, None, unknown, true, 1),
        (Kind::Decode, Some(200), unknown, false, 1),
        (Kind::SchemaVersion, Some(200), unknown, false, 1),
        (Kind::Pagination, Some(200), unknown, false, 1),
        (Kind::PreparedCommand, None, not_sent, false, 0),
        (Kind::Value, None, not_sent, false, 0),
    ] {
        let error = made(kind).build();
        assert_eq!((error.kind(), error.status()), (kind, status), "{error}");
        let rest = (error.effect(), error.is_retryable(), error.attempts());
        assert_eq!(rest, (effect, retryable, attempts), "{error}");
    }
    // The page that it is about, and the proxy that asks for a credential.
    assert_eq!(made(Kind::Pagination).build().body(), Some(&b"{}"[..]));
    assert_eq!(made(Kind::Connect).status(407).build().status(), Some(407));
}

#[test]
fn a_made_error_takes_what_it_is_told() {
    let wait = Duration::from_secs(30);
    let told = made(Kind::Unavailable).operation(&LIST_APPS).status(500);
    let told = told.code("DOWN").message("not today").request_id("r-7");
    let told = told.retryable(false).retry_after(wait).attempts(2);
    let error = told.build();
    let said = "platform.listApps: 500 unavailable DOWN: not today; after 2 attempts (request r-7)";
    assert_eq!(error.to_string(), said);
    assert!(!error.is_retryable());
    assert_eq!(error.retry_after(), Some(wait));
}

#[test]
fn a_stronger_effect_is_that_of_an_earlier_attempt() {
    let command = testing::prepared(&SUBMIT_COMMAND, &json!({"commandType": "person.create"}));
    let error = made(Kind::NotFound).operation(&SUBMIT_COMMAND);
    let error = error.command(command.clone()).effect(Effect::Unknown);
    let error = error.build();
    assert_eq!((error.status(), error.attempts()), (Some(404), 2));
    assert_says(&error, &["; its effect is unknown; after 2 attempts"]);
    let again = error.into_command().unwrap();
    assert!(again.was_sent() && again.verify().is_ok());
    assert_eq!(again.body(), command.body());
    assert_eq!(again.path(), command.path());
    // The token failed on the way to a second attempt.
    let error = made(Kind::TokenUnavailable).effect(Effect::Unknown).build();
    assert_eq!((error.effect(), error.attempts()), (Effect::Unknown, 1));
}

#[test]
fn a_made_error_of_a_command_has_its_key_and_the_command() {
    let error = made(Kind::Timeout).operation(&SUBMIT_EVENT_COMMAND);
    let error = error.idempotency_key(key("order-4711.delivery")).build();
    let command = error.command().unwrap();
    let own = error.idempotency_key();
    assert_eq!(own.unwrap().as_str(), "order-4711.delivery");
    assert_eq!(command.idempotency_key(), own);
    assert_eq!(command.application(), "calendar");
    assert!(!format!("{error} {error:?} {command:?}").contains("4711"));
}
