//! An error that a test makes is the one that a call ends with.

use std::error::Error as _;
use std::time::Duration;

use sdk_core::{
    App, Effect, Error, ErrorKind, Operation, RetryPolicy, ScopePolicy, Suite, testing,
};
use sdk_crm::operations::{GET_PERSON, SUBMIT_COMMAND};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::task::spawn;
use tokio::time::advance;

use crate::faults::fixtures::{Given, add_person, get_person};
use crate::peer::{self, Peer, Reserved, always, close, reply, script, stall};
use crate::samples::{draft, kick_off};
use crate::support::{Clients, HoldClock, builder_at, key};

/// Where a made call goes.
const MADE: &str = "crm.localhost:80";

/// What an error says, without what only a network can tell: the address, the system's words, and the audience.
fn told(error: &Error, address: &str) -> String {
    let sources = std::iter::successors(error.source(), |source| (*source).source());
    let cause = sources.last().map(ToString::to_string).unwrap_or_default();
    let said = format!("{error} | {}", error.message());
    let said = said.replace(address, MADE);
    let said = match error.kind() {
        ErrorKind::Connect | ErrorKind::Transport if !cause.is_empty() => {
            said.replace(&cause, "(cause)")
        }
        ErrorKind::Unauthenticated => {
            let (before, hint) = said
                .split_once("; the token is for the audience ")
                .unwrap_or_else(|| panic!("{said}"));
            assert!(
                hint.contains(", set by ") || hint.contains("SUITE_"),
                "{hint}"
            );
            before.to_owned()
        }
        _ => said,
    };
    let headers = ["x-request-id", "retry-after", "set-cookie", "x-own"];
    let headers = headers.map(|name| error.headers().and_then(|all| all.get(name)).cloned());
    let facts = (error.kind(), error.effect(), error.status(), error.code());
    let more = (error.is_retryable(), error.retry_after(), error.attempts());
    let whose = (error.request_id(), error.operation().map(|it| it.id));
    let key = error.idempotency_key().map(|key| key.as_str().to_owned());
    let command = error.command().map(|command| (command, command.was_sent()));
    let is = (error.is_unavailable(), error.is_idempotency_conflict());
    format!(
        "{said}\n{facts:?} {more:?} {whose:?} {headers:?} {:?} {key:?} {command:?} {is:?}",
        error.body()
    )
}

/// A reply made for a test, to the call that ended with this error.
fn made(operation: &'static Operation, real: &Error, status: u16) -> testing::ReplyBuilder {
    let made = testing::reply(operation, status).attempts(real.attempts());
    match (real.command(), real.idempotency_key()) {
        (Some(command), _) => made.command(command.clone()),
        (None, Some(own)) => made.idempotency_key(key(own.as_str())),
        (None, None) => made,
    }
}

