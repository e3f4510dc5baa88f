//! The client of hyper, whatever the usual one is: what its caller gets, and what servers and proxies see of it.

use std::future::{Ready, ready};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::future::BoxFuture;
use http::Uri;
use sdk_core::transport::hyper_util::client::legacy::connect::HttpConnector;
use sdk_core::transport::hyper_util::client::legacy::connect::dns::Name;
use sdk_core::transport::hyper_util::client::proxy::matcher::Matcher;
use sdk_core::transport::{HyperClient, HyperClientBuilder};
use sdk_core::{App, Effect, ErrorKind, RetryPolicy, SuiteBuilder};
use tower_service::Service;

use super::front::{CERTIFICATE, Hello, known, tls, tunnels};
use crate::faults::fixtures::{Given, add_person, committed, get_person, person};
use crate::peer::{Peer, Protocol, always, over_both, script};
use crate::support::{Clients, assert_says, assert_tried, assert_unsent, builder_at, drop_when};

/// A suite at an origin, which needs no server for its tokens.
fn suite(origin: &str, client: HyperClientBuilder) -> SuiteBuilder {
    builder_at(origin).token_source(Given).http_client(client)
}

/// The origin of a server by this name.
fn https(name: &str, address: SocketAddr) -> String {
    format!("https://{name}:{}", address.port())
}

/// The certificate as it goes over the wire.
fn shown() -> Option<Vec<u8>> {
    use sdk_core::transport::rustls::pki_types::{CertificateDer, pem::PemObject as _};
    CertificateDer::from_pem_slice(CERTIFICATE)
        .ok()
        .map(|it| it.to_vec())
}

#[tokio::test]
async fn tls_has_the_name_the_protocol_of_both_and_the_certificate_of_the_client() {
    for offered in [&["h2", "http/1.1"][..], &["http/1.1"]] {
        let peer = Peer::start(always(person()));
        let server = tls(&peer.url(), offered);
        let client = HyperClient::builder().no_proxy().tls(known());
        let crm = suite(&https("localhost", server.address), client).crm();

        for _ in 0..2 {
            get_person(&crm).await.unwrap();
        }

        let hello = Hello {
            name: Some("localhost".to_owned()),
            protocol: Some(offered[0].to_owned()),
            certificate: shown(),
        };
        assert_eq!(server.seen(), [hello], "one connection for both calls");
        let seen = peer.requests();
        let host = seen[0].header("host").is_some();
        assert_eq!((seen.len(), host), (2, offered[0] == "http/1.1"));
    }
    // Roots that do not know the server: those of the operating system.
    let peer = Peer::start(always(person()));
    let server = tls(&peer.url(), &["h2"]);
    let client = HyperClient::builder().no_proxy();
    let crm = suite(&https("localhost", server.address), client).crm();
    let error = add_person(&crm).await.unwrap_err();
    assert_tried(&error, ErrorKind::Connect, Effect::NotSent, 1);
    assert_says(&error, &["TLS handshake failed"]);
    assert_eq!(peer.connections(), 0);
}

#[tokio::test]
async fn fault_70_a_tunnel_leads_to_the_server_or_is_refused_before_anything_is_sent() {
    let peer = Peer::start(always(person()));
    let server = tls(&peer.url(), &["h2"]);
    let proxy = tunnels(server.address);
    for (credential, lets) in [("ann:hunter2@", true), ("ann:wrong@", false), ("", false)] {
        let proxies = format!("http://{credential}{}", proxy.address);
        let proxies = Matcher::builder().https(proxies).build();
        let client = HyperClient::builder().proxies(proxies).tls(known());
        let suite = suite("https://suite.test", client).retry(RetryPolicy::none());
        let crm = suite.crm();
        if lets {
            get_person(&crm).await.unwrap();
            continue;
        }
        let error = add_person(&crm).await.unwrap_err();
        assert_tried(&error, ErrorKind::Connect, Effect::NotSent, 1);
        let through = format!("suite.test:443 through the proxy http://{}", proxy.address);
        assert_says(&error, &[&through, "proxy authorization required"]);
        assert!(!error.to_string().contains("wrong"), "{error}");
    }
    let asked = proxy.seen();
    assert_eq!(asked.len(), 3);
    for head in &asked {
        assert_eq!(head[0], "CONNECT suite.test:443 HTTP/1.1");
    }
    let [hello] = &server.seen()[..] else {
        panic!("two were refused: {:?}", server.seen())
    };
    assert_eq!(hello.name.as_deref(), Some("suite.test"));
    assert_eq!(hello.protocol.as_deref(), Some("h2"));
    let seen = &peer.requests()[0];
    assert!(seen.target.starts_with("/api/crm/"), "{}", seen.target);
    assert_eq!(seen.header("proxy-authorization"), None);
}

/// Knows one address, and notes for what it was asked for it.
#[derive(Clone)]
struct Asked(Arc<Mutex<Vec<String>>>, SocketAddr);

impl Service<Name> for Asked {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = std::io::Error;
    type Future = Ready<std::io::Result<Self::Response>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        self.0.lock().unwrap().push(name.as_str().to_owned());
        ready(Ok(vec![self.1].into_iter()))
    }
}

