//! Rows 73, 76, 77 and 81: what is meant to be shown beside what is not, and mistakes that tell nothing.

use reqwest::header::HeaderName;
use sdk_core::{CallOptions, Effect, ErrorKind, Method, RawJson};
use serde_json::json;

use super::hostile::{HEADER, SECRET, TOKEN, assert_nothing_leaks, suite_of};
use super::{print, print_error};
use crate::fixtures::{add_person, get_person};
use crate::peer::{Peer, always, json as reply_of, reply};
use crate::support::{Clients, assert_says, crm_at};

/// Headers by which people find a request again, with values that look like anything else that is secret.
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
async fn fault_81_what_a_caller_sent_to_be_repeated_is_shown() {
    let [(_, id), (_, correlation), (_, parent), (_, state)] = CORRELATING;
    let said = format!("see {correlation} of {parent} with {state}");
    let body = json!({"code": correlation, "message": said, "requestId": id});
    let refused = CORRELATING
        .iter()
        .fold(reply_of(409, &body), |step, (name, value)| {
            step.header(name, *value)
        });
    let peer = Peer::start(always(refused.header("x-got", HEADER)));
    let crm = crm_at(&peer);
    let mut defaults = CallOptions::default();
    let mut call = get_person(&crm).header("x-tenant", HEADER);
    for (name, value) in CORRELATING {
        defaults = defaults.with_header(name, value);
        call = call.header(name, value);
    }
    let by_default = crm.clone().with_defaults(defaults);

    for error in [
        call.await.unwrap_err(),
        get_person(&by_default)
            .header("x-tenant", HEADER)
            .await
            .unwrap_err(),
    ] {
        assert_eq!(error.message(), said);
        assert_eq!(error.code(), Some(correlation));
        assert_eq!(error.request_id(), Some(id));
        let end = format!("(request {id})");
        assert!(error.to_string().ends_with(&end), "{error}");
        let headers = error.headers().unwrap();
        for (name, value) in CORRELATING {
            assert_eq!(headers[name], value, "{name}");
        }
        assert_eq!(headers["x-got"], "[redacted]");
    }
    for seen in peer.requests() {
        for (name, value) in CORRELATING {
            assert_eq!(seen.header(name), Some(value));
        }
    }
}

#[tokio::test]
async fn fault_77_a_raw_reply_of_what_is_no_token_endpoint_is_shown() {
    let html = "<html><title>Sign in to the gateway</title></html>";
    let refused = json!({"code": "no_note", "message": "there is no such note", "token": TOKEN});
    let steps = [
        reply(200).body(html),
        reply(200).body("OK, noted"),
        reply_of(400, &refused),
    ];
    let peer = Peer::start(steps);
    let crm = crm_at(&peer);
    let call = || crm.raw_call((Method::Get, "/api/crm/v1/notes")).send();

    let page = call().await.unwrap_err();
    assert_eq!(page.kind(), ErrorKind::Decode);
    assert_says(&page, &["the body begins with \"<html><title>Sign in"]);
    let word = call().await.unwrap_err();
    assert_says(&word, &["the body begins with \"OK, noted\""]);
    let refused = call().await.unwrap_err();
    assert_eq!(refused.code(), Some("no_note"));
    assert_eq!(refused.message(), "there is no such note");
    assert_eq!(peer.requests().len(), 3);

    // At the documented path of tokens, it may be a secret.
    let path = "/oauth/token";
    let plain = reply(200).body(format!("plain {SECRET}"));
    let peer = Peer::start(always(plain.clone()).tokens_always(plain));
    let call = crm_at(&peer).raw_call((Method::Get, path)).without_token();
    let error = call.await.unwrap_err();
    assert_nothing_leaks(&print_error(&error), path);
    assert!(!error.to_string().contains("begins with"), "{error}");
}

