//! A contract from the test, whose operations are served from their schemas.

use sdk_reference_server::{App, ReferenceServer};
use serde_json::{Value, json};

use crate::peer::{Got, Peer};

const DEALS: &str = include_str!("deals.yaml");
const DEAL: &str = r#"{"name": "Deal", "stage": "won", "secret": "s"}"#;

pub(crate) fn serving(document: &str) -> Peer {
    let builder = ReferenceServer::builder().contract(App::Crm, document);
    Peer::of(builder.in_memory())
}

pub(crate) async fn rejection(document: &str) -> String {
    let builder = ReferenceServer::builder().contract(App::Crm, document);
    builder.try_start().await.unwrap_err().to_string()
}

/// Sends `METHOD path` with headers that every operation accepts. Headers in `headers` replace them.
pub(crate) async fn send(peer: &Peer, what: &str, headers: &str, body: &str) -> Got {
    let (method, path) = what.split_once(' ').unwrap();
    let url = format!("{}{path}", peer.server.crm_url());
    let mut request = peer.http.request(method.parse().unwrap(), url);
    let usual = [
        "x-tenant=6f2b8a3e-0000-4000-8000-00000000000a",
        "idempotency-key=a-key-of-sixteen",
        if body.is_empty() {
            "a=b"
        } else {
            "content-type=application/json"
        },
    ];
    let replaced = |usual: &&str| !headers.starts_with(usual.split('=').next().unwrap());
    let usual = usual.into_iter().filter(replaced);
    for header in usual.chain((!headers.is_empty()).then_some(headers)) {
        let (name, value) = header.split_once('=').unwrap();
        request = request.header(name, value);
    }
    let request = request.bearer_auth(peer.token(App::Crm).await);
    peer.read(request.body(body.to_owned())).await
}

#[tokio::test]
async fn a_rejection_names_every_rule_of_the_document_that_a_request_breaks() {
    let peer = serving(DEALS);
    let cases: Vec<&str> = include_str!("deals.txt").lines().skip(1).collect();
    for case in &cases {
        let mut parts = case.splitn(5, '|').map(str::trim);
        let [what, headers, body, status, part] = [(); 5].map(|()| parts.next().unwrap());
        let got = send(&peer, what, headers, body).await;
        assert_eq!(got.status.to_string(), status, "{case}: {}", got.text);
        assert!(got.text.contains(part), "{case}: {}", got.text);
        let bare = got.text.is_empty() && got.header("content-type").is_none();
        assert!(status != "204" || bare, "{case}");
    }
    assert_eq!(cases.len(), 65);
    let commits = [
        ("deals.create", 0),
        ("deals.remove", 1),
        ("deals.export", 4),
        ("activities.record", 1),
    ];
    for (id, count) in commits {
        assert_eq!(peer.server.commits(id), count, "{id}");
    }
}

#[tokio::test]
async fn a_response_echoes_the_request_and_has_documented_headers() {
    let peer = serving(DEALS);
    let body = r#"{"name": "Big deal", "stage": "lost", "secret": "s", "priority": 5}"#;
    let got = send(&peer, "POST /deals", "", body).await;
    assert_eq!(got.header("location"), Some("https://example.com/1"));
    assert_eq!(got.header("x-served-from-schema"), Some("true"));
    let emails = ["sample1@example.com", "sample2@example.com"].map(|text| json!({"email": text}));
    let expected = json!({"name": "Big deal", "stage": "lost", "priority": 5, "id": "D-0000",
        "version": "deal.v1", "value": {"amount": "1.00", "currency": "sam"}, "share": 0.25,
        "score": 10, "labels": {"sample": 1}, "closesOn": "2026-01-01", "contacts": emails});
    assert_eq!(got.expect(201), expected);
}

#[tokio::test]
async fn a_list_ends_on_its_second_page() {
    let peer = serving(DEALS);
    let first = send(&peer, "GET /deals?limit=1&open=true", "", "").await;
    assert_eq!(first.header("x-total"), Some("7"));
    assert_eq!(first.header("x-kinds"), Some("a, b"));
    let first = first.expect(200);
    let cursor = first["nextCursor"].as_str().unwrap();
    let second = format!("GET /deals?open=true&cursor={cursor}");
    let second = send(&peer, &second, "", "").await.expect(200);
    let items = [&first, &second].map(|page| page["items"].as_array().unwrap());
    let ids: Vec<_> = items
        .into_iter()
        .flatten()
        .map(|item| &item["id"])
        .collect();
    assert_eq!(ids, ["D-0000", "D-1111", "D-2222"]);
    assert_eq!(second["nextCursor"], Value::Null);
    let other = send(&peer, &format!("GET /deals?cursor={cursor}"), "", "").await;
    let named = other.text.contains("cursor: ");
    assert!(other.status == 400 && named, "{}", other.text);
}

