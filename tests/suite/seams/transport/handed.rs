//! Existing HTTP clients, and the guarantees that the SDK can't give for them.

use http::Version;
use http::header::{AUTHORIZATION, HOST, USER_AGENT};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use reqwest::redirect::Policy;
use sdk_core::testing::ScriptedTransport;
use sdk_core::transport::RequestBody;
use sdk_core::{ClientAuthentication, ClientCredentials, Effect, ErrorKind, SuiteBuilder};
use sdk_reference_server::{RecordedRequest, ReferenceServer, Transport};

use crate::fixtures::{add_person, created, get_person, person};
use crate::peer::{Peer, always, redirect};
use crate::samples::kick_off;
use crate::support::{Clients, assert_says, assert_tried, builder_at, builder_for};

const CERTIFICATE: &str = include_str!("../../../reference-server/tests/tls/cert.pem");
const KEY: &str = include_str!("../../../reference-server/tests/tls/key.pem");

/// Returns a suite whose HTTP client follows redirects.
fn following(peer: &Peer) -> SuiteBuilder {
    builder_at(&peer.url()).http_client(reqwest::Client::new())
}

#[tokio::test]
async fn an_existing_client_serves_calls_and_exchanges() {
    let server = ReferenceServer::start().await;
    let shared = reqwest::Client::builder().redirect(Policy::none());
    let shared = shared.user_agent("another program").build().unwrap();
    // A client of another library, as a `tower` service.
    let service = Client::builder(TokioExecutor::new()).build_http::<RequestBody>();
    for builder in [
        builder_for(&server).http_client(shared),
        builder_for(&server).transport(service),
    ] {
        let suite = builder.suite();
        suite.crm().people().list().await.unwrap();
        let receipt = kick_off(&suite.calendar()).await.unwrap();
        assert_eq!(receipt.is_committed(), Some(true));
    }
    let requests = server.requests();
    assert_eq!(requests.len(), 8, "a token for each call");
    let agent = |request: &RecordedRequest| request.header("user-agent").map(str::to_owned);
    for agent in requests.iter().map(agent) {
        assert!(agent.unwrap().starts_with("suite-sdk-rust/"));
    }
}

#[tokio::test]
async fn a_tls_server_is_reached_with_both_http_versions() {
    for (http1, protocol) in [(false, Version::HTTP_2), (true, Version::HTTP_11)] {
        let server = ReferenceServer::builder().transport(Transport::Hyper);
        let server = server.tls(CERTIFICATE, KEY).public_host("localhost");
        let server = server.start().await;
        let root = reqwest::Certificate::from_pem(CERTIFICATE.as_bytes()).unwrap();
        let mut client = reqwest::Client::builder().tls_certs_only([root]);
        if http1 {
            client = client.http1_only();
        }
        let client = client.build().unwrap();
        let health = client.get(server.crm_url() + "/api/health").send();
        assert_eq!(health.await.unwrap().version(), protocol);
        let suite = builder_for(&server).http_client(client).suite();
        suite.crm().people().list().await.unwrap();
        kick_off(&suite.calendar()).await.unwrap();
    }
}

#[tokio::test]
async fn a_transport_gets_the_complete_request() {
    let scripted = ScriptedTransport::new().json(201, r#"{"outcome": "succeeded"}"#);
    let suite = builder_at("https://crm.suite.test/base").transport(scripted.clone());
    let crm = suite.user_agent("billing/1.4").crm();
    add_person(&crm).await.unwrap();

    let request = scripted.requests().remove(0);
    let uri = "https://crm.suite.test/base/api/crm/v1/commands";
    assert_eq!(
        (request.method().as_str(), request.uri()),
        ("POST", &uri.parse().unwrap())
    );
    assert!(request.headers()[AUTHORIZATION].is_sensitive());
    let agent = request.headers()[USER_AGENT].to_str().unwrap();
    assert!(agent.starts_with("billing/1.4 suite-sdk-rust/"));
    // The transport sets this header itself.
    assert!(!request.headers().contains_key(HOST));
}

#[test]
fn a_client_that_cannot_be_built_is_a_configuration_error() {
    let odd = reqwest::Client::builder().user_agent("two\nlines");
    let built = builder_at("https://suite.test").http_client(odd).build();
    let error = built.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Configuration);
    let words = ["the HTTP client cannot be built: ", "header value"];
    assert_says(&error, &words);
}

#[tokio::test]
async fn a_redirect_that_an_existing_client_followed_is_an_error_without_secrets() {
    for status in [301, 302, 303, 307, 308] {
        let elsewhere = Peer::start(always(person()));
        let peer = Peer::start(always(redirect(status, elsewhere.url())));
        let error = get_person(&following(&peer).crm()).await.unwrap_err();
        assert_tried(&error, ErrorKind::UnexpectedStatus, Effect::Unknown, 1);
        assert_says(&error, &[&elsewhere.url(), "redirect::Policy::none()"]);

        let moved = redirect(status, format!("{}/oauth/token", elsewhere.url()));
        let peer = Peer::start(always(person()).tokens_always(moved));
        let basic = ClientCredentials::new("client", "hunter2");
        let form = basic.clone();
        let form = form.with_authentication(ClientAuthentication::RequestBody);
        for credentials in [form, basic] {
            let crm = following(&peer).credentials(credentials).crm();
            let error = get_person(&crm).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::TokenUnavailable, "{error}");
            assert!(!error.is_retryable(), "{error}");
            assert_says(&error, &["redirect"]);
        }
        assert_eq!(peer.requests().len(), 0);
        // reqwest sends no credential to another origin.
        for seen in elsewhere.exchanges().iter().chain(&elsewhere.requests()) {
            assert!(!format!("{seen:?}").contains("hunter2"), "{seen:?}");
            assert_eq!(seen.header("authorization"), None);
        }
    }
    for status in [307, 308] {
        let elsewhere = Peer::start(always(created()));
        let peer = Peer::start(always(redirect(status, elsewhere.url())));
        let error = kick_off(&following(&peer).calendar()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::UnexpectedStatus);
        assert_eq!(error.status(), Some(status));
        assert_eq!(elsewhere.connections(), 0, "a command is not redirected");
    }
}

#[test]
fn a_transport_that_resolves_names_itself_gets_plain_http_only_for_ip_addresses() {
    let at = |host: &str| builder_at(&format!("http://{host}:4010"));
    let through: [fn(SuiteBuilder) -> SuiteBuilder; 2] = [
        |suite| suite.transport(ScriptedTransport::new()),
        |suite| suite.http_client(reqwest::Client::new()),
    ];
    for through in through {
        for host in ["localhost", "evil.localhost"] {
            let error = through(at(host)).build().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Configuration);
            assert_says(&error, &[host, "127.0.0.1", "allow_insecure_http"]);
            through(at(host)).allow_insecure_http().suite();
        }
        through(at("127.0.0.1")).suite();
        through(at("[::1]")).suite();
    }
}
