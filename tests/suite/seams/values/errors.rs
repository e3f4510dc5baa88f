//! Errors that a test makes without a call.

use std::time::Duration;

use sdk_calendar::operations::SUBMIT_EVENT_COMMAND;
use sdk_core::testing::{self, error as made};
use sdk_core::{Effect, ErrorKind as Kind};
use sdk_crm::operations::{GET_PERSON, SUBMIT_COMMAND};
use sdk_platform::operations::LIST_APPS;
use serde_json::json;

use crate::support::key;

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
        assert_eq!(error.attempt_log().len(), attempts as usize);
    }
}

#[test]
fn a_made_error_takes_what_it_is_told() {
    let wait = Duration::from_secs(30);
    let told = made(Kind::Unavailable).operation(&LIST_APPS).status(500);
    let told = told.code("DOWN").message("not today").request_id("r-7");
    let told = told.retryable(false).retry_after(wait).attempts(2);
    let error = told.header("x-own", "kept").body("{}").build();
    let said = "platform.listApps: 500 unavailable DOWN: not today; after 2 attempts (request r-7)";
    assert_eq!(error.to_string(), said);
    assert!(!error.is_retryable());
    assert_eq!(error.retry_after(), Some(wait));
    assert_eq!(error.headers().unwrap()["x-own"], "kept");
    assert_eq!(error.body(), Some(&b"{}"[..]));
    let log = error.attempt_log().iter();
    let log: Vec<_> = log.map(|it| (it.number, it.status, it.effect)).collect();
    assert_eq!(log, [1, 2].map(|it| (it, Some(500), Effect::Unknown)));
    let many = made(Kind::Timeout).attempts(u32::MAX).build();
    assert_eq!(many.attempt_log().len(), 32);
}

#[test]
fn a_made_error_of_a_command_hands_it_back_unless_it_was_rejected() {
    let error = |effect| {
        made(Kind::NotFound)
            .operation(&SUBMIT_COMMAND)
            .effect(effect)
    };
    for (effect, was_sent) in [(Effect::NotSent, false), (Effect::Unknown, true)] {
        let command = testing::prepared(&SUBMIT_COMMAND, &json!({"commandType": "person.create"}));
        let given = error(effect).command(command.clone()).build();
        let again = given.into_command().unwrap();
        assert_eq!(again.was_sent(), was_sent);
        again.verify().unwrap();
        assert_eq!(
            (again.body(), again.path()),
            (command.body(), command.path())
        );
        let made = error(effect).build().into_command().unwrap();
        assert_eq!((made.body(), made.was_sent()), ("{}", was_sent));
    }
    assert!(error(Effect::Refused).build().command().is_none());
    let read = made(Kind::Timeout).operation(&GET_PERSON).build();
    assert!(read.command().is_none() && read.idempotency_key().is_none());
}

#[test]
fn a_made_error_of_a_command_has_its_key() {
    let error = made(Kind::Timeout).operation(&SUBMIT_EVENT_COMMAND);
    assert!(error.clone().build().idempotency_key().is_some());
    let error = error.idempotency_key(key("order-4711.delivery")).build();
    let command = error.command().unwrap();
    let own = error.idempotency_key();
    assert_eq!(own.unwrap().as_str(), "order-4711.delivery");
    assert_eq!(command.idempotency_key(), own);
    assert_eq!(command.application(), "calendar");
    assert!(!format!("{error} {error:?} {command:?}").contains("4711"));
}
