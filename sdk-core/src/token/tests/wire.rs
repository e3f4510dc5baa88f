//! What an exchange sends, and how it reads the answer: pure functions.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::HeaderMap;
use url::form_urlencoded;

use super::super::{form, reply};
use super::*;
use crate::secret::confidential::Confidential;
use crate::token::credentials::{ClientAuthentication, ClientCredentials};

const AWKWARD: [&str; 6] = [
    "we:ird",
    "100%",
    "a+b",
    "two words",
    "Grüße-日本",
    "&=;/?#\"'",
];

fn fields(credentials: &ClientCredentials, request: &TokenRequest) -> Vec<(String, String)> {
    form_urlencoded::parse(&form::body(credentials, request))
        .into_owned()
        .collect()
}

#[test]
fn fault_35_a_strict_server_reads_back_any_id_and_secret_from_basic() {
    for id in AWKWARD {
        for secret in AWKWARD {
            let header = form::basic(&ClientCredentials::new(id, secret))
                .unwrap()
                .header;
            assert!(header.is_sensitive());
            let encoded = header.to_str().unwrap().strip_prefix("Basic ").unwrap();
            let pair = String::from_utf8(STANDARD.decode(encoded).unwrap()).unwrap();
            let (left, right) = pair.split_once(':').unwrap();
            assert!(!right.contains(':'), "{pair}");
            let read: Vec<(String, String)> =
                form_urlencoded::parse(format!("{left}={right}").as_bytes())
                    .into_owned()
                    .collect();
            assert_eq!(read, [(id.to_owned(), secret.to_owned())]);
        }
    }
    let header = form::basic(&ClientCredentials::new("we:ird", "a b+c%ü"))
        .unwrap()
        .header;
    assert_eq!(
        header.to_str().unwrap(),
        format!("Basic {}", STANDARD.encode("we%3Aird:a+b%2Bc%25%C3%BC"))
    );
}

#[test]
fn fault_35_a_strict_server_reads_back_any_id_and_secret_from_the_form() {
    for secret in AWKWARD {
        let credentials = ClientCredentials::new("we:ird", secret)
            .with_authentication(ClientAuthentication::RequestBody);
        let request = TokenRequest::new()
            .with_audience("crm")
            .with_scopes(["b:read", "a:read"]);
        let expected = [
            ("grant_type", "client_credentials"),
            ("client_id", "we:ird"),
            ("client_secret", secret),
            ("audience", "crm"),
            ("scope", "a:read b:read"),
        ];
        assert_eq!(
            fields(&credentials, &request),
            expected.map(|(name, value)| (name.to_owned(), value.to_owned()))
        );
    }
}

#[test]
fn the_form_sends_what_is_asked_and_no_more_and_can_be_bent() {
    let plain = ClientCredentials::new("id", "secret");
    assert_eq!(
        &form::body(&plain, &TokenRequest::new())[..],
        b"grant_type=client_credentials"
    );

    let bent = plain
        .with_audience_field("resource")
        .with_form_field("scope", "all")
        .with_form_field("tenant", "t 1");
    let request = TokenRequest::new()
        .with_audience("https://crm.example/")
        .with_scopes(["ignored"]);
    assert_eq!(
        &form::body(&bent, &request)[..],
        b"grant_type=client_credentials&resource=https%3A%2F%2Fcrm.example%2F&scope=all&tenant=t+1"
    );
}