impl Service<Uri> for Asked {
    type Response = <HttpConnector as Service<Uri>>::Response;
    type Error = <HttpConnector as Service<Uri>>::Error;
    type Future = BoxFuture<'static, Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        self.0.lock().unwrap().push(uri.to_string());
        let near = format!("http://{}", self.1).parse().unwrap();
        Box::pin(async move { HttpConnector::new().call(near).await })
    }
}

#[tokio::test]
async fn a_resolver_is_asked_for_names_but_not_for_those_of_loopback() {
    let peer = Peer::start(always(person()));
    let server = tls(&peer.url(), &["http/1.1"]);
    let asked = Asked(Arc::default(), SocketAddr::from(([127, 0, 0, 1], 0)));
    let client = HyperClient::builder().no_proxy().tls(known());
    let client = client.resolver(asked.clone());
    let near = format!(
        "http://deep.localhost:{}",
        peer.url().rsplit(':').next().unwrap()
    );
    let far = https("suite.test", server.address);
    let suite = suite(&near, client)
        .application_url(App::Platform, far)
        .suite();

    get_person(&suite.crm()).await.unwrap();
    suite.platform().apps().list().await.unwrap();

    assert_eq!(*asked.0.lock().unwrap(), ["suite.test"]);
    assert_eq!(server.seen()[0].name.as_deref(), Some("suite.test"));
    assert_eq!(peer.requests().len(), 2);
}

#[tokio::test]
async fn a_connector_of_the_caller_does_everything_itself() {
    let peer = Peer::start(always(person()));
    let address = peer.url().trim_start_matches("http://").parse().unwrap();
    let asked = Asked(Arc::default(), address);
    let own = || HyperClient::builder().connector(asked.clone());
    let crm = suite("http://crm.suite.test", own())
        .allow_insecure_http()
        .crm();

    get_person(&crm).await.unwrap();

    assert_eq!(*asked.0.lock().unwrap(), ["http://crm.suite.test/"]);
    assert_eq!(peer.requests()[0].header("host"), Some("crm.suite.test"));
    // It need not bind such names to loopback.
    let error = suite("http://localhost:1", own()).build().unwrap_err();
    assert_unsent(&error, ErrorKind::Configuration, &["127.0.0.1"]);
}

#[tokio::test]
async fn a_client_that_exists_already_is_shared_also_below_layers() {
    let peer = Peer::start(always(person()));
    let proxies = Matcher::builder().all(peer.url().replace("//", "//ann:hunter2@"));
    let client = HyperClient::builder().proxies(proxies.build()).build();
    let bare = |origin: &str| builder_at(origin).token_source(Given);
    let near = [
        bare(&peer.url()).http_client(client.clone()),
        bare(&peer.url()).transport(client.clone()),
        bare(&peer.url().replace("127.0.0.1", "localhost")).http_client(client.clone()),
    ];
    let far = || bare("http://crm.suite.test").allow_insecure_http();
    let far = [far().http_client(client.clone()), far().transport(client)];
    for suite in near.into_iter().chain(far) {
        get_person(&suite.crm()).await.unwrap();
    }

    let seen = peer.requests();
    let shared: Vec<_> = seen.iter().map(|seen| seen.connection).collect();
    assert_eq!(shared, [1, 1, 2, 3, 3]);
    for (number, seen) in seen.iter().enumerate() {
        let is_far = number > 2;
        assert_eq!(seen.target.starts_with("http://crm.suite.test/"), is_far);
        let credential = is_far.then_some("Basic YW5uOmh1bnRlcjI=");
        assert_eq!(seen.header("proxy-authorization"), credential);
    }
}

#[test]
fn a_proxy_that_is_not_one_of_http_is_refused() {
    let proxies = Matcher::builder().all("socks5h://127.0.0.1:1080").build();
    let client = HyperClient::builder().proxies(proxies);
    let error = suite("https://crm.suite.test", client).build();
    let words = ["cannot be built", "socks5h"];
    assert_unsent(&error.unwrap_err(), ErrorKind::Configuration, &words);
}

over_both! { fault_45_a_connection_on_which_an_attempt_timed_out_is_not_used_again }

async fn fault_45_a_connection_on_which_an_attempt_timed_out_is_not_used_again(over: Protocol) {
    let slow = person().dripped(Duration::from_millis(40));
    for late in [committed().held(), slow] {
        let peer = over.start(script([person(), person().held(), late]).then_always(person()));
        let client = HyperClient::builder().no_proxy();
        let client = match over {
            Protocol::Http1 => client,
            Protocol::Http2 => client.http2_prior_knowledge(),
        };
        let crm = suite(&peer.url(), client).retry(RetryPolicy::none()).crm();
        get_person(&crm).await.unwrap();
        // A connection of streams is not to blame for a caller who waits no longer.
        drop_when(peer.saw(2), get_person(&crm).send()).await;

        let call = get_person(&crm).timeout(Duration::from_millis(60));
        let error = call.await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
        for _ in 0..2 {
            get_person(&crm).await.unwrap();
        }

        let seen = peer.requests();
        let used: Vec<_> = seen.iter().map(|seen| seen.connection).collect();
        let expected = match over {
            Protocol::Http1 => [1, 1, 2, 3, 3],
            Protocol::Http2 => [1, 1, 1, 2, 2],
        };
        assert_eq!(used, expected);
    }
}
