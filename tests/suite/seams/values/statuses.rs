//! What a status says by itself.

use sdk_core::{Effect, ErrorKind as Kind, RetryPolicy, Suite};
use sdk_crm::operations::{GET_HEALTH, SUBMIT_COMMAND};

use crate::fixtures::add_person;
use crate::peer::{Step, reply};
use crate::samples::kick_off;
use crate::seams::transport::service::Scripted;
use crate::support::{Clients, assert_says};

/// A suite whose applications answer every call with this, and whose calls are attempted once.
fn answering(step: Step) -> Suite {
    let suite = Scripted::always(step).suite();
    suite.retry(RetryPolicy::none()).build().unwrap()
}

#[tokio::test]
async fn each_status_has_its_kind_its_effect_and_its_hint() {
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
        let call = add_person(&answering(reply(status)).crm());
        let error = call.await.unwrap_err();
        assert_eq!((error.kind(), error.effect()), (kind, effect), "{error}");
        assert_eq!(error.is_retryable(), retryable, "{error}");
        assert_says(&error, &[hint]);
    }
    let crm = answering(reply(401)).crm();
    let without_token = crm.raw_call(&GET_HEALTH).await.unwrap_err().to_string();
    assert!(!without_token.contains("token"), "{without_token}");
}

#[tokio::test]
async fn the_envelope_decides_about_a_retry_where_the_status_leaves_it_open() {
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
        let platform = answering(reply(status).body(body)).platform();
        let error = platform.apps().list().await.unwrap_err();
        assert_eq!(error.is_retryable(), retryable, "{status} {said}: {error}");
    }
}

#[tokio::test]
async fn an_excerpt_of_a_page_in_between_hides_a_secret_that_it_would_cut() {
    let own = "order-4711.delivery-one";
    for before in [0, 100, 114] {
        let html = format!("{}{own}</html>", "<".repeat(before));
        let calendar = answering(reply(200).body(html)).calendar();
        let error = kick_off(&calendar).idempotency_key(own).await.unwrap_err();
        assert_says(&error, &["the body begins with"]);
        assert!(!error.to_string().contains(&own[..4]), "{error}");
    }
}

#[tokio::test]
async fn a_body_too_large_to_be_an_envelope_is_kept_and_not_read() {
    const LARGEST: usize = 256 * 1024;
    for (length, code) in [(LARGEST, Some("C")), (LARGEST + 1, None)] {
        let envelope = r#"{"code": "C", "more": "#;
        let more = "x".repeat(length - envelope.len() - 3);
        let body = format!("{envelope}\"{more}\"}}");
        let crm = answering(reply(503).body(body)).crm();
        let error = add_person(&crm).await.unwrap_err();
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
