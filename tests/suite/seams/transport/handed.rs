//! A client of reqwest that exists already, and what can then not be guaranteed.

use reqwest::redirect::Policy;
use sdk_core::{
    App, ClientAuthentication, ClientCredentials, Effect, ErrorKind, Suite, SuiteBuilder,
};
use sdk_reference_server::ReferenceServer;

use super::service::Scripted;
use crate::fixtures::{created, get_person, person};
use crate::peer::{Peer, always, redirect};
use crate::samples::kick_off;
use crate::support::{Clients, assert_says, assert_tried, builder_at, builder_for};

/// A suite of a peer whose client follows redirects.
fn following(peer: &Peer) -> SuiteBuilder {
    builder_at(&peer.url()).http_client(reqwest::Client::new())
}

#[tokio::test]
async fn a_client_that_exists_already_serves_calls_and_exchanges() {
    let server = ReferenceServer::start().await;
    let shared = reqwest::Client::builder().redirect(Policy::none());
    let shared = shared.user_agent("another program").build().unwrap();
    let suite = builder_for(&server).http_client(shared).build().unwrap();
    suite.crm().people().list().await.unwrap();
    kick_off(&suite.calendar()).await.unwrap();

    for request in server.requests() {
        let agent = |(name, value): &(String, String)| {
            name == "user-agent" && value.starts_with("suite-sdk-rust/")
        };
        assert!(request.headers.iter().any(agent), "{request:?}");
    }
}

#[test]
fn a_client_that_cannot_be_built_is_a_mistake_in_the_settings() {
    let odd = reqwest::Client::builder().user_agent("two\nlines");
    let built = builder_at("https://suite.test").http_client(odd).build();
    let error = built.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Configuration);
    assert_says(
        &error,
        &["the HTTP client cannot be built: ", "header value"],
    );
}

#[tokio::test]
async fn fault_28_a_redirect_that_a_handed_in_client_followed_is_an_error() {
    for status in [301, 302, 303, 307, 308] {
        let elsewhere = Peer::start(always(person()));
        let peer = Peer::start(always(redirect(status, elsewhere.url())));
        let error = get_person(&following(&peer).crm()).await.unwrap_err();

        assert_tried(&error, ErrorKind::UnexpectedStatus, Effect::Unknown, 1);
        assert_says(&error, &[&elsewhere.url(), "redirect::Policy::none()"]);
        // reqwest takes no credential to another origin.
        assert_eq!(elsewhere.requests()[0].header("authorization"), None);
    }
}

#[tokio::test]
async fn fault_28_a_redirect_takes_no_command_along() {
    for status in [307, 308] {
        let elsewhere = Peer::start(always(created()));
        let peer = Peer::start(always(redirect(status, elsewhere.url())));
        let call = kick_off(&following(&peer).calendar());
        let error = call.await.unwrap_err();

        assert_eq!(error.kind(), ErrorKind::UnexpectedStatus);
        assert_eq!(error.status(), Some(status));
        assert_eq!(elsewhere.connections(), 0);
    }
}

#[tokio::test]
async fn fault_28_a_redirected_exchange_of_a_handed_in_client_takes_no_secret_along() {
    for status in [301, 302, 303, 307, 308] {
        let elsewhere = Peer::start(always(person()));
        let moved = redirect(status, format!("{}/oauth/token", elsewhere.url()));
        let peer = Peer::start(always(person()).tokens_always(moved));
        let basic = ClientCredentials::new("client", "hunter2");
        let form = basic
            .clone()
            .with_authentication(ClientAuthentication::RequestBody);
        for credentials in [form, basic] {
            let crm = following(&peer).credentials(credentials).crm();
            let error = get_person(&crm).await.unwrap_err();

            assert_eq!(error.kind(), ErrorKind::TokenUnavailable, "{error}");
            assert!(!error.is_retryable(), "{error}");
            assert_says(&error, &["redirect"]);
        }
        assert_eq!(peer.requests().len(), 0);
        for seen in elsewhere.exchanges().iter().chain(&elsewhere.requests()) {
            let shown = format!("{seen:?}");
            assert!(!shown.contains("hunter2"), "{shown}");
            assert_eq!(seen.header("authorization"), None);
        }
    }
}

#[test]
fn fault_44_a_transport_that_resolves_names_itself_gets_plain_http_by_address_only() {
    let scripted = Scripted::new(|_| async { unreachable!("nothing is sent") });
    let at = |host: &str| {
        Suite::builder()
            .application_url(App::Crm, format!("http://{host}:4010"))
            .core_url(format!("http://{host}:4013"))
            .credentials(ClientCredentials::new("client", "secret"))
    };
    let through = |own: bool, suite: SuiteBuilder| {
        if own {
            suite.transport(scripted.clone())
        } else {
            suite.http_client(reqwest::Client::new())
        }
    };
    for own in [true, false] {
        for host in ["localhost", "evil.localhost"] {
            let error = through(own, at(host)).build().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Configuration);
            assert_says(&error, &[host, "127.0.0.1", "allow_insecure_http"]);
            let suite = through(own, at(host)).allow_insecure_http();
            suite.build().unwrap();
        }
        through(own, at("127.0.0.1")).build().unwrap();
        through(own, at("[::1]")).build().unwrap();
    }
    // The suite's own client and a builder bind the names.
    at("localhost").build().unwrap();
    let suite = at("localhost").http_client(reqwest::Client::builder());
    suite.build().unwrap();
}
