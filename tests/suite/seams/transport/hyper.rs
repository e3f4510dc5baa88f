//! The hyper transport, from the point of view of its caller, of servers and of proxies.

use std::future::{Ready, ready};
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use sdk_core::{Effect, ErrorKind, RetryPolicy, SuiteBuilder};
use sdk_transport_hyper::hyper_util::client::legacy::connect::HttpConnector;
use sdk_transport_hyper::hyper_util::client::legacy::connect::dns::Name;
use sdk_transport_hyper::hyper_util::client::proxy::matcher::Matcher;
use sdk_transport_hyper::{HyperTransport, HyperTransportBuilder};
use tokio::net::{TcpListener, TcpSocket};
use tokio::time::advance;
use tower_service::Service;

use crate::fixtures::{Given, add_person, get_person, person};
use crate::peer::proxy::{Proxy, known};
use crate::peer::{Client, Over, Peer, Protocol, always, script};
use crate::support::{
    Clients, HoldClock, assert_says, assert_tried, assert_unsent, builder_at, builder_to, drop_when,
};

/// Returns a suite at an origin, with tokens that need no server.
fn suite(origin: &str, client: HyperTransportBuilder) -> SuiteBuilder {
    let builder = builder_at(origin).token_source(Given);
    builder.transport(client.build())
}

/// Returns a client without proxies that trusts the test certificate.
fn knowing() -> HyperTransportBuilder {
    HyperTransport::builder().proxies(None).tls(known())
}

#[tokio::test]
async fn tls_offers_both_protocols_and_names_the_host() {
    for offered in [&["h2", "http/1.1"][..], &["http/1.1"]] {
        let peer = Peer::start(always(person()));
        let server = Proxy::tls(&peer.url(), offered);
        let origin = format!("https://localhost:{}", server.address.port());
        let crm = suite(&origin, knowing()).crm();

        for _ in 0..2 {
            get_person(&crm).await.unwrap();
        }

        // Both calls use one connection.
        assert_eq!(server.seen(), [format!("localhost {}", offered[0])]);
        let named = peer.requests()[1].header("host").is_some();
        assert_eq!(named, offered[0] == "http/1.1");
        // The system's root certificates don't include the test certificate.
        let stranger = HyperTransport::builder().proxies(None);
        let error = add_person(&suite(&origin, stranger).crm()).await;
        let error = error.unwrap_err();
        assert_tried(&error, ErrorKind::Connect, Effect::NotSent, 1);
        assert_says(&error, &["TLS handshake failed"]);
        assert_eq!(peer.requests().len(), 2);
    }
}

#[tokio::test]
async fn a_tunnel_through_a_proxy_reaches_the_server() {
    let peer = Peer::start(always(person()));
    let server = Proxy::tls(&peer.url(), &["h2"]);
    let proxy = Proxy::tunnel(server.address);
    let proxies = proxy.url().replace("//", "//ann:hunter2@");
    let client = knowing().proxies(Matcher::builder().https(proxies).build());

    let crm = suite("https://suite.test", client).crm();
    add_person(&crm).await.unwrap();

    let asked = proxy.seen().concat();
    assert!(asked.starts_with("CONNECT suite.test:443 HTTP/1.1\r\n"));
    assert_says(&asked, &["Proxy-Authorization: Basic YW5uOmh1bnRlcjI=\r\n"]);
    assert_eq!(server.seen(), ["suite.test h2"]);
    let seen = peer.requests();
    assert_eq!(seen.len(), 1);
    assert!(seen[0].target.starts_with("/api/crm/"), "{seen:?}");
    assert_eq!(seen[0].header("proxy-authorization"), None);
}

/// Resolves every name to these addresses with ports, and records the name.
#[derive(Clone)]
struct Resolver(Vec<SocketAddr>, Arc<Mutex<Vec<String>>>);

impl Service<Name> for Resolver {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = io::Error;
    type Future = Ready<io::Result<Self::Response>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        self.1.lock().unwrap().push(name.to_string());
        ready(Ok(self.0.clone().into_iter()))
    }
}

#[tokio::test]
async fn a_custom_connector_resolves_names_below_tls() {
    let peer = Peer::start(always(person()));
    let server = Proxy::tls(&peer.url(), &["http/1.1"]);
    let resolver = Resolver(vec![server.address], Arc::default());
    let own = || knowing().connector(HttpConnector::new_with_resolver(resolver.clone()));

    let crm = suite("https://suite.test", own()).crm();
    get_person(&crm).await.unwrap();

    assert_eq!(*resolver.1.lock().unwrap(), ["suite.test"]);
    assert_eq!(server.seen(), ["suite.test http/1.1"]);
    // The SDK can't know whether the connector binds such names to loopback.
    let error = suite("http://localhost:1", own()).build().unwrap_err();
    assert_unsent(&error, ErrorKind::Configuration, &["127.0.0.1"]);
}

