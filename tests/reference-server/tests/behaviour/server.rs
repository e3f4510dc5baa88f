//! The server as a thing in a test: isolation, repeatability, redaction.

use sdk_reference_server::{App, Operation, ReferenceServer, Transport};
use serde_json::json;

use crate::peer::Peer;

#[tokio::test]
async fn two_servers_share_nothing() {
    let (one, two) = (Peer::start().await, Peer::start().await);
    let body = json!({"commandType": "person.create", "payload": {"displayName": "Only Here"}});
    one.command(&body).await.expect(201);
    one.server.fault(Operation::GetToday).status(503);
    assert_eq!(one.walk("/people").await.len(), 301);
    assert_eq!(two.walk("/people").await.len(), 300);
    two.crm("/today").await.expect(200);
    assert_eq!(two.server.commits("submitCommand"), 0);
    assert_eq!(two.server.exchanges(), 2);
}

#[tokio::test]
async fn a_seed_repeats_the_data_and_another_does_not() {
    let people = async |seed: u64| {
        let server = ReferenceServer::builder()
            .seed(seed)
            .people(30)
            .start()
            .await;
        Peer::of(server).walk("/people").await
    };
    assert_eq!(people(7).await, people(7).await);
    assert_ne!(people(7).await, people(8).await);
}

#[tokio::test]
async fn both_transports_give_the_same_replies() {
    let mut bodies = Vec::new();
    for transport in [Transport::Wiremock, Transport::Hyper] {
        let server = ReferenceServer::builder()
            .transport(transport)
            .frozen_clock()
            .start()
            .await;
        let peer = Peer::of(server);
        let mut seen = Vec::new();
        for path in [
            "/people",
            "/today",
            "/funnel",
            "/presentation",
            "/people?limit=0",
            "/nowhere",
        ] {
            let got = peer.crm(path).await;
            seen.push((got.status, got.text));
        }
        bodies.push(seen);
    }
    assert_eq!(bodies[0], bodies[1]);
}

#[tokio::test]
async fn recorded_requests_show_no_secret() {
    let peer = Peer::start().await;
    let body = json!({"any": "thing"});
    peer.post_keyed(
        App::Accounting,
        "/invoice-drafts",
        "a-key-to-be-hidden",
        &body,
    )
    .await
    .expect(400);
    // A token request that went to the wrong application.
    let lost = peer.http.post(peer.server.crm_url() + "/oauth/token");
    let lost = lost.header("content-type", "application/x-www-form-urlencoded");
    assert_eq!(peer.read(lost.body(peer.grant())).await.status, 404);
    let secret = peer.server.client_secret();
    let requests = peer.server.requests();
    let shown = format!("{requests:?}");
    for request in &requests {
        assert!(!String::from_utf8_lossy(request.body()).contains(secret));
    }
    assert!(
        !shown.contains(secret) && !shown.contains("eyJ") && !shown.contains("a-key-to-be-hidden")
    );
    let draft = &peer.server.requests_for("createInvoiceDraft")[0];
    assert_eq!(draft.header("authorization"), Some("[redacted]"));
    assert_eq!(draft.idempotency_key(), Some("a-key-to-be-hidden"));
    assert_eq!(draft.body().as_ref(), body.to_string().as_bytes());
    assert_eq!(draft.status, Some(400));
}

#[tokio::test]
async fn the_ring_of_requests_is_bounded() {
    let peer = Peer::of(
        ReferenceServer::builder()
            .recorded_requests(3)
            .start()
            .await,
    );
    for _ in 0..5 {
        peer.get_with(App::Crm, "/api/health", "x")
            .await
            .expect(200);
    }
    let numbers: Vec<u64> = peer
        .server
        .requests()
        .iter()
        .map(|request| request.number)
        .collect();
    assert_eq!(numbers, [3, 4, 5]);
}

#[tokio::test]
async fn a_taken_port_is_reported() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let error = ReferenceServer::builder()
        .port(App::Crm, port)
        .try_start()
        .await
        .unwrap_err();
    assert!(error.to_string().contains("crm"), "{error}");
}
