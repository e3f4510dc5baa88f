//! HTTP at its edges: odd paths, odd methods, odd bodies. Each earns a refusal, none a 500.

use reqwest::Method;
use sdk_reference_server::App;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::peer::Peer;

/// Sends these bytes to the CRM and gives the status of the reply; nothing if there is none.
async fn raw(peer: &Peer, request: &[u8]) -> Option<u16> {
    let address = peer.server.crm_url().replace("http://", "");
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request).await.unwrap();
    let mut reply = Vec::new();
    let _ = stream.read_to_end(&mut reply).await;
    let text = String::from_utf8_lossy(&reply).into_owned();
    text.split(' ').nth(1)?.parse().ok()
}

fn request(head: &str, token: &str) -> Vec<u8> {
    format!(
        "{head} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\nconnection: close\r\n\r\n"
    )
    .into_bytes()
}

#[tokio::test]
async fn paths_are_taken_as_they_are() {
    let peer = Peer::on_hyper().await;
    let token = peer.token(App::Crm).await;
    let person = peer.server.sample_person();
    for (path, status) in [
        ("/api/crm/v1/people/..".to_owned(), 400),
        ("/api/crm/v1/people/%2e%2e".to_owned(), 400),
        ("/api/crm/v1/people/%2E%2E/timeline".to_owned(), 400),
        (format!("/api/crm/v1/organizations/../people/{person}"), 404),
        (format!("/api/crm/v1/people/{person}%2ftimeline"), 400),
        (format!("/api/crm/v1/people/{person}/"), 404),
        (format!("//api/crm/v1/people/{person}"), 404),
        (format!("/api/crm/v1/%70eople/{person}"), 404),
        (
            format!("/api/crm/v1/people/{}", person.replace("PER", "%50ER")),
            200,
        ),
        ("/api/crm/v1/people/%FF%FE".to_owned(), 400),
        ("/api/crm/v1/people/%".to_owned(), 400),
        ("/api/crm/v1/people/%00".to_owned(), 400),
        ("/api/crm/v1/people/".to_owned(), 404),
        (format!("/api/crm/v1/people/{}", "A".repeat(5_000)), 400),
    ] {
        let got = raw(&peer, &request(&format!("GET {path}"), &token)).await;
        assert_eq!(got, Some(status), "{path}");
    }
}

#[tokio::test]
async fn what_is_no_http_is_refused_by_hyper() {
    let peer = Peer::on_hyper().await;
    let token = peer.token(App::Crm).await;
    let refused = |got: Option<u16>| got.is_none_or(|status| (400..500).contains(&status));
    for head in ["GET * ", "G ET /", "GET", "GET \u{1}/ "] {
        let got = raw(&peer, &request(head, &token)).await;
        assert!(refused(got), "{head}: {got:?}");
    }
    let latin = b"GET /api/crm/v1/people?q=\xe9\xe9 HTTP/1.1\r\nhost: localhost\r\n\r\n";
    assert!(refused(raw(&peer, latin).await));
    let long = request(
        &format!("GET /api/crm/v1/people?q={}", "a".repeat(200_000)),
        &token,
    );
    assert!(refused(raw(&peer, &long).await));
    let many = "x-more: 1\r\n".repeat(1_000);
    let many =
        format!("GET /api/health HTTP/1.1\r\nhost: localhost\r\n{many}connection: close\r\n\r\n");
    assert_eq!(raw(&peer, many.as_bytes()).await, Some(431));
}

#[tokio::test]
async fn another_method_is_not_allowed() {
    for peer in [Peer::on_hyper().await, Peer::start().await] {
        for (method, path, allowed) in [
            (Method::HEAD, "/api/crm/v1/people", "GET"),
            (Method::PUT, "/api/crm/v1/people", "GET"),
            (Method::DELETE, "/api/crm/v1/commands", "POST"),
            (Method::OPTIONS, "/api/crm/v1/today", "GET"),
        ] {
            let got = peer.send(method.clone(), App::Crm, path).await;
            assert_eq!(
                (got.status, got.header("allow")),
                (405, Some(allowed)),
                "{method} {path}"
            );
        }
    }
}

#[tokio::test]
async fn a_body_that_is_too_long_is_refused_and_the_refusal_arrives() {
    for peer in [Peer::on_hyper().await, Peer::start().await] {
        let token = peer.token(App::Crm).await;
        let url = format!("{}/api/crm/v1/commands", peer.server.crm_url());
        let request = peer
            .http
            .post(url)
            .bearer_auth(&token)
            .header("content-type", "application/json");
        let got = peer.read(request.body(vec![b' '; 5 << 20])).await;
        assert_eq!((got.status, got.code()), (400, "validation_failed"));
        // Nobody reads the body of a GET.
        let url = format!("{}/api/crm/v1/actors", peer.server.crm_url());
        let got = peer
            .read(
                peer.http
                    .get(url)
                    .bearer_auth(&token)
                    .body(vec![b' '; 5 << 20]),
            )
            .await;
        assert_eq!(got.status, 200);
    }
}

#[tokio::test]
async fn only_parameters_of_the_operation_can_spoil_it() {
    let peer = Peer::on_hyper().await;
    for (path, status) in [
        ("/people?q=an&q=bo", 400),
        ("/people?limit=1&limit=1", 400),
        ("/people?q=%FF%FE", 400),
        ("/people?q=%ZZ", 200),
        ("/people?limit=", 400),
        ("/people?limit", 400),
        ("/people?limit=+5", 400),
        ("/people?limit=5&unknown=%FF&unknown=2&%FF=3&&=&", 200),
        ("/people?limit=99999999999999999999", 400),
        ("/people?q=%00%00", 200),
        ("/actors?limit=0&limit=%FF", 200),
        ("/today?q=x", 200),
        ("/funnel?from=2026-01-01T00:00:00%2B02:00", 200),
        ("/funnel?from=2026-01-01T00:00:00+02:00", 400),
    ] {
        assert_eq!(peer.crm(path).await.status, status, "{path}");
    }
}

#[tokio::test]
async fn headers_that_are_given_twice_count_as_none() {
    let peer = Peer::on_hyper().await;
    let token = peer.token(App::Calendar).await;
    let key = "a-key-of-sixteen";
    let body = json!({"operation": "create"});
    let posting = || peer.posting(App::Calendar, "/calendar/v1/event-commands", &body);
    let twice = posting().bearer_auth(&token).header("idempotency-key", key);
    let got = peer.read(twice.header("idempotency-key", key)).await;
    assert_eq!(got.status, 400);
    assert!(got.text.contains("Idempotency-Key"), "{}", got.text);
    let twice = posting()
        .header("idempotency-key", key)
        .bearer_auth(&token)
        .bearer_auth(&token);
    assert_eq!(peer.read(twice).await.status, 401);
    let odd = posting()
        .bearer_auth(&token)
        .header("idempotency-key", &b"a-key-of-sixte\xff\xfe"[..]);
    assert_eq!(peer.read(odd).await.status, 400);
}