#[test]
fn a_reply_is_read_leniently() {
    let request = TokenRequest::new().with_scopes(["crm:read", "crm:write"]);
    let lifetime = |expires_in: &str| {
        let body = format!(
            r#"{{"access_token":"t","token_type":"BEARER","expires_in":{expires_in},"x":[1]}}"#
        );
        reply::success(body.as_bytes(), &request, &Confidential::default())
            .unwrap()
            .lifetime()
            .map(|lifetime| lifetime.as_secs())
    };
    for (text, seconds) in [
        ("300", Some(300)),
        ("299.9", Some(299)),
        (r#"" 120 ""#, Some(120)),
        ("0", Some(0)),
        ("-5", Some(0)),
        (r#""-5""#, Some(0)),
        ("1e300", Some(u64::MAX)),
        // Beyond any double.
        ("1e400", Some(u64::MAX)),
        ("-1e400", Some(0)),
        ("null", None),
        (r#""soon""#, None),
        (r#""NaN""#, None),
        ("true", None),
        ("[300]", None),
    ] {
        assert_eq!(lifetime(text), seconds, "{text}");
    }
    let granted = |scope: &str| {
        let body = format!(r#"{{"access_token":"t\u002Bt"{scope}}}"#);
        let token = reply::success(body.as_bytes(), &request, &Confidential::default()).unwrap();
        assert_eq!(token.expose(), "t+t");
        token.scopes().unwrap().join(",")
    };
    assert_eq!(granted(r#","scope":"crm:read""#), "crm:read");
    assert_eq!(granted(r#","scope":["crm:read"]"#), "crm:read");
    assert_eq!(
        granted(""),
        "crm:read,crm:write",
        "as requested, if the reply does not say"
    );
    let bare = reply::success(
        br#"{"access_token":"t"}"#,
        &TokenRequest::new(),
        &Confidential::default(),
    )
    .unwrap();
    assert_eq!(bare.scopes(), None);
}

#[test]
fn an_unusable_reply_is_an_error_that_quotes_nothing() {
    for body in [
        r"<html>canary</html>",
        "",
        r#"{"access_token":12345,"canary":1}"#,
        r#"{"access_token":["canary"]}"#,
        r#"{"token":"canary"}"#,
        r#"{"access_token":"canary","token_type":"mac"}"#,
        r#"{"access_token":"canary","token_type":7}"#,
        r#"{"access_token":"canary""#,
        r#"["canary"]"#,
    ] {
        let error = reply::success(
            body.as_bytes(),
            &TokenRequest::new(),
            &Confidential::default(),
        )
        .unwrap_err();
        assert_eq!(
            (error.kind(), error.is_retryable()),
            (TokenErrorKind::Malformed, false),
            "{body}"
        );
        let printed = format!("{error} {error:?}");
        assert!(
            !printed.contains("canary") && !printed.contains("12345"),
            "{printed}"
        );
    }
}

#[test]
fn both_error_shapes_are_understood() {
    let mut confidential = Confidential::default();
    confidential.add("s3cret-canary");
    let read = |status: u16, body: &str| {
        reply::failure(status, &HeaderMap::new(), body.as_bytes(), &confidential)
    };
    let error = read(
        401,
        r#"{"error":"invalid_client","error_description":"unknown client"}"#,
    );
    assert_eq!(
        error.to_string(),
        "token refused (status 401): unknown client [invalid_client]"
    );
    let error = read(
        403,
        r#"{"error":{"code":"insufficient_scope","message":"no","requestId":"r-1","retryable":true}}"#,
    );
    assert_eq!(
        (error.code(), error.request_id()),
        (Some("insufficient_scope"), Some("r-1"))
    );
    assert!(
        !error.is_retryable(),
        "a 4xx is final, whatever the envelope says"
    );
    let error = read(
        503,
        r#"{"error":{"code":"off","message":"no","requestId":"r-2","retryable":false}}"#,
    );
    assert_eq!(
        (error.kind(), error.is_retryable()),
        (TokenErrorKind::Unavailable, false)
    );
    let error = read(
        400,
        r#"{"error":"invalid_request","error_description":"bad s3cret-canary here"}"#,
    );
    assert!(!format!("{error} {error:?}").contains("canary"));
    assert_eq!(error.code(), Some("invalid_request"));
}

#[test]
fn the_status_decides_when_the_body_explains_nothing() {
    use crate::token::error::TokenErrorKind::{Malformed, Refused, Unavailable};
    for (status, kind, retryable) in [
        (400, Refused, false),
        (404, Refused, false),
        (408, Unavailable, true),
        (429, Unavailable, true),
        (500, Unavailable, true),
        (501, Unavailable, false),
        (503, Unavailable, true),
        (505, Unavailable, false),
        (302, Malformed, false),
        (307, Malformed, false),
    ] {
        for body in ["", "<html>", "null", r#"{"error":7}"#, "[]"] {
            let error = reply::failure(
                status,
                &HeaderMap::new(),
                body.as_bytes(),
                &Confidential::default(),
            );
            assert_eq!(
                (error.kind(), error.is_retryable(), error.status()),
                (kind, retryable, Some(status))
            );
        }
    }
}
