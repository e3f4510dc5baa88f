//! Unwanted access to a server: foreign pages, slow senders, and guessed keys.

use std::time::Duration;

use sdk_reference_server::{App, Builder, ReferenceServer, Transport};
use tokio::io::AsyncWriteExt;
use tokio::time::{sleep, timeout};

use crate::peer::{PATIENCE, Peer, connect, raw, rows};

fn on(transport: Transport) -> Builder {
    let builder = ReferenceServer::builder().transport(transport);
    builder.frozen_clock().control_port(0)
}

#[tokio::test]
async fn fault_87_the_signing_key_follows_from_neither_seed_nor_address() {
    let builder = || on(Transport::Hyper).audience(App::Crm, "crm");
    let first = Peer::of(builder().start().await);
    let port = first.server.core_url().rsplit(':').next().unwrap().parse();
    let token = first.token(App::Crm).await;
    let today = "/api/crm/v1/today";
    let seen = first.get_with(App::Crm, today, &token).await.expect(200);
    drop(first);

    let second = builder().port(App::Platform, port.unwrap());
    let second = Peer::of(second.start().await);

    second.get_with(App::Crm, today, &token).await.expect(401);
    // Both servers have the same data.
    assert_eq!(second.crm("/today").await.expect(200), seen);
}

/// Returns URLs on each port that respond to a GET.
fn doors(server: &ReferenceServer) -> Vec<String> {
    let pages =
        App::all().flat_map(|app| ["/", "/openapi.yaml"].map(|path| server.url(app) + path));
    let control = format!("{}/-/state", server.control_url().unwrap());
    pages
        .chain([server.crm_url() + "/api/health", control])
        .collect()
}

/// Hosts that a server accepts or rejects.
const LOCAL: &str = "localhost LocalHost:4010 localhost. 127.0.0.1:1 127.1.2.3 [::1]:4010 [::1] [::ffff:127.0.0.1]:4010";
const NAMED: &str = "suite.test Suite.Test:4010 suite.test.";
const ADDRESS: &str = "192.0.2.1:4010";
const FOREIGN: &str = "evil.example localhost.evil.example 127.0.0.1.evil.example [::1 suite.test.evil.example \
    [::1]evil.example localhost:evil evil@localhost localhost.. 2130706433 %6cocalhost localhost,evil.example";

#[tokio::test]
async fn fault_87_a_foreign_host_is_rejected_on_every_port() {
    let [hyper, wiremock] = [on(Transport::Hyper), on(Transport::Wiremock)];
    let allowing = |name: &str| hyper.clone().allow_host(name);
    for (builder, listens_at, ours, theirs) in [
        (&wiremock, "127.0.0.1", LOCAL, ADDRESS),
        (&allowing("suite.test"), "127.0.0.1", NAMED, ADDRESS),
        (&allowing("192.0.2.1"), "127.0.0.1", ADDRESS, NAMED),
        (&hyper, "::1", LOCAL, ADDRESS),
        (&hyper, "0.0.0.0", ADDRESS, NAMED),
    ] {
        let listens_at = listens_at.parse().unwrap();
        let builder = builder.clone().host(listens_at).control_host(listens_at);
        // Some machines lack some of these addresses.
        let Ok(server) = builder.try_start().await else {
            continue;
        };
        let peer = Peer::of(server);
        for url in doors(&peer.server) {
            for (hosts, status) in [(LOCAL, 200), (ours, 200), (theirs, 403), (FOREIGN, 403)] {
                for host in hosts.split_whitespace() {
                    let got = peer.read(peer.http.get(&url).header("host", host)).await;
                    assert_eq!(got.status, status, "{url} {host}");
                }
            }
            let path = url.splitn(4, '/').nth(3).unwrap();
            for (target, host) in [
                ("http://evil.example", "localhost"),
                ("http://localhost", "evil.example"),
                ("", ""),
            ] {
                let head = format!("GET {target}/{path} HTTP/1.1\r\nHost: {host}\r\n");
                let reply = raw(url.clone(), format!("{head}Connection: close\r\n\r\n")).await;
                assert!(reply.starts_with("HTTP/1.1 403 "), "{head}{reply}");
            }
        }
    }
}

#[tokio::test]
async fn fault_87_a_request_of_a_foreign_page_has_no_effect() {
    let peer = Peer::of(on(Transport::Hyper).start().await);
    let fault = peer.server.fault_everywhere().status(503);
    let exchange = peer.http.post(peer.server.token_url());
    let refused = peer.read(exchange.header("host", "evil.example")).await;

    assert_eq!((refused.status, refused.code()), (403, "foreign_host"));
    let attempts = peer.server.attempts("exchangeToken");
    assert_eq!((attempts, fault.struck()), (0, 0));
    // The server's operators can see the attempt.
    let seen = &peer.server.requests()[0];
    let seen = (seen.status, seen.header("host"));
    assert_eq!(seen, (Some(403), Some("evil.example")));
}