/// How each kind of operation ends at a peer that refuses everything.
async fn refusals(suite: &Suite) -> [(&'static Operation, Error); 5] {
    let accounting = suite.accounting();
    let invoice = accounting
        .invoice_drafts()
        .create(&draft("FCP-ABCDEFGHIJKL", 1));
    [
        (&GET_PERSON, get_person(&suite.crm()).await.unwrap_err()),
        (&SUBMIT_COMMAND, add_person(&suite.crm()).await.unwrap_err()),
        (
            &sdk_calendar::operations::SUBMIT_EVENT_COMMAND,
            kick_off(&suite.calendar()).await.unwrap_err(),
        ),
        (
            &sdk_accounting::operations::CREATE_INVOICE_DRAFT,
            invoice.await.unwrap_err(),
        ),
        (
            &sdk_platform::operations::LIST_APPS,
            suite.platform().apps().list().await.unwrap_err(),
        ),
    ]
}

#[tokio::test]
async fn a_made_refusal_is_the_one_that_a_reply_of_any_status_becomes() {
    let bodies = [
        "",
        r#"{"error": {"code": "C", "message": "no", "requestId": "r-2", "retryable": true}}"#,
        r#"{"error": {"code": "IDEMPOTENCY_CONFLICT", "retryable": false}}"#,
        r#"{"code": "flat", "message": "one\ntwo"}"#,
        "<html>gateway</html>",
    ];
    let own = [401, 403, 404, 407, 408, 409, 429, 500, 501, 503, 505, 302];
    let table = (400..=599).chain([300, 302]).flat_map(|status: u16| {
        // All bodies for a status that the SDK knows, one for each other.
        let each = bodies.into_iter().enumerate();
        let some =
            each.filter(move |(at, _)| own.contains(&status) || usize::from(status) % 5 == *at);
        some.map(move |(_, body)| (status, body))
    });
    let mut compared = 0;
    for (status, body) in table {
        let step = reply(status)
            .header("x-request-id", "r-1")
            .header("retry-after", "7")
            .header("set-cookie", "session=canary")
            .header("x-own", "kept")
            .body(body);
        let peer = Peer::start(always(step));
        let suite = builder_at(&peer.url()).retry(RetryPolicy::none()).suite();
        for (operation, real) in refusals(&suite).await {
            let made = made(operation, &real, status)
                .header("x-request-id", "r-1")
                .header("retry-after", "7")
                .header("set-cookie", "session=canary")
                .header("x-own", "kept")
                .body(body)
                .error();
            assert_eq!(told(&made, MADE), told(&real, MADE), "{status} {body}");
            assert!(!format!("{made} {made:?}").contains("canary"));
            compared += 1;
        }
    }
    assert!(compared > 1_200, "{compared}");
}

#[tokio::test(start_paused = true)]
async fn a_made_failure_without_a_reply_is_the_one_of_a_network() {
    let _clock = HoldClock::new();
    let at = |url: &str| {
        builder_at(url)
            .token_source(Given)
            .retry(RetryPolicy::none())
    };
    let made = |kind, real: &Error| {
        let made = testing::error(kind).operation(real.operation().unwrap());
        match real.command() {
            Some(command) => made.command(command.clone()),
            None => made,
        }
    };
    let compare = |real: &Error, made: testing::ErrorBuilder, url: &str| {
        let (_, address) = url.split_once("://").unwrap();
        assert_eq!(told(&made.build(), MADE), told(real, address));
    };

    let nobody = Reserved::new();
    let crm = at(&nobody.url()).crm();
    for real in [
        get_person(&crm).await.unwrap_err(),
        add_person(&crm).await.unwrap_err(),
    ] {
        compare(&real, made(ErrorKind::Connect, &real), &nobody.url());
    }
    let peer = Peer::start(always(close()));
    let crm = at(&peer.url()).crm();
    for real in [
        get_person(&crm).await.unwrap_err(),
        add_person(&crm).await.unwrap_err(),
    ] {
        compare(&real, made(ErrorKind::Transport, &real), &peer.url());
    }
    let drip = peer::json(200, &json!({"a": "b"})).dripped(Duration::from_secs(3_600));
    for (step, status) in [(stall(), None), (drip, Some(200))] {
        let peer = Peer::start(always(step));
        let call = spawn(add_person(&at(&peer.url()).crm()).send());
        peer.saw(1).await;
        // The head of a reply needs a moment of the wall clock to arrive.
        let head = || status.is_none() || peer.written() > 0;
        crate::support::until(head).await;
        for _ in 0..100 {
            std::thread::sleep(Duration::from_micros(100));
            tokio::task::yield_now().await;
        }
        advance(Duration::from_secs(10)).await;
        let real = call.await.unwrap().unwrap_err();
        let made = made(ErrorKind::Timeout, &real);
        let made = status.map_or(made.clone(), |status| made.status(status));
        compare(&real, made, &peer.url());
    }

    // A TLS handshake that is never answered.
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}", silent.local_addr().unwrap());
    let call = spawn(add_person(&at(&url).connect_timeout(Duration::from_secs(60)).crm()).send());
    let _held = silent.accept().await.unwrap();
    advance(Duration::from_secs(10)).await;
    let real = call.await.unwrap().unwrap_err();
    compare(
        &real,
        made(ErrorKind::Timeout, &real).effect(Effect::NotSent),
        &url,
    );
}

