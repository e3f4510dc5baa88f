//! Contracts that a test brings along, whose operations are served from their schemas.

use sdk_reference_server::{App, ReferenceServer};
use serde_json::{Value, json};

use crate::peer::{Got, Peer};

const DEALS: &str = include_str!("deals.yaml");
const DEAL: &str = r#"{"name": "Deal", "stage": "won", "secret": "s"}"#;

pub(crate) fn serving(document: &str) -> Peer {
    let builder = ReferenceServer::builder().contract(App::Crm, document);
    Peer::of(builder.in_memory())
}

/// Sends `METHOD path` with headers that every operation takes, or those instead.
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
async fn a_request_is_held_to_the_document_and_told_each_rule_that_it_breaks() {
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
    assert_eq!(cases.len(), 59);
    let ids = [
        "deals.create",
        "deals.remove",
        "deals.export",
        "activities.record",
    ];
    assert_eq!(ids.map(|id| peer.server.commits(id)), [0, 1, 4, 1]);
}

#[tokio::test]
async fn a_reply_shows_what_was_sent_and_its_headers() {
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
    let ids = |page: &Value| {
        page["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| item["id"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        [ids(&first), ids(&second)].concat(),
        ["D-0000", "D-1111", "D-2222"]
    );
    assert_eq!(second["nextCursor"], Value::Null);
    let other = send(&peer, &format!("GET /deals?cursor={cursor}"), "", "").await;
    assert!(
        other.status == 400 && other.text.contains("cursor: "),
        "{}",
        other.text
    );
}

#[tokio::test]
async fn a_key_is_for_one_command() {
    let peer = serving(DEALS);
    let first = send(&peer, "POST /deals", "", DEAL).await.expect(201);
    assert_eq!(
        send(&peer, "POST /deals", "", DEAL).await.expect(201),
        first
    );
    let got = send(&peer, "POST /deals", "", &DEAL.replace("won", "lost")).await;
    assert_eq!((got.status, got.code()), (409, "IDEMPOTENCY_CONFLICT"));
    let counts = || {
        (
            peer.server.commits("deals.create"),
            peer.server.attempts("deals.create"),
        )
    };
    assert_eq!(counts(), (1, 3));
    peer.server.reset();
    assert_eq!(counts(), (0, 0));
}

#[tokio::test]
async fn tokens_and_scopes_are_those_of_the_document() {
    let mut peer = serving(DEALS);
    peer.becomes("reader", |client| client.scopes(["deals.read"]));
    send(&peer, "GET /activities", "", "").await.expect(200);
    let got = send(&peer, "POST /deals", "", DEAL).await;
    assert_eq!((got.status, got.code()), (403, "insufficient_scope"));
    assert!(
        got.text
            .contains("deals.read with deals.write or deals.admin"),
        "{}",
        got.text
    );
    peer.becomes("admin", |client| client.scopes(["deals.admin"]));
    send(&peer, "POST /deals", "", DEAL).await.expect(201);
    peer.becomes("writer", |client| {
        client
            .without_scope("deals.admin")
            .without_scope("deals.read")
    });
    assert_eq!(send(&peer, "POST /deals", "", DEAL).await.status, 403);
    peer.becomes("outsider", |client| client.apps([App::Calendar]));
    assert_eq!(send(&peer, "GET /activities", "", "").await.status, 403);

    for (path, status) in [("/activities", 401), ("/deals/closed", 200)] {
        let request = peer.http.get(format!("{}{path}", peer.server.crm_url()));
        let got = peer.read(request).await;
        assert_eq!(
            (got.status, got.header("x-served-from-schema")),
            (status, Some("true"))
        );
    }
}

#[tokio::test]
async fn pages_records_and_faults_know_the_operations() {
    let peer = serving(DEALS);
    let got = send(&peer, "PUT /deals", "", "").await;
    let allowed = Some("GET, HEAD, POST");
    assert_eq!((got.status, got.header("allow")), (405, allowed));
    peer.server.fault("deals.remove").times(1).lose_reply();
    let request = peer
        .http
        .delete(format!("{}/deals/D-0001", peer.server.crm_url()));
    let request = request.bearer_auth(peer.token(App::Crm).await);
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
    assert_eq!(
        peer.get_with(App::Crm, "/openapi.yaml", "none").await.text,
        DEALS
    );
    let calendar = peer.get_with(App::Calendar, "/", "none").await.text;
    assert!(!calendar.contains("Served from its schema"));
}

#[tokio::test]
async fn a_document_that_cannot_be_served_is_refused_with_all_that_is_in_the_way() {
    let start = async |text: &str| {
        let builder = ReferenceServer::builder().contract(App::Crm, text);
        builder.try_start().await.unwrap_err().to_string()
    };
    let bad = r##"{"openapi": "2.0", "paths": {
        "/a/{b}/{c}{d}": {"get": {"operationId": "x", "parameters": [
            {"name": "b", "in": "path", "required": true, "style": "matrix", "schema": {}},
            {"name": "s", "in": "cookie", "required": true}], "responses": {"200": {"$ref": "#/nowhere"}}}},
        "/e": {"get": {"operationId": "x", "requestBody": {"$ref": "other.yaml#/X"}, "responses": {}}}},
        "components": {"schemas": {"A": {"$ref": "#/components/schemas/A"}, "B": {"enum": [{"$ref": "fine"}]}}}}"##;
    let problem = start(bad).await;
    for part in [
        "the contract of crm cannot be served",
        "3.0 or 3.1, not \"2.0\"",
        "\"#/nowhere\" leads nowhere",
        "\"other.yaml#/X\" leads nowhere",
        "#/components/schemas/A: ",
        "GET /a/{b}/{c}{d}: b: required in the path matrix",
        "s: required in the cookie",
        "two parameters in one segment",
        "GET /e: a second operation \"x\"",
    ] {
        assert!(problem.contains(part), "{part}: {problem}");
    }
    assert!(!problem.contains("fine"), "{problem}");
    for (text, part) in [
        ("", "3.0 or 3.1"),
        ("[", "not a document"),
        ("openapi: 3.1.0", "no operations"),
    ] {
        let problem = start(text).await;
        assert!(problem.contains(part), "{problem}");
    }
}

#[tokio::test]
async fn what_has_no_sample_is_said_and_the_rest_is_served() {
    let json = |schema: Value| json!({"get": {"responses": {"200": {"content": {"application/json": {"schema": schema}}}}}});
    let paths = json!({
        "/a": json(json!({"type": "string", "pattern": "^a$", "minLength": 2})),
        "/b": json(json!({"type": "integer", "nullable": true, "minimum": 4, "exclusiveMinimum": true})),
    });
    let peer = serving(&json!({"openapi": "3.0.3", "paths": paths}).to_string());
    let got = send(&peer, "GET /a", "", "").await;
    assert_eq!((got.status, got.code()), (501, "no_sample"));
    assert_eq!(send(&peer, "GET /b", "", "").await.expect(200), json!(5));
    assert_eq!(peer.server.attempts("get /a"), 1);
}
