//! Edge cases of HTTP: odd paths, methods and bodies. The server rejects each, without a 500.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use reqwest::Method;
use sdk_reference_server::{App, ClientSpec, Operation, ReferenceServer, Transport};
use serde_json::json;
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::memory::Endless;
use crate::peer::{Got, PATIENCE, Peer, raw, rows};
use crate::rows::filled;

/// Sends a request line to the CRM, and returns the status of the response, if there is one.
async fn status(peer: &Peer, line: &[u8], token: &str) -> Option<u16> {
    let rest = format!("host: localhost\r\nauthorization: Bearer {token}\r\nconnection: close");
    let request = [line, b" HTTP/1.1\r\n", rest.as_bytes(), b"\r\n\r\n"].concat();
    let text = raw(peer.server.crm_url(), request).await;
    text.split(' ').nth(1)?.parse().ok()
}

/// A path and the status.
const PATHS: &str = "
    /api/crm/v1/people/.. | 400
    /api/crm/v1/people/%2E%2e/timeline | 400
    /api/crm/v1/organizations/../people/{person} | 404
    /api/crm/v1/people/{person}%2ftimeline | 400
    /api/crm/v1/people/{person}/ | 404
    //api/crm/v1/people/{person} | 404
    /api/crm/v1/%70eople/{person} | 200
    /%61%50i/crm/v1/people/{person} | 404
    /api/crm/v1%2Fpeople | 404
    /api/crm/v1/%2570eople | 404
    /%6fpenapi%2Eyaml | 200
    /api/health%+5 | 404
    /api/crm/v1/people/%FF%FE | 400
    /api/crm/v1/people/% | 400
    /api/crm/v1/people/%00 | 400
    /api/crm/v1/people/{encoded} | 200
    /api/crm/v1/people/ | 404
    /api/crm/v1/people/{long} | 400";

#[tokio::test]
async fn paths_are_not_normalized() {
    let peer = Peer::on_hyper().await;
    let token = peer.token(App::Crm).await;
    let encoded = peer.server.sample_person().replace("PER", "%50ER");
    let table = filled(&peer, PATHS).replace("{encoded}", &encoded);
    let table = table.replace("{long}", &"A".repeat(5_000));
    for [path, expected] in rows(&table) {
        let line = format!("GET {path}");
        let got = status(&peer, line.as_bytes(), &token).await;
        assert_eq!(got, expected.parse().ok(), "{path}");
    }
}

#[tokio::test]
async fn hyper_rejects_invalid_http() {
    let peer = Peer::on_hyper().await;
    let long = format!("GET /api/crm/v1/people?q={}", "a".repeat(200_000));
    let texts = ["GET * ", "G ET /", "GET", &*long].map(str::as_bytes);
    let latin = &b"GET /api/crm/v1/people?q=\xe9\xe9"[..];
    for line in texts.into_iter().chain([latin]) {
        let got = status(&peer, line, "").await;
        let refused = got.is_none_or(|status| (400..500).contains(&status));
        assert!(refused, "{line:.30?}: {got:?}");
    }
}

/// A method, a path, and the allowed methods.
const METHODS: &str = "
    HEAD | /api/crm/v1/commands | POST
    PUT | /api/crm/v1/people | GET, HEAD
    OPTIONS | /api/crm/v1/today | GET, HEAD";

#[tokio::test]
async fn another_method_is_not_allowed() {
    let peer = Peer::on_hyper().await;
    for [method, path, allowed] in rows(METHODS) {
        let got = peer.send(method.parse().unwrap(), App::Crm, path).await;
        let seen = (got.status, got.header("allow"));
        assert_eq!(seen, (405, Some(allowed)), "{method} {path}");
    }
}

#[tokio::test]
async fn a_body_that_is_too_long_is_rejected() {
    for peer in [Peer::on_hyper().await, Peer::start().await] {
        for (length, status) in [(1 << 20, 401), ((1 << 20) + 1, 413)] {
            let url = format!("{}/api/crm/v1/commands", peer.server.crm_url());
            let whole = peer.http.post(url).body(vec![b' '; length]);
            // A body of unknown length is sent in chunks.
            let body = Full::<Bytes>::from(vec![b' '; length]).map_frame(|frame| frame);
            let chunked = whole.try_clone().unwrap();
            for request in [whole, chunked.body(reqwest::Body::wrap(body))] {
                let got = peer.read(request).await;
                assert_eq!(got.status, status, "{length}: {}", got.text);
                let says = got.text.contains("at most 1048576 bytes: got");
                let is_named = got.code() == "content_too_large";
                assert_eq!((says, is_named), (status == 413, status == 413));
            }
        }
        // The other bodies did not arrive.
        assert_eq!(peer.server.attempts("submitCommand"), 2);
    }
}

#[tokio::test]
async fn a_client_that_writes_before_it_reads_sees_the_rejection() {
    let peer = Peer::on_hyper().await;
    let head = "POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 5000000\r\n\r\n";
    let request = head.to_owned() + &" ".repeat(5_000_000);
    let got = raw(peer.server.crm_url(), request).await;
    assert!(
        got.starts_with("HTTP/1.1 413 ") && got.contains("connection: close"),
        "{got}"
    );
}

