//! Rows 73, 77 and 81: values that should be printed, next to confidential values.

use reqwest::header::HeaderName;
use sdk_core::{CallOptions, ClientCredentials, Method};
use serde_json::json;

use super::forms::{HEADER, TOKEN, assert_nothing_leaks};
use super::{peer_of, print, print_error, suite_of, with_both};
use crate::fixtures::get_person;
use crate::peer::{Peer, always, json as reply_of, reply, token};
use crate::support::{Clients, assert_says, crm_at};

/// Headers that identify a request, with values that resemble secrets.
const CORRELATING: [(&str, &str); 4] = [
    ("x-request-id", "req-7Jk2vW9p3Rt68Lm4"),
    ("x-correlation-id", "cor-Qz81xW7vLk20Pm5T"),
    (
        "traceparent",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    ),
    ("tracestate", "suite=t61rcWkgMzE,other=00f067aa0ba902b7"),
];

#[tokio::test]
async fn fault_81_a_correlation_id_is_printed_and_a_callers_own_value_is_not() {
    let [(_, id), (_, correlation), (_, parent), (_, state)] = CORRELATING;
    let message = format!("see {correlation} of {parent} with {state}");
    let body = json!({"code": correlation, "message": message, "requestId": id});
    let mut refused = reply_of(409, &body).header("x-got", HEADER);
    let mut defaults = with_both();
    for (name, value) in CORRELATING {
        refused = refused.header(name, value);
        defaults = defaults.with_header(name, value);
    }
    let peer = Peer::start(always(refused));
    let crm = crm_at(&peer);
    let mut call = get_person(&crm).header("x-tenant", HEADER);
    for (name, value) in CORRELATING {
        call = call.header(name, value);
    }
    let by_default = crm.clone().with_defaults(defaults);

    for error in [
        call.await.unwrap_err(),
        get_person(&by_default).await.unwrap_err(),
    ] {
        assert_eq!(
            (error.code(), error.message()),
            (Some(correlation), &*message)
        );
        assert_eq!(error.request_id(), Some(id));
        assert!(error.to_string().ends_with(&format!("(request {id})")));
        let headers = error.headers().unwrap();
        assert!(
            CORRELATING
                .iter()
                .all(|(name, value)| headers[*name] == *value)
        );
        assert_eq!(headers["x-got"], "[redacted]");
        assert_nothing_leaks(&print_error(&error), "own values");
    }
    for seen in peer.requests() {
        assert_eq!(seen.header("x-tenant"), Some(HEADER));
        assert!(
            CORRELATING
                .iter()
                .all(|(name, value)| seen.header(name) == Some(*value))
        );
    }
}

#[tokio::test]
async fn fault_77_a_raw_response_of_another_endpoint_is_printed() {
    let refused = json!({"code": "no_note", "message": "there is no such note", "token": TOKEN});
    for (step, shown) in [
        (
            reply(200).body("<html><title>Sign in to the gateway"),
            "the body begins with \"<html><title>Sign in",
        ),
        (reply_of(400, &refused), "no_note: there is no such note"),
    ] {
        let peer = Peer::start([step]);
        let crm = crm_at(&peer);
        let call = crm.raw_call((Method::Get, "/api/crm/v1/notes"));
        assert_says(&call.await.unwrap_err(), &[shown]);
    }
}

#[tokio::test]
async fn fault_73_short_secrets_do_not_leak_and_do_not_garble_messages() {
    let scope = json!({"access_token": "e", "scope": "crm:people:read", "expires_in": 300});
    let refused = |message| reply_of(403, &json!({"code": "no", "message": message}));
    let missing = always(refused("a scope is missing: ask a person"));
    let peer = Peer::start(missing.tokens_always(reply_of(200, &scope)));
    let suite = suite_of(&peer).credentials(ClientCredentials::new("client", "s"));
    let error = suite.crm().people().list().await.unwrap_err();
    assert_says(&error, &["no: a scope is missing: ask a person"]);
    assert_says(&error, &["requires the scope crm:people:read"]);
    assert_says(&error, &["was granted crm:people:read"]);

    // The last part of a secret with a space is too short to be found alone, and it isn't a scope.
    let secret = "kX2pQ9vLm4Zt7Rw1 mQ1%rB8";
    let scope = json!({"access_token": TOKEN, "scope": format!("a {secret}"), "expires_in": 300});
    let peer = Peer::start(always(refused("no")).tokens_always(reply_of(200, &scope)));
    let suite = suite_of(&peer).credentials(ClientCredentials::new("client", secret));
    let error = suite.crm().people().list().await.unwrap_err();
    assert!(error.is_forbidden() && !print_error(&error).contains("mQ1"));

    // As a separate word, the secret is redacted together with its message. The body stays available.
    let peer = Peer::start(always(refused("token e is refused")).tokens_always(token("e")));
    let error = suite_of(&peer).crm().people().list().await.unwrap_err();
    assert_says(&error, &["403 forbidden no: [redacted"]);
    assert!(!error.to_string().contains("token e is") && error.body().is_some());
}

#[tokio::test]
async fn fault_73_a_header_named_after_a_secret_is_omitted() {
    let busy = reply(503)
        .header(&format!("x-{HEADER}"), "1")
        .header(&TOKEN.to_ascii_lowercase(), "2")
        .header(&format!("x-{}", &TOKEN[..12]), "3")
        .header("x-plain", "4")
        .header("retry-after", "7")
        .header("set-cookie", "session=abc");
    let peer = peer_of(busy);
    let crm = suite_of(&peer).crm();
    let own = CallOptions::default().with_header("x-tenant", HEADER);
    let error = get_person(&crm.with_defaults(own)).await.unwrap_err();

    let headers = error.headers().unwrap();
    let values = ["x-plain", "retry-after", "set-cookie"].map(|name| &headers[name]);
    assert_eq!(values, ["4", "7", "[redacted]"]);
    let mut names: Vec<_> = headers.keys().map(HeaderName::as_str).collect();
    names.sort_unstable();
    assert_eq!(
        names,
        ["content-length", "retry-after", "set-cookie", "x-plain"]
    );
    assert_nothing_leaks(&(print(headers) + &print_error(&error)), "names of headers");
}
