//! Rows 29 and 31: what never reaches the wire.

use sdk_core::{
    App, Effect, Error, ErrorKind, IdempotencyKey, Method, PreparedCommand, SuiteBuilder,
};
use serde_json::Value;

use crate::commands::stored::EVENT_V1;
use crate::fixtures::person;
use crate::peer::{Peer, always, reply};
use crate::samples::kick_off;
use crate::support::{
    Clients, assert_says, assert_unsent, builder_at, calendar_at, crm_at, suite_at,
};

/// Every way in which an address can be given.
fn with_address(address: &str) -> [SuiteBuilder; 4] {
    let good = || builder_at("https://suite.example");
    [
        good().core_url(address),
        good().application_url(App::Crm, address),
        good().application_url(App::Accounting, address),
        good().token_url(address),
    ]
}

#[test]
fn fault_29_plain_http_beyond_loopback_is_refused() {
    for address in [
        "http://crm.example.com",
        "http://127.0.0.1.example.com",
        "http://localhost.example.com",
        "http://10.0.0.1",
        "http://[2001:db8::1]",
        "ftp://crm.example.com",
        "crm.example.com",
        "",
    ] {
        for builder in with_address(address) {
            let error = builder.build().unwrap_err();
            assert_unsent(&error, ErrorKind::Configuration, &[]);
        }
    }
    for address in [
        "http://127.0.0.1:4010",
        "http://[::1]:4010",
        "http://localhost:4010",
    ] {
        for builder in with_address(address) {
            builder.build().unwrap();
        }
    }
    for builder in with_address("http://crm.example.com") {
        builder.allow_insecure_http().build().unwrap();
    }
}

#[test]
fn fault_29_user_information_is_refused_and_not_repeated() {
    for address in [
        "https://ann:hunter2@crm.example.com",
        "https://hunter2@crm.example.com",
        "http://ann:hunter2@127.0.0.1",
    ] {
        for builder in with_address(address) {
            let error = builder.allow_insecure_http().build().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Configuration);
            let printed = format!("{error} {error:?}");
            assert!(!printed.contains("hunter2"), "{printed}");
            assert_says(&printed, &["have no user name and no password"]);
        }
    }
}

#[test]
fn fault_31_a_key_of_another_form_is_no_key() {
    let long = "k".repeat(161);
    for text in [
        "",
        "fifteen-chars-k",
        &long,
        "sixteen-chars-k\r\nx-evil: 1",
        "sixteen-chars-kéy",
        "sixteen chars key",
    ] {
        let error = text.parse::<IdempotencyKey>().unwrap_err();
        assert!(refused(&error), "{error}");
        assert!(serde_json::from_value::<IdempotencyKey>(text.into()).is_err());
        // Nor is it one in a stored command.
        let mut stored: Value = serde_json::from_str(EVENT_V1).unwrap();
        stored["idempotencyKey"] = text.into();
        let error = serde_json::from_value::<PreparedCommand>(stored).unwrap_err();
        let quoted = !text.is_empty() && error.to_string().contains(text);
        assert!(!quoted, "{error}");
    }
}

#[tokio::test]
async fn fault_31_a_path_value_that_is_no_single_segment_is_refused() {
    let peer = Peer::start(always(person()));
    let crm = crm_at(&peer);
    let platform = suite_at(&peer).platform();
    for bad in [
        "..", ".", "%2e%2e", "%2E.", "a/b", "a%2fb", "a\\b", "", "a\r\nb", "\0",
    ] {
        let publications = platform.publications();
        let errors = [
            crm.people().get(bad).await.unwrap_err(),
            publications.get(bad, "person", "1").await.unwrap_err(),
            publications.get("crm", bad, "1").await.unwrap_err(),
            publications.get("crm", "person", bad).await.unwrap_err(),
        ];
        for error in errors {
            assert!(refused(&error), "{bad:?}: {error}");
            assert_eq!(error.attempts(), 0);
        }
    }
    // Not even a token was asked for.
    assert_eq!(peer.connections(), 0);
}

#[tokio::test]
async fn fault_31_a_raw_path_stays_below_the_origin_and_carries_no_query() {
    let peer = Peer::start(always(person()));
    let crm = crm_at(&peer);
    for path in [
        "/api/../admin",
        "/api/%2e%2e/admin",
        "//elsewhere.example/api",
        "@elsewhere.example/api",
        ".elsewhere.example/api",
        "/api\\..\\admin",
        "/api//admin",
        "/api?admin",
        "/api#admin",
        "people",
        "/",
        "",
    ] {
        let error = crm.raw_call((Method::Get, path)).await.unwrap_err();
        assert!(refused(&error), "{path:?}: {error}");
    }
    assert_eq!(peer.connections(), 0);
}

#[tokio::test]
async fn fault_31_an_odd_path_value_that_is_one_segment_arrives_as_such() {
    let peer = Peer::start(always(reply(200).body("{}")));
    let platform = suite_at(&peer).platform();

    let call = platform.publications().get("crm", "a b?c#d", "100% ü");
    call.await.unwrap();

    let target = &peer.requests()[0].target;
    let (_, tail) = target.split_once("/publications/").unwrap();
    assert_eq!(tail, "crm/a%20b%3Fc%23d/100%25%20%C3%BC");
}

#[tokio::test]
async fn fault_31_a_header_that_breaks_the_line_is_refused() {
    let peer = Peer::start(always(person()));
    let (crm, calendar) = (crm_at(&peer), calendar_at(&peer));
    for (name, value) in [
        ("x-note", "one\r\nx-evil: 1"),
        ("x-note\r\nx-evil", "yes"),
        ("x-note", "é"),
        ("authorization", "Bearer mine"),
        ("idempotency-key", "sixteen-chars-k."),
        ("host", "elsewhere.example"),
    ] {
        let errors = [
            crm.people().list().header(name, value).await.unwrap_err(),
            kick_off(&calendar).header(name, value).await.unwrap_err(),
        ];
        for error in errors {
            assert!(refused(&error), "{name:?}: {error}");
            let line = error.to_string();
            assert!(line.lines().count() == 1 && !line.contains(value), "{line}");
        }
    }
    assert_eq!(peer.connections(), 0);
}

fn refused(error: &Error) -> bool {
    error.kind() == ErrorKind::InvalidInput && error.effect() == Effect::NotSent
}
