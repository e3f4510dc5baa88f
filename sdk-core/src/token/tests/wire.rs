//! Tests of the token request's form and response, without a network.

use http::HeaderMap;

use super::super::wire;
use super::*;
use crate::secret::redactor::Redactor;
use crate::token::credentials::{ClientAuthentication, ClientCredentials};

/// Reads a successful response, with nothing confidential.
fn success(body: &str, request: &TokenRequest) -> Answer {
    wire::success(body.as_bytes(), request, &Redactor::default())
}

#[test]
fn the_form_contains_the_request_and_custom_fields() {
    let plain = ClientCredentials::new("id", "secret");
    let least = wire::body(&plain, &TokenRequest::new());
    assert_eq!(least, "grant_type=client_credentials");
    let in_body = ClientCredentials::new("we:ird", "&=;/?#")
        .with_authentication(ClientAuthentication::RequestBody);
    assert_eq!(
        wire::body(
            &in_body,
            &TokenRequest::new().with_scopes(["b:read", "a:read"])
        ),
        "grant_type=client_credentials&client_id=we%3Aird&client_secret=%26%3D%3B%2F%3F%23&scope=a%3Aread+b%3Aread"
    );

    let adjusted = plain
        .with_audience_field("resource")
        .with_form_field("scope", "all")
        .with_form_field("tenant", "t 1");
    let request = TokenRequest::new()
        .with_audience("https://crm.example/")
        .with_scopes(["ignored"]);
    assert_eq!(
        wire::body(&adjusted, &request),
        "grant_type=client_credentials&resource=https%3A%2F%2Fcrm.example%2F&scope=all&tenant=t+1"
    );
}

#[test]
fn a_lifetime_is_read_leniently() {
    let lifetime = |expires_in: &str| {
        let body = format!(
            r#"{{"access_token":"t","token_type":"BEARER","expires_in":{expires_in},"x":[1]}}"#
        );
        let token = success(&body, &TokenRequest::new()).unwrap();
        token.lifetime().map(|lifetime| lifetime.as_secs())
    };
    for (value, seconds) in [
        ("300", Some(300)),
        ("299.9", Some(299)),
        (r#"" 120 ""#, Some(120)),
        ("0", Some(0)),
        ("-5", Some(0)),
        (r#""-5""#, Some(0)),
        ("1e300", Some(u64::MAX)),
        // Beyond the range of a double.
        ("1e400", Some(u64::MAX)),
        ("-1e400", Some(0)),
        ("null", None),
        (r#""soon""#, None),
        (r#""NaN""#, None),
        ("true", None),
        ("[300]", None),
    ] {
        assert_eq!(lifetime(value), seconds, "{value}");
    }
}

#[test]
fn granted_scopes_are_read_leniently() {
    let request = TokenRequest::new().with_scopes(["crm:read", "crm:write"]);
    let granted = |scope: &str| {
        let body = format!(r#"{{"access_token":"t\u002Bt"{scope}}}"#);
        let token = success(&body, &request).unwrap();
        assert_eq!(token.expose(), "t+t");
        token.scopes().unwrap().join(",")
    };
    assert_eq!(granted(r#","scope":"crm:read""#), "crm:read");
    assert_eq!(granted(r#","scope":["crm:read"]"#), "crm:read");
    // As requested, unless the response states other scopes.
    assert_eq!(granted(""), "crm:read,crm:write");
    // Errors list scopes, so a list that repeats the token is ignored.
    let echo = r#"{"access_token":"canary-4711","scope":"crm:read canary-4711"}"#;
    assert_eq!(success(echo, &request).unwrap().scopes(), None);
    let bare = success(r#"{"access_token":"t"}"#, &TokenRequest::new());
    assert_eq!(bare.unwrap().scopes(), None);
    // A list may be longer than the limit of a single search.
    let many: Vec<String> = (0..300).map(|it| format!("crm:people:read-{it}")).collect();
    let scope = format!(r#","scope":"{}""#, many.join(" "));
    assert_eq!(granted(&scope), many.join(","));
}

#[test]
fn an_error_about_an_unusable_response_does_not_quote_it() {
    let no_object = "it is not a JSON object; check the address of the token endpoint";
    let no_token = "`access_token` must be a string: got a different type or no value";
    let no_bearer = "`token_type` must be Bearer: got a different type";
    for (body, description) in [
        (r"<html>canary</html>", no_object),
        ("", no_object),
        (r#"{"access_token":"canary""#, no_object),
        (r#"["canary"]"#, no_object),
        (r#"{"access_token":12345,"canary":1}"#, no_token),
        (r#"{"access_token":["canary"]}"#, no_token),
        (r#"{"token":"canary"}"#, no_token),
        (r#"{"access_token":"canary","token_type":"mac"}"#, no_bearer),
        (r#"{"access_token":"canary","token_type":7}"#, no_bearer),
    ] {
        let error = success(body, &TokenRequest::new()).unwrap_err();
        assert_eq!(kind(&error), (TokenErrorKind::Malformed, false), "{body}");
        assert_eq!(error.description(), Some(description), "{body}");
        let printed = format!("{error} {error:#?}");
        for secret in ["canary", "12345"] {
            assert!(!printed.contains(secret), "{printed}");
        }
    }
}

#[test]
fn both_error_formats_are_read() {
    let mut redactor = Redactor::default();
    redactor.add("s3cret-canary");
    let read = |status: u16, body: &str| {
        wire::failure(status, &HeaderMap::new(), body.as_bytes(), &redactor)
    };
    let plain = r#"{"error":"invalid_client","error_description":"unknown client"}"#;
    let message = "token request rejected (status 401): unknown client [invalid_client]";
    assert_eq!(read(401, plain).to_string(), message);
    // HTTP clients don't return such a status, but an in-memory transport could.
    let error = read(199, plain);
    assert_eq!(kind(&error), (TokenErrorKind::Malformed, false));
    let object = |code: &str, retryable: bool| {
        format!(
            r#"{{"error":{{"code":"{code}","message":"no","requestId":"r-1","retryable":{retryable}}}}}"#
        )
    };
    // A 4xx is final, whatever the envelope states.
    let error = read(403, &object("insufficient_scope", true));
    assert_eq!(kind(&error), (TokenErrorKind::Refused, false));
    assert_eq!(error.code(), Some("insufficient_scope"));
    assert_eq!(error.request_id(), Some("r-1"));
    let error = read(503, &object("off", false));
    assert_eq!(kind(&error), (TokenErrorKind::Unavailable, false));
    let quoting = r#"{"error":"invalid_request","error_description":"bad s3cret-canary here"}"#;
    let error = read(400, quoting);
    assert!(!format!("{error} {error:#?}").contains("canary"));
    assert_eq!(error.code(), Some("invalid_request"));
}

#[test]
fn the_status_decides_if_the_body_has_no_error() {
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
            let (headers, redactor) = (HeaderMap::new(), Redactor::default());
            let error = wire::failure(status, &headers, body.as_bytes(), &redactor);
            assert_eq!(super::kind(&error), (kind, retryable));
            assert_eq!(error.status(), Some(status));
        }
    }
}