#[tokio::test]
async fn fault_76_a_raw_path_with_a_query_or_fragment_is_refused_unseen() {
    let peer = Peer::start(always(reply(204)));
    let crm = crm_at(&peer);
    for path in [
        "/api/crm/v1/notes?client_secret=abc-7Jk2vW9p",
        "/api/crm/v1/notes#abc-7Jk2vW9p",
        "/api/crm/v1/{note}?client_secret=abc-7Jk2vW9p",
        "?client_secret=abc-7Jk2vW9p",
        "api/crm/v1/notes?client_secret=abc-7Jk2vW9p",
    ] {
        for method in [Method::Get, Method::Post] {
            let call = crm.raw_call((method, path)).path("note", "n-1");
            let mut printed = print(&call);
            let errors = [call.clone().prepare().unwrap_err(), call.await.unwrap_err()];

            // A read is not prepared, whatever its path.
            let kinds = errors.each_ref().map(sdk_core::Error::kind);
            let of_read = [ErrorKind::PreparedCommand, ErrorKind::InvalidInput];
            let is_read = method == Method::Get;
            let of_command = [ErrorKind::InvalidInput; 2];
            let expected = if is_read { of_read } else { of_command };
            assert_eq!(kinds, expected);
            let refused = &errors[1];
            assert_says(&refused, &["`path` must have no query"]);
            assert_eq!((refused.effect(), refused.attempts()), (Effect::NotSent, 0));
            for error in errors {
                printed += &print_error(&error);
            }
            assert!(!printed.contains("7Jk2"), "{printed}");
        }
    }
    assert!(peer.requests().is_empty() && peer.exchanges().is_empty());
}

#[tokio::test]
async fn fault_73_a_403_without_a_token_says_that_none_went_along() {
    let refused = reply_of(403, &json!({"code": "no", "message": "not for you"}));
    let peer = Peer::start(always(refused));
    let crm = crm_at(&peer);
    let by_caller = add_person(&crm).without_token();
    for (error, asked) in [
        (crm.service().meta().await.unwrap_err(), false),
        (by_caller.await.unwrap_err(), false),
        (get_person(&crm).await.unwrap_err(), true),
    ] {
        assert_eq!(error.kind(), ErrorKind::Forbidden);
        let line = error.to_string();
        let without = line.contains("the call was sent without a token");
        assert_eq!(without, !asked, "{line}");
        assert_eq!(line.contains("requires the scope"), asked, "{line}");
        assert_eq!(line.contains("granted"), asked, "{line}");
    }
    let seen = peer.requests();
    let bearers: Vec<_> = seen.iter().map(|seen| seen.bearer().is_some()).collect();
    assert_eq!(bearers, [false, false, true]);
}

#[tokio::test]
async fn fault_73_a_header_that_is_named_after_a_secret_is_left_out() {
    let echo = format!("x-{HEADER}");
    let token = json!({"access_token": TOKEN, "expires_in": 300});
    let busy = reply(503)
        .header(&echo, "1")
        .header(&TOKEN.to_ascii_lowercase(), "2")
        .header(&format!("x-{}", &TOKEN[..12]), "3")
        .header("x-plain", "4");
    let peer = Peer::start(always(busy).tokens_always(reply_of(200, &token)));
    let crm = suite_of(&peer).crm();

    let call = get_person(&crm).header("x-tenant", HEADER);
    let error = call.await.unwrap_err();

    let headers = error.headers().unwrap();
    assert_eq!(headers["x-plain"], "4");
    let mut names: Vec<_> = headers.keys().map(HeaderName::as_str).collect();
    names.sort_unstable();
    assert_eq!(names, ["content-length", "x-plain"]);
    assert_nothing_leaks(&(print(headers) + &print_error(&error)), "names of headers");
    assert_eq!(peer.requests()[0].header("x-tenant"), Some(HEADER));
}

#[tokio::test]
async fn fault_81_a_value_that_does_not_fit_the_callers_type_is_named_and_not_quoted() {
    #[derive(Debug, serde::Deserialize)]
    struct Result {
        #[serde(rename = "recordVersion")]
        _version: u64,
    }
    #[derive(Debug, serde::Deserialize)]
    enum Outcome {}
    #[derive(Debug, serde::Deserialize)]
    struct Other {
        #[serde(rename = "recordVersion")]
        _outcome: Outcome,
    }
    let body = json!({"outcome": "succeeded", "recordVersion": HEADER});
    let peer = Peer::start(always(reply_of(201, &body)));
    let crm = crm_at(&peer);
    let submit = async || {
        let call = add_person(&crm);
        call.header("x-own", HEADER).await.unwrap()
    };
    for error in [
        submit().await.decode::<Result>().unwrap_err(),
        submit().await.decode::<Other>().unwrap_err(),
        serde_json::from_str::<RawJson>(submit().await.as_str())
            .unwrap()
            .decode::<Result>()
            .unwrap_err(),
    ] {
        let printed = print_error(&error);
        assert!(!printed.contains(HEADER), "{printed}");
        let found = format!("a string of {} bytes", HEADER.len() + 2);
        assert_says(&error, &["at `recordVersion`", &found]);
    }
    assert_eq!(peer.requests()[0].header("x-own"), Some(HEADER));
}