#[tokio::test]
async fn an_existing_client_is_shared_even_below_layers() {
    let peer = Peer::start(always(person()));
    let proxies = Matcher::builder().all(peer.url().replace("//", "//ann:hunter2@"));
    let client = HyperTransport::builder().proxies(proxies.build()).build();
    let near = peer.url().replace("127.0.0.1", "deep.localhost");
    for origin in [&peer.url(), &near, "http://crm.suite.test"] {
        let bare = || builder_at(origin).token_source(Given).allow_insecure_http();
        let direct = bare().transport(client.clone());
        for suite in [direct, bare().transport(client.service())] {
            get_person(&suite.crm()).await.unwrap();
        }
    }

    let seen = peer.requests();
    let shared: Vec<_> = seen.iter().map(|seen| seen.connection).collect();
    assert_eq!(shared, [1, 1, 2, 2, 3, 3]);
    for (number, seen) in seen.iter().enumerate() {
        // Requests to loopback use no proxy.
        let is_far = number > 3;
        assert_eq!(seen.target.starts_with("http://crm.suite.test/"), is_far);
        let credential = is_far.then_some("Basic YW5uOmh1bnRlcjI=");
        assert_eq!(seen.header("proxy-authorization"), credential);
    }
    let proxies = Matcher::builder().all("socks5h://127.0.0.1:1080").build();
    let built = suite("https://crm.suite.test", knowing().proxies(proxies)).build();
    let words = ["cannot be built", "socks5h"];
    assert_unsent(&built.unwrap_err(), ErrorKind::Configuration, &words);
}

#[tokio::test(start_paused = true)]
async fn a_connection_with_a_timed_out_attempt_is_not_reused() {
    const LIMIT: Duration = Duration::from_secs(5);
    let _clock = HoldClock::new();
    let late = || [person().held(), person().dripped(Duration::from_millis(40))];
    let http1 = late().map(|late| (Protocol::Http1, [1, 1, 2, 3, 3], late));
    let http2 = late().map(|late| (Protocol::Http2, [1, 1, 1, 2, 2], late));
    for (protocol, expected, late) in http1.into_iter().chain(http2) {
        let over = Over::new(Client::Hyper, protocol);
        let peer = over.start(script([person(), person().held(), late]).then_always(person()));
        let suite = builder_to(&peer).token_source(Given);
        let crm = suite.retry(RetryPolicy::none()).crm();
        get_person(&crm).await.unwrap();
        // A dropped call doesn't affect an HTTP/2 connection.
        drop_when(peer.saw(2), get_person(&crm).send()).await;

        let call = tokio::spawn(get_person(&crm).timeout(LIMIT).send());
        peer.saw(3).await;
        advance(LIMIT).await;
        let error = call.await.unwrap().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Timeout);
        for _ in 0..2 {
            get_person(&crm).await.unwrap();
        }

        let used = peer.requests().into_iter().map(|seen| seen.connection);
        assert_eq!(used.collect::<Vec<_>>(), expected);
    }
}

/// Returns a listener that accepts no connection and whose queue is full, so further connection attempts get no answer.
fn dead() -> (TcpListener, Vec<TcpStream>) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    let connect = |_| TcpStream::connect_timeout(&address, Duration::from_millis(200)).ok();
    let queued: Vec<_> = (0..16).map_while(connect).collect();
    assert!(queued.len() < 16, "the queue is never full");
    (listener, queued)
}

#[tokio::test]
async fn fault_92_all_addresses_of_a_name_are_tried_with_a_custom_connector() {
    let (dead, _queued) = dead();
    let peer = Peer::start(always(person()));
    let alive = peer.url().trim_start_matches("http://").parse().unwrap();
    let resolver = Resolver(vec![dead.local_addr().unwrap(), alive], Arc::default());
    let client = HyperTransport::builder()
        .proxies(None)
        .connector(HttpConnector::new_with_resolver(resolver))
        .connect_timeout(Duration::from_secs(1));
    let suite = suite("http://suite.test", client).retry(RetryPolicy::none());

    get_person(&suite.allow_insecure_http().crm())
        .await
        .unwrap();

    assert_eq!(peer.requests().len(), 1);
}
