//! What a status says by itself, in absolute terms: made and real errors are compared elsewhere, and could be wrong alike.

use sdk_calendar::operations::SUBMIT_EVENT_COMMAND;
use sdk_calendar::types::CalendarCommandResult;
use sdk_core::{Effect, Error, ErrorKind as Kind, Operation, testing};
use sdk_crm::operations::{GET_HEALTH, SUBMIT_COMMAND};
use sdk_platform::operations::LIST_APPS;

use crate::peer::reply;
use crate::support::{Clients, assert_says, key};
use crate::transport::service::Scripted;

fn answered(operation: &'static Operation, status: u16) -> Error {
    testing::reply(operation, status).error()
}

#[test]
fn each_status_has_its_kind_its_effect_and_its_hint() {
    let (refused, unknown) = (Effect::Refused, Effect::Unknown);
    for (status, kind, effect, retryable, hint) in [
        (
            302,
            Kind::UnexpectedStatus,
            unknown,
            false,
            "redirects are not followed: check the base URL",
        ),
        (
            399,
            Kind::UnexpectedStatus,
            unknown,
            false,
            "redirects are not followed",
        ),
        (400, Kind::Rejected, refused, false, ""),
        (
            401,
            Kind::Unauthenticated,
            refused,
            false,
            "; the token is for",
        ),
        (
            403,
            Kind::Forbidden,
            refused,
            false,
            "the operation requires any of the scopes",
        ),
        (
            404,
            Kind::NotFound,
            refused,
            false,
            "it does not exist, or this client may not see it",
        ),
        (
            407,
            Kind::Connect,
            refused,
            false,
            "a proxy in between wants a credential",
        ),
        (408, Kind::Unavailable, refused, true, ""),
        (409, Kind::Conflict, refused, false, ""),
        (422, Kind::Rejected, refused, false, ""),
        (429, Kind::RateLimited, refused, true, ""),
        (499, Kind::Rejected, refused, false, ""),
        (500, Kind::Unavailable, unknown, true, ""),
        (501, Kind::Unavailable, unknown, false, ""),
        (505, Kind::Unavailable, unknown, false, ""),
        (599, Kind::Unavailable, unknown, true, ""),
        (600, Kind::UnexpectedStatus, unknown, false, ""),
    ] {
        let error = answered(&SUBMIT_COMMAND, status);
        assert_eq!((error.kind(), error.effect()), (kind, effect), "{error}");
        assert_eq!(error.is_retryable(), retryable, "{error}");
        assert_says(&error, &[hint]);
    }
    let without_token = answered(&GET_HEALTH, 401).to_string();
    assert!(!without_token.contains("token"), "{without_token}");
}

#[test]
fn the_envelope_decides_about_a_retry_where_the_status_leaves_it_open() {
    for (status, said, retryable) in [
        (429, true, true),
        (429, false, false),
        (501, true, true),
        (503, true, true),
        (503, false, false),
        // A refused request does not get better.
        (400, true, false),
        (404, true, false),
        (408, true, true),
    ] {
        let body = format!(r#"{{"error": {{"code": "C", "retryable": {said}}}}}"#);
        let error = testing::reply(&LIST_APPS, status).body(body).error();
        assert_eq!(error.is_retryable(), retryable, "{status} {said}: {error}");
    }
}

#[test]
fn an_excerpt_of_a_page_in_between_hides_a_secret_that_it_would_cut() {
    let own = "order-4711.delivery-one";
    for before in [0, 100, 114] {
        let html = format!("{}{own}</html>", "<".repeat(before));
        let made = testing::reply(&SUBMIT_EVENT_COMMAND, 200).body(html);
        let made = made.idempotency_key(key(own));
        let error = made.receipt::<CalendarCommandResult>().unwrap_err();
        assert_says(&error, &["the body begins with"]);
        assert!(!error.to_string().contains(&own[..4]), "{error}");
    }
}

#[test]
fn each_attempt_of_a_made_error_has_an_effect() {
    let error = testing::error(Kind::NotFound).operation(&SUBMIT_COMMAND);
    let error = error.effect(Effect::Unknown).attempts(3).build();
    let log: Vec<_> = error.attempt_log().iter().map(|it| it.effect).collect();
    assert_eq!(log, [Effect::Unknown, Effect::Unknown, Effect::Refused]);
}

#[test]
fn a_body_too_large_to_be_an_envelope_is_kept_and_not_read() {
    const LARGEST: usize = 256 * 1024;
    for (length, code) in [(LARGEST, Some("C")), (LARGEST + 1, None)] {
        let envelope = r#"{"code": "C", "more": "#;
        let more = "x".repeat(length - envelope.len() - 3);
        let body = format!("{envelope}\"{more}\"}}");
        let error = testing::reply(&SUBMIT_COMMAND, 503).body(body).error();
        assert_eq!((error.code(), error.body().unwrap().len()), (code, length));
    }
}

#[test]
fn operations_and_what_they_consist_of_are_shown_by_name() {
    let operation = &SUBMIT_COMMAND;
    let (method, shown) = (operation.method, operation.provenance);
    assert_eq!(
        format!("{operation} {method} {shown}"),
        "submitCommand POST documented"
    );
}

#[tokio::test]
async fn a_path_makes_the_reply_of_no_known_operation_secret() {
    let service = Scripted::always(reply(200).body("<html>Sign in</html>"));
    let publications = service.suite().platform().publications();
    let error = publications
        .get("crm", "person", "token-1")
        .await
        .unwrap_err();
    assert_says(&error, &["Sign in"]);
}
