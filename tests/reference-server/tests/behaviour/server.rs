//! Properties for use in tests: isolation, repeatability, redaction.

use sdk_reference_server::{App, Builder, Operation, ReferenceServer, Transport};
use serde_json::json;

use crate::peer::Peer;
use crate::rows::{DRAFTS, send};

#[tokio::test]
async fn two_servers_share_nothing() {
    let (one, two) = (Peer::start().await, Peer::start().await);
    let person = json!({"commandType": "person.create", "payload": {"displayName": "Only Here"}});
    one.command(&person).await.expect(201);
    one.server.fault(Operation::GetToday).status(503);
    assert_eq!(one.walk("/people").await.len(), 301);
    assert_eq!(two.walk("/people").await.len(), 300);
    two.crm("/today").await.expect(200);
    assert_eq!(two.server.commits("submitCommand"), 0);
    assert_eq!(two.server.exchanges(), 2);
}

#[tokio::test]
async fn one_seed_gives_the_same_responses_by_each_transport_and_another_does_not() {
    let seen = async |builder: Builder| {
        let peer = Peer::of(builder.frozen_clock().start().await);
        let mut seen = Vec::new();
        let paths = "/people /today /funnel /presentation /people?limit=0 /nowhere";
        for path in paths.split(' ') {
            let got = peer.crm(path).await;
            seen.push((got.status, got.text));
        }
        seen
    };
    let builder = || ReferenceServer::builder().seed(7).people(30);
    let memory = seen(builder().transport(Transport::InMemory)).await;
    for transport in [Transport::Wiremock, Transport::Hyper] {
        assert_eq!(seen(builder().transport(transport)).await, memory);
    }
    assert_ne!(seen(builder().seed(8)).await[0], memory[0]);
}

#[tokio::test]
async fn tokens_repeat_between_runs_only_with_seeded_tokens() {
    let token = async |builder: Builder| Peer::of(builder.in_memory()).token(App::Crm).await;
    let random = || ReferenceServer::builder().frozen_clock();
    let seeded = || random().seeded_tokens();
    assert_eq!(token(seeded()).await, token(seeded()).await);
    assert_ne!(token(random()).await, token(random()).await);
}

#[tokio::test]
async fn recorded_requests_show_no_secret() {
    let peer = Peer::start().await;
    let (body, key) = (json!({"any": "thing"}), "a-key-to-be-hidden");
    send(&peer, DRAFTS, key, &body).await.expect(400);
    // A token request to the wrong application.
    let lost = peer.http.post(peer.server.crm_url() + "/oauth/token");
    let lost = lost.header("content-type", "application/x-www-form-urlencoded");
    peer.read(lost.body(peer.grant())).await.expect(404);
    let query = format!(
        "/people?Access_%54oken=eyJ&q=an&client_secret={}",
        peer.server.client_secret()
    );
    peer.crm(&query).await.expect(200);
    let query = peer.server.requests_for("listPeople")[0].query.clone();
    assert_eq!(
        query.unwrap(),
        "Access_%54oken=[redacted]&q=an&client_secret=[redacted]"
    );

    let secret = peer.server.client_secret();
    let requests = peer.server.requests();
    let shown = format!("{requests:?}");
    for hidden in [secret, "eyJ", key] {
        assert!(!shown.contains(hidden), "{hidden}: {shown}");
    }
    for request in &requests {
        assert!(!String::from_utf8_lossy(request.body()).contains(secret));
    }
    let draft = &peer.server.requests_for("createInvoiceDraft")[0];
    assert_eq!(draft.header("authorization"), Some("[redacted]"));
    assert_eq!(draft.idempotency_key(), Some(key));
    assert_eq!(draft.body().as_ref(), body.to_string().as_bytes());
    assert_eq!(draft.status, Some(400));
}

#[tokio::test]
async fn a_taken_port_is_reported() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let builder = ReferenceServer::builder().port(App::Crm, port);
    let error = builder.try_start().await.unwrap_err().to_string();
    assert!(error.contains("crm"), "{error}");
}