#[tokio::test]
async fn a_key_that_is_reused_for_another_command_conflicts() {
    let peer = serving(DEALS);
    let first = send(&peer, "POST /deals", "", DEAL).await.expect(201);
    let again = DEAL.replace('{', r#"{"value": null, "#);
    let again = send(&peer, "POST /deals", "", &again).await;
    assert_eq!(again.expect(201)["id"], first["id"]);
    let got = send(&peer, "POST /deals", "", &DEAL.replace("won", "lost")).await;
    assert_eq!((got.status, got.code()), (409, "IDEMPOTENCY_CONFLICT"));
    let commits = || peer.server.commits("deals.create");
    assert_eq!((commits(), peer.server.attempts("deals.create")), (1, 3));
    peer.server.reset();
    assert_eq!((commits(), peer.server.attempts("deals.create")), (0, 0));
}

#[tokio::test]
async fn tokens_need_the_scopes_of_the_document() {
    let mut peer = serving(DEALS);
    let rows = [
        ("reader", "deals.read", 200, 403),
        ("admin", "deals.admin", 403, 201),
        ("writer", "deals.write", 403, 403),
    ];
    for (client, scope, read, written) in rows {
        peer.becomes(client, |client| client.scopes([scope]));
        let got = send(&peer, "GET /activities", "", "").await;
        assert_eq!(got.status, read, "{client}: {}", got.text);
        let got = send(&peer, "POST /deals", "", DEAL).await;
        assert_eq!(got.status, written, "{client}: {}", got.text);
        let needed = "deals.read with deals.write or deals.admin";
        assert!(written == 201 || got.text.contains(needed), "{}", got.text);
    }
    peer.becomes("outsider", |client| client.apps([App::Calendar]));
    assert_eq!(send(&peer, "GET /activities", "", "").await.status, 403);
    for (path, status) in [("/activities", 401), ("/deals/closed", 200)] {
        let request = peer.http.get(format!("{}{path}", peer.server.crm_url()));
        let got = peer.read(request).await;
        let mark = got.header("x-served-from-schema");
        assert_eq!((got.status, mark), (status, Some("true")));
    }
}

#[tokio::test]
async fn pages_recorded_requests_and_faults_know_the_operations() {
    let peer = serving(DEALS);
    let got = send(&peer, "PUT /deals", "", "").await;
    let allowed = Some("GET, HEAD, POST");
    assert_eq!((got.status, got.header("allow")), (405, allowed));
    peer.server.fault("deals.remove").times(1).lose_reply();
    let url = format!("{}/deals/D-0001", peer.server.crm_url());
    let request = peer
        .http
        .delete(url)
        .bearer_auth(peer.token(App::Crm).await);
    assert!(peer.try_read(request).await.is_none());
    assert_eq!(peer.server.commits("deals.remove"), 1);
    assert_eq!(peer.server.fault_log()[0].operation_id, "deals.remove");
    let seen = peer.server.requests_for("deals.remove");
    assert!(seen.len() == 1 && seen[0].served_from_schema() && seen[0].operation.is_none());
    let faults = r#"{"faults": [{"operation": "tree", "then": {"unknownMember": true}}]}"#;
    peer.server.load_faults(faults).unwrap();
    let tree = send(&peer, "GET /tree", "", "").await.expect(200);
    assert_eq!(tree.as_object().unwrap().len(), 5);

    let page = peer.get_with(App::Crm, "/", "none").await.text;
    let shown = [
        "Deals <small>contract 4.2",
        "deals.export",
        "deals.read deals.write",
        "Served from its schema",
    ];
    for part in shown {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("listPeople"));
    let document = peer.get_with(App::Crm, "/openapi.yaml", "none").await;
    assert_eq!(document.text, DEALS);
    let calendar = peer.get_with(App::Calendar, "/", "none").await.text;
    assert!(!calendar.contains("Served from its schema"));
}