#[tokio::test]
async fn a_made_failure_without_a_token_is_the_one_of_a_call() {
    let refused = peer::json(
        401,
        &json!({"error": "invalid_client", "error_description": "who?"}),
    );
    let peer = Peer::start(script([]).tokens([refused]));
    let real = get_person(&builder_at(&peer.url()).crm())
        .await
        .unwrap_err();
    let made = testing::error(ErrorKind::Unauthenticated)
        .effect(Effect::NotSent)
        .operation(&GET_PERSON);
    let made = made.message("who?").build();
    let facts = |error: &Error| {
        let code = error.code().map(str::to_owned);
        (
            error.kind(),
            error.effect(),
            code,
            error.is_retryable(),
            error.attempts(),
            error.status(),
        )
    };
    assert_eq!(facts(&made), facts(&real));

    let peer = Peer::start(script([]).tokens([reply(503), reply(503), reply(503)]));
    let real = get_person(&builder_at(&peer.url()).crm())
        .await
        .unwrap_err();
    let made = testing::error(ErrorKind::TokenUnavailable)
        .operation(&GET_PERSON)
        .build();
    assert_eq!(facts(&made), facts(&real));

    let lacking = peer::json(
        200,
        &json!({"access_token": "t", "token_type": "Bearer", "scope": "crm:tasks:read"}),
    );
    let peer = Peer::start(script([]).tokens([lacking]));
    let crm = builder_at(&peer.url())
        .scope_policy(ScopePolicy::Refuse)
        .crm();
    let real = get_person(&crm).await.unwrap_err();
    let made = testing::error(ErrorKind::Forbidden)
        .effect(Effect::NotSent)
        .operation(&GET_PERSON);
    assert_eq!(
        told(&made.granted(["crm:tasks:read"]).build(), MADE),
        told(&real, MADE)
    );
}

#[test]
fn each_kind_has_an_error_of_its_own() {
    use ErrorKind as Kind;
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
        let error = testing::error(kind).build();
        assert_eq!((error.kind(), error.status()), (kind, status), "{error}");
        let rest = (error.effect(), error.is_retryable(), error.attempts());
        assert_eq!(rest, (effect, retryable, attempts), "{error}");
    }
}

#[test]
fn a_made_error_takes_what_it_is_told() {
    let wait = Duration::from_secs(30);
    let error = testing::error(ErrorKind::Unavailable)
        .operation(&sdk_platform::operations::LIST_APPS)
        .status(500)
        .code("DOWN")
        .message("not today")
        .request_id("r-7")
        .retryable(false)
        .retry_after(wait)
        .attempts(2)
        .build();
    let said = "platform.listApps: 500 unavailable DOWN: not today; after 2 attempts (request r-7)";
    assert_eq!(error.to_string(), said);
    assert_eq!(
        (error.is_retryable(), error.retry_after()),
        (false, Some(wait))
    );
}

#[test]
fn a_stronger_effect_is_that_of_an_earlier_attempt() {
    let command = testing::prepared(&SUBMIT_COMMAND, &json!({"commandType": "person.create"}));
    let error = testing::error(ErrorKind::NotFound)
        .operation(&SUBMIT_COMMAND)
        .command(command.clone())
        .effect(Effect::Unknown)
        .build();
    assert_eq!((error.status(), error.attempts()), (Some(404), 2));
    assert!(
        error
            .to_string()
            .contains("; its effect is unknown; after 2 attempts")
    );
    let again = error.into_command().unwrap();
    assert!(again.was_sent() && again.verify().is_ok());
    assert_eq!(
        (again.body(), again.path()),
        (command.body(), command.path())
    );

    // The token failed on the way to a second attempt.
    let error = testing::error(ErrorKind::TokenUnavailable)
        .effect(Effect::Unknown)
        .build();
    assert_eq!((error.effect(), error.attempts()), (Effect::Unknown, 1));
}

#[test]
fn a_made_error_of_a_command_has_its_key_and_the_command() {
    let operation = &sdk_calendar::operations::SUBMIT_EVENT_COMMAND;
    let error = testing::error(ErrorKind::Timeout)
        .operation(operation)
        .idempotency_key(key("order-4711.delivery"))
        .build();
    let command = error.command().unwrap();
    assert_eq!(
        error.idempotency_key().unwrap().as_str(),
        "order-4711.delivery"
    );
    assert_eq!(command.idempotency_key(), error.idempotency_key());
    assert_eq!(command.application(), App::Calendar.name());
    assert!(!format!("{error} {error:?} {command:?}").contains("4711"));
}