#[tokio::test]
async fn the_server_does_not_wait_for_a_body_that_is_declared_too_long() {
    let builder = ReferenceServer::builder().control_port(0);
    let builder = builder.read_timeout(Duration::from_secs(86_400));
    for transport in [Transport::Hyper, Transport::InMemory] {
        let peer = Peer::of(builder.clone().transport(transport).start().await);
        let control = peer.server.control_url().unwrap();
        for url in [peer.server.token_url(), format!("{control}/-/data")] {
            let request = peer.http.post(&url).header("content-length", 2_u64 << 30);
            let request = request.body(reqwest::Body::wrap(Endless));
            let got = timeout(PATIENCE, peer.read(request)).await;
            let got = got.expect("it waits for the body");
            let explained = got.text.contains("1048576 bytes: got 2147483648");
            assert!(got.status == 413 && explained, "{url}: {}", got.text);
        }
        assert!(peer.server.requests().is_empty());
        let Some(address) = peer.server.address(App::Crm) else {
            continue;
        };
        let stream = TcpStream::connect(address).await.unwrap();
        let (mut http2, connection) = h2::client::handshake(stream).await.unwrap();
        tokio::spawn(connection);
        let request = http::Request::post(peer.server.crm_url() + "/api/crm/v1/commands");
        let request = request.header("content-length", 2_u64 << 30);
        let (response, _body) = http2
            .send_request(request.body(()).unwrap(), false)
            .unwrap();
        let response = timeout(PATIENCE, response).await;
        let response = response.expect("it waits for the body").unwrap();
        assert_eq!(response.status(), 413);
    }
}

/// A path of the CRM and the status. Property tests cover invalid and repeated values.
const QUERIES: &str = "
    /people?q=%FF%FE | 400
    /people?q=%ZZ | 200
    /people?q=%00%00 | 200
    /people?limit | 400
    /people?limit=5&unknown=%FF&unknown=2&%FF=3&&=& | 200
    /actors?limit=0&limit=%FF | 200
    /today?q=x | 200
    /funnel?from=2026-01-01T00:00:00%2B02:00 | 200
    /funnel?from=2026-01-01T00:00:00+02:00 | 400";

#[tokio::test]
async fn unknown_query_parameters_are_ignored() {
    let peer = Peer::on_hyper().await;
    for [path, status] in rows(QUERIES) {
        assert_eq!(peer.crm(path).await.status.to_string(), status, "{path}");
    }
}

#[tokio::test]
async fn malformed_or_repeated_headers_count_as_missing() {
    let peer = Peer::on_hyper().await;
    let token = peer.token(App::Calendar).await;
    let body = json!({"operation": "create"});
    let post = || peer.posting(App::Calendar, "/calendar/v1/event-commands", &body);
    let odd = post().header("idempotency-key", &b"a-key-of-sixte\xff\xfe"[..]);
    let got = peer.read(odd.bearer_auth(&token)).await;
    assert!(got.status == 400 && got.text.contains("Idempotency-Key"));
    let twice = post().bearer_auth(&token).bearer_auth(&token);
    let twice = twice.header("idempotency-key", "a-key-of-sixteen");
    assert_eq!(peer.read(twice).await.status, 401);
}

#[tokio::test]
async fn head_is_get_without_the_content() {
    for transport in [Transport::Hyper, Transport::Wiremock, Transport::InMemory] {
        let builder = ReferenceServer::builder().transport(transport);
        let peer = Peer::of(builder.frozen_clock().start().await);
        let people = "/api/crm/v1/people?limit=0 /api/crm/v1/people";
        let others = "/api/health /openapi.yaml /nowhere".split(' ');
        for path in people.split(' ').chain(others) {
            let mut get = peer.send(Method::GET, App::Crm, path).await;
            let mut head = peer.send(Method::HEAD, App::Crm, path).await;
            assert!(!get.text.is_empty() && head.text.is_empty(), "{path}");
            for got in [&mut get, &mut head] {
                got.headers.remove("x-request-id");
                got.headers.remove("date");
            }
            let (got, expected) = ((head.status, head.headers), (get.status, get.headers));
            assert_eq!(got, expected, "{transport:?} {path}");
        }
        let seen = peer.server.requests_for("getHealth");
        let methods: Vec<&str> = seen.iter().map(|request| &*request.method).collect();
        assert_eq!(methods, ["GET", "HEAD"]);
        assert_eq!(peer.server.attempts("getHealth"), 2);
    }
}