/// Requests that stop in the head, in the body and in a chunk; an empty request; and two incomplete HTTP/2 connections.
const HALVES: [&str; 6] = [
    "GET /api/health HTTP/1.1\r\nhost: localhost\r\nx-slow: ",
    "POST /api/health HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000\r\n\r\n{\"half\":",
    "POST /api/health HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n5\r\nab",
    "",
    "PRI * HTTP/2.0\r\n",
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
];

#[tokio::test]
async fn fault_87_an_incomplete_request_times_out() {
    let builder = on(Transport::Hyper).read_timeout(Duration::from_millis(100));
    let peer = Peer::of(builder.start().await);
    // An application and the control endpoint.
    for url in doors(&peer.server).into_iter().rev().take(2) {
        for half in HALVES {
            let reply = raw(url.clone(), half).await;
            // A client that has sent a complete head gets a response.
            let responded = reply.starts_with("HTTP/1.1 408 ") && reply.contains("in time");
            assert_eq!(responded, half.starts_with("POST"), "{url} {half} {reply}");
            assert!(!reply.contains("200 OK"), "{url} {half}");
        }
    }
    // The time limit applies to the whole body, even if it arrives in small pieces.
    let mut stream = connect(&peer.server.token_url()).await;
    stream.write_all(HALVES[1].as_bytes()).await.unwrap();
    let dripping = async {
        while stream.write_all(b" ").await.is_ok() {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(PATIENCE, dripping)
        .await
        .expect("it takes each drop");
    assert!(peer.server.requests().is_empty());
}

#[tokio::test]
async fn fault_87_incomplete_requests_do_not_delay_other_clients() {
    for transport in [Transport::Wiremock, Transport::Hyper] {
        let endless = on(transport).read_timeout(Duration::from_secs(86_400));
        let peer = Peer::of(endless.start().await);
        let url = peer.server.token_url();
        let halves = HALVES.repeat(5).into_iter();
        let slow: tokio::task::JoinSet<_> = halves.map(|half| raw(url.clone(), half)).collect();
        peer.crm("/today").await.expect(200);
        drop(peer);
        slow.join_all().await;
    }
}

/// A method, a path, the length of the body, and the status for a page that may read the response and for a page that
/// may not.
const FROM_PAGES: &str = "
    OPTIONS | /api/crm/v1/people | 0 | 204 | 405
    OPTIONS | /nowhere | 0 | 204 | 404
    GET | /api/health | 0 | 200 | 200
    GET | /api/crm/v1/people | 0 | 401 | 401
    GET | /api/health | 2000000 | 413 | 413";

#[tokio::test]
async fn pages_of_the_named_origins_may_call_the_applications() {
    let pages = ["http://localhost:5173", "https://app.test", "null"];
    for transport in [Transport::Wiremock, Transport::Hyper, Transport::InMemory] {
        let builder = on(transport);
        // Browsers omit the default port of a scheme in `Origin`.
        let two = builder.clone().cors(pages[0]).cors("https://App.test:443");
        for (builder, allowed) in [(builder.clone(), 0), (two, 2), (builder.cors("*"), 3)] {
            let peer = Peer::of(builder.start().await);
            for (number, origin) in pages.iter().enumerate() {
                cross(&peer, origin, number < allowed, allowed > 0).await;
            }
            let mut seen = peer.server.requests();
            seen.retain(|request| request.method == "OPTIONS");
            assert_eq!(seen.len(), 2 * (3 - allowed), "preflights are not recorded");
            let control = format!("{}/-/state", peer.server.control_url().unwrap());
            let request = peer.http.get(control).header("origin", pages[0]);
            let got = peer.read(request).await;
            assert_eq!(got.header("access-control-allow-origin"), None);
        }
    }
}

/// Calls the CRM from a page that may or may not read its responses.
async fn cross(peer: &Peer, origin: &str, reads: bool, varies: bool) {
    for [method, path, length, ours, theirs] in rows(FROM_PAGES) {
        let url = peer.server.crm_url() + path;
        let request = peer.http.request(method.parse().unwrap(), url);
        let request = request.body(vec![b' '; length.parse().unwrap()]);
        let request = request.header("access-control-request-headers", "x-trace");
        let request = request.header("access-control-request-method", "POST");
        let got = peer.read(request.header("origin", origin)).await;
        let status = if reads { ours } else { theirs };
        assert_eq!(got.status.to_string(), status, "{origin} {path}");
        let header = |name: &str| got.header(&format!("access-control-{name}"));
        let shared = (header("allow-origin"), header("expose-headers"));
        let expected = (reads.then_some(origin), reads.then_some("*"));
        assert_eq!(shared, expected, "{origin} {path}");
        assert_eq!(got.header("vary"), varies.then_some("Origin"));
        let headers = "authorization, content-type, idempotency-key, x-trace";
        let headers = (status == "204").then_some(headers);
        assert_eq!(header("allow-headers"), headers);
        let methods = header("allow-methods").unwrap_or_default();
        assert_eq!(methods.contains("POST"), status == "204");
    }
}
