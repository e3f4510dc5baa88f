//! Row 29, paths that could escape their prefix, and overlong URLs: input that is never sent.

use sdk_core::{App, ErrorKind, Method, SuiteBuilder};

use crate::fixtures::person;
use crate::peer::{Peer, always};
use crate::support::{Clients, assert_unsent, builder_at, suite_at};

/// Returns builders that set the address in every possible way.
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
fn fault_29_plain_http_beyond_loopback_and_user_information_are_rejected() {
    for address in [
        "http://crm.example.com",
        "http://10.0.0.1",
        "http://[2001:db8::1]",
        "",
    ] {
        for builder in with_address(address) {
            let error = builder.build().unwrap_err();
            assert_unsent(&error, ErrorKind::Configuration, &[]);
        }
    }
    for address in [
        "https://ann:hunter2@crm.example.com",
        "https://hunter2@crm.example.com",
        "http://ann:hunter2@127.0.0.1",
    ] {
        for builder in with_address(address) {
            let error = builder.allow_insecure_http().build().unwrap_err();
            let words = ["have no user name and no password"];
            assert_unsent(&error, ErrorKind::Configuration, &words);
            let printed = format!("{error} {error:#?}");
            assert!(!printed.contains("hunter2"), "{printed}");
        }
    }
    for address in ["127.0.0.1", "[::1]", "localhost"] {
        for builder in with_address(&format!("http://{address}:4010")) {
            builder.build().unwrap();
        }
    }
    for builder in with_address("http://crm.example.com") {
        builder.allow_insecure_http().build().unwrap();
    }
}

/// The rules for keys, path values and headers are tested in `contract::rules`.
#[tokio::test]
async fn a_path_that_could_escape_its_prefix_is_rejected_locally() {
    let peer = Peer::start(always(person()));
    let crm = suite_at(&peer).crm();
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
        let call = crm.raw_call((Method::Get, path));
        assert_unsent(&call.await.unwrap_err(), ErrorKind::InvalidInput, &[]);
    }
    // Not even a token is requested.
    assert_eq!(peer.connections(), 0);
}

#[tokio::test]
async fn a_url_that_is_too_long_fails_before_a_token_is_requested() {
    let peer = Peer::start([]);
    let crm = suite_at(&peer).crm();
    let long = "q".repeat(70_000);
    let list = || crm.people().list().query("x", &long);
    for error in [
        crm.people().list().q(&*long).await.unwrap_err(),
        crm.people().get(&*long).await.unwrap_err(),
        list().await.unwrap_err(),
        list().items().try_next().await.unwrap_err(),
    ] {
        let words = ["` must ", "got "];
        assert_unsent(&error, ErrorKind::InvalidInput, &words);
    }
    assert_eq!(peer.connections(), 0);
}