#[tokio::test]
async fn a_rejection_names_the_missing_right() {
    let mut peer = Peer::on_hyper().await;
    let today = format!("{}/api/crm/v1/today", peer.server.crm_url());
    let challenges = |got: Got, status: u16, parameters: &str| {
        let challenge = format!("Bearer realm=\"suite\"{parameters}");
        assert_eq!(
            (got.status, got.header("www-authenticate")),
            (status, Some(&*challenge))
        );
    };
    let invalid = r#", error="invalid_token", error_description="the token is not valid""#;
    for (header, parameters) in [("Basic YTpi", ""), ("Bearer ", ""), ("bearer x", invalid)] {
        let request = peer.http.get(&today).header("authorization", header);
        challenges(peer.read(request).await, 401, parameters);
    }
    challenges(peer.read(peer.http.get(&today)).await, 401, "");
    peer.once(Operation::GetToday).status(401);
    let scripted = invalid.replace("the token is not valid", "a scripted fault");
    challenges(peer.crm("/today").await, 401, &scripted);

    peer.becomes("reader", |client| client.scopes(["crm:tasks:write"]));
    let scope = r#", error="insufficient_scope", scope="crm:X""#;
    challenges(
        peer.crm("/today").await,
        403,
        &scope.replace('X', "today:read"),
    );
    let got = peer.command(&json!({"commandType": "person.create"})).await;
    challenges(got, 403, &scope.replace('X', "people:write"));
    peer.becomes("stranger", ClientSpec::without_workspace);
    challenges(peer.crm("/today").await, 403, "");
}

/// The head after `POST`, its body, and the status and a part of the response.
const FRAMED: &str = r"
    | | 400 | Host: required
    {host}{host} | | 400 | Host: given more than once
    {host}{chunked} | zz\r\n{}\r\n0\r\n\r\n | 400 | not framed
    {host}{chunked} | 2\r\n{}3\r\n | 400 | not framed
    {host}content-length: 1\r\ncontent-length: 2\r\n | {} | 400 | close
    {host}content-length: -1\r\n | {} | 400 | close
    {host}transfer-encoding: gzip\r\n | {} | 400 | close
    {host}{long} | {} | 431 | close
    {host}{many} | {} | 431 | close
    {host}content-length: 5\r\n{chunked} | 0\r\n\r\n | 401 | unauthenticated";

#[tokio::test]
async fn a_badly_framed_request_gets_a_response() {
    let peer = Peer::on_hyper().await;
    for [head, body, status, part] in rows(FRAMED) {
        let head = head.replace("{host}", "host: localhost\\r\\n");
        let head = head.replace("{chunked}", "transfer-encoding: chunked\\r\\n");
        let head = head.replace("{long}", &format!("x: {}\\r\\n", "x".repeat(1 << 20)));
        let head = head.replace("{many}", &"x-more: 1\\r\\n".repeat(1_000));
        let request = format!(
            "POST /api/crm/v1/commands HTTP/1.1\\r\\n{head}connection: close\\r\\n\\r\\n{body}"
        );
        let got = raw(peer.server.crm_url(), request.replace("\\r\\n", "\r\n")).await;
        let says = got.starts_with(&format!("HTTP/1.1 {status} ")) && got.contains(part);
        assert!(says, "{head:.60} {body}: {got}");
    }
    let old = raw(peer.server.crm_url(), "GET /api/health HTTP/1.0\r\n\r\n").await;
    assert!(old.starts_with("HTTP/1.0 200 "), "{old}");
    assert_eq!(
        peer.server.attempts("submitCommand"),
        1,
        "the others did not arrive"
    );
}

/// A target, a body, and the status. `keywords.txt` covers numbers that a schema checks.
const NUMBERS: &str = r#"
    event | {create, "startsAt": "9998-12-31T23:59:59Z", "endsAt": "9999-12-31T23:59:59Z"} | 201
    event | {create, "startsAt": "2016-12-31t22:59:59z", "endsAt": "2016-12-31T23:59:60.1234567890123Z"} | 201
    event | {create, "startsAt": "2016-12-31T22:59:59Z", "endsAt": "2016-12-31T23:59:61Z"} | 400
    intent | {"any": 1e999} | 201
    intent | {"any": -1E+999} | 201
    intent | {"any": 01} | 400
    command | {"commandType": "person.update", "subjectReference": "{person}", "expectedRecordVersion": {version}.0, "payload": {"jobTitle": "x"}} | 201"#;

#[tokio::test]
async fn numbers_and_dates_follow_their_grammars() {
    let peer = Peer::on_hyper().await;
    let person = format!("/people/{}", peer.server.sample_person());
    let version = peer.crm(&person).await.expect(200)["recordVersion"].to_string();
    let create =
        r#"{"operation": "create", "title": "t", "timezone": "UTC", "collectionReference": "c""#;
    let table = filled(&peer, NUMBERS).replace("{create", create);
    let table = table.replace("{version}", &version);
    for (place, [target, body, status]) in rows(&table).into_iter().enumerate() {
        let (app, path) = match target {
            "event" => (App::Calendar, "/calendar/v1/event-commands"),
            "intent" => (App::Accounting, "/approval-intents"),
            _ => (App::Crm, "/api/crm/v1/commands"),
        };
        let key = format!("key-of-sixteen-{place}");
        let got = peer.post_text(app, path, &key, body.to_owned()).await;
        assert_eq!(got.status.to_string(), status, "{body}: {}", got.text);
    }
}
