//! The meaning of each status, in errors of calls and in errors that a test builds.

use sdk_core::testing::{self, ScriptedTransport};
use sdk_core::{Effect, Error, ErrorKind as Kind, RetryPolicy, Suite};
use sdk_crm::operations::{GET_HEALTH, SUBMIT_COMMAND};

use crate::fixtures::add_person;
use crate::samples::kick_off;
use crate::support::{Clients, assert_says};

/// Returns a suite that makes one attempt per call. Its applications answer with this response, even after a 401.
fn answering(status: u16, body: &str) -> Suite {
    let answers = ScriptedTransport::new().json(status, body.to_owned());
    let answers = answers.json(status, body.to_owned());
    answers.suite().retry(RetryPolicy::none()).suite()
}

/// Returns the facts of an error that follow from its status.
fn facts(error: &Error) -> (Kind, Option<u16>, Effect, bool) {
    let (kind, effect) = (error.kind(), error.effect());
    (kind, error.status(), effect, error.is_retryable())
}

#[tokio::test]
async fn each_status_has_its_kind_effect_and_hint_in_real_and_built_errors() {
    let (refused, unknown) = (Effect::Refused, Effect::Unknown);
    let unexpected = Kind::UnexpectedStatus;
    let mut usual = 0;
    for (status, kind, effect, retryable, hint) in [
        (302, unexpected, unknown, false, "check the base URL"),
        (399, unexpected, unknown, false, "are not followed"),
        (400, Kind::Rejected, refused, false, ""),
        (401, Kind::Unauthenticated, refused, false, "token is for"),
        (403, Kind::Forbidden, refused, false, "any of the scopes"),
        (404, Kind::NotFound, refused, false, "it does not exist"),
        (407, Kind::Connect, refused, false, "an intermediate proxy"),
        (408, Kind::Unavailable, refused, true, ""),
        (409, Kind::Conflict, refused, false, ""),
        (422, Kind::Rejected, refused, false, ""),
        (429, Kind::RateLimited, refused, true, ""),
        (499, Kind::Rejected, refused, false, ""),
        (500, Kind::Unavailable, unknown, true, ""),
        (501, Kind::Unavailable, unknown, false, ""),
        (503, Kind::Unavailable, unknown, true, ""),
        (505, Kind::Unavailable, unknown, false, ""),
        (599, Kind::Unavailable, unknown, true, ""),
        (600, unexpected, unknown, false, ""),
    ] {
        let call = add_person(&answering(status, "").crm());
        let error = call.await.unwrap_err();
        let expected = (kind, Some(status), effect, retryable);
        assert_eq!(facts(&error), expected, "{error}");
        assert_says(&error, &[hint]);
        let made = testing::response(&SUBMIT_COMMAND, status).error();
        assert_eq!(facts(&made), expected, "{made}");
        let made = testing::error(kind).build();
        if made.status() == Some(status) {
            assert_eq!(facts(&made), expected, "{made}");
            usual += 1;
        }
    }
    assert_eq!(usual, 8, "each kind that has a status");
    let crm = answering(401, "").crm();
    let without_token = crm.raw_call(&GET_HEALTH).await.unwrap_err().to_string();
    assert!(!without_token.contains("token"), "{without_token}");
}

#[tokio::test]
async fn the_envelope_decides_about_retries_if_the_status_does_not() {
    for (status, flag, retryable) in [
        (429, true, true),
        (429, false, false),
        (501, true, true),
        (503, true, true),
        (503, false, false),
        // A rejected request is never retryable.
        (400, true, false),
        (404, true, false),
        (408, true, true),
    ] {
        let body = format!(r#"{{"error": {{"code": "C", "retryable": {flag}}}}}"#);
        let platform = answering(status, &body).platform();
        let error = platform.apps().list().await.unwrap_err();
        assert_eq!(error.is_retryable(), retryable, "{status} {flag}: {error}");
    }
}

#[tokio::test]
async fn an_excerpt_of_a_proxy_page_hides_a_secret_that_it_would_truncate() {
    let own = "order-4711.delivery-one";
    for before in [0, 100, 114] {
        let html = format!("{}{own}</html>", "<".repeat(before));
        let calendar = answering(200, &html).calendar();
        let error = kick_off(&calendar).idempotency_key(own).await.unwrap_err();
        assert_says(&error, &["the body begins with"]);
        assert!(!error.to_string().contains(&own[..4]), "{error}");
    }
}

#[tokio::test]
async fn a_body_too_large_for_an_envelope_is_preserved_but_not_parsed() {
    const LARGEST: usize = 256 * 1024;
    for (length, code) in [(LARGEST, Some("C")), (LARGEST + 1, None)] {
        let envelope = r#"{"code": "C", "more": "#;
        let more = "x".repeat(length - envelope.len() - 3);
        let crm = answering(503, &format!("{envelope}\"{more}\"}}")).crm();
        let error = add_person(&crm).await.unwrap_err();
        assert_eq!((error.code(), error.body().unwrap().len()), (code, length));
    }
}
