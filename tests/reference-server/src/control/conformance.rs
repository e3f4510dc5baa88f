//! Checks that every operation of `control.yaml` is served, and that every response conforms to it.
//! `tests/behaviour/control.rs` has the rejections.

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Version};

use super::{answer, contract};
use crate::adapters::Transport;
use crate::app::App;
use crate::base::Base;
use crate::builder::Builder;
use crate::message::{Reply, Request};
use crate::routing;
use crate::schema::{Served, Side, problems};
use crate::suite::Suite;
use crate::token::key::TokenKey;

/// Requests, their bodies, and the expected statuses.
const REQUESTS: &str = r#"GET /-/health | | 200
GET /-/openapi.yaml | | 200
GET /-/state | | 200
POST /-/faults | {"faults": [{"operation": "getHealth", "then": {"schemaSuffix": "v9", "cursorLoop": 1, "loseReply": true}}]} | 201
POST /-/faults | {"faults": [{"when": {"skip": 1, "every": 2, "times": 3, "probability": 0.5, "seed": 7, "path": "a", "client": "b", "header": {"name": "c"}, "member": {"pointer": "/d", "value": 1}}, "then": {"status": 503}}]} | 201
POST /-/faults | {"faults": [{"then": {"delaySeconds": 0.5, "status": 503, "replyAfterCommitWith": 503, "retryAfter": 1, "headers": {"x": "y"}, "body": {"text": "z"}, "refuseConnection": true, "closeConnection": true, "loseReply": true, "stall": true, "truncateBody": true, "breakBody": true, "dripBody": {"bytes": 1, "pauseSeconds": 0.1}, "revokeToken": true, "tokenLifetimeSeconds": 1, "tokenExpiresIn": "soon", "omitExpiresIn": true, "unknownEnum": true, "unknownMember": true, "schemaSuffix": "v9", "cursorLoop": 1}}]} | 201
POST /-/faults | {"faults": [{"then": {}}]} | 400
POST /-/data | {"people": [{"displayName": "Ada Lovelace"}]} | 201
GET /-/faults | | 200
GET /-/fault-log | | 200
DELETE /-/faults/1 | | 200
DELETE /-/faults/1 | | 404
DELETE /-/faults | | 200
GET /-/clock | | 200
POST /-/clock | {"now": "2026-01-01T09:00:00+01:00"} | 200
GET /-/tokens | | 200
POST /-/tokens | {"lifetimeSeconds": 30} | 200
POST /-/tokens/revoke | | 200
POST /-/clients | {"id": "reader", "secret": "s", "scopes": ["crm:people:read"], "apps": ["crm"]} | 201
GET /-/clients | | 200
DELETE /-/clients/reader | | 200
GET /-/counters | | 200
GET /-/requests | | 200
GET /-/requests?operation=getHealth | | 200
POST /-/reset | | 200"#;

#[test]
fn every_response_conforms_to_the_document() {
    assert!(contract().notes.is_empty(), "{:?}", contract().notes);
    let suite = suite();
    let health = request("GET /api/health", "");
    let mut unseen: Vec<&str> = contract().operations.iter().map(|one| &*one.id).collect();
    for line in REQUESTS.lines() {
        let (line, rest) = line.split_once(" | ").unwrap();
        let (body, status) = rest.rsplit_once("| ").unwrap();
        if line == "GET /-/fault-log" {
            suite.handle(App::Crm, &health);
        }
        let request = request(line, body.trim());
        let reply = answer(&suite, &request);
        assert_eq!(reply.status.as_str(), status, "{line} {body}: {reply:?}");
        let operations = &contract().operations;
        let found = routing::route(operations, &request.method, &request.path).unwrap();
        let known = found.operation;
        conforms(known, &reply);
        unseen.retain(|id| *id != &*known.id);
    }
    assert!(unseen.is_empty(), "{unseen:?}");
}

#[test]
fn every_example_of_a_body_is_accepted() {
    for operation in &contract().operations {
        let body = &operation.raw["requestBody"]["content"]["application/json"];
        let example = &body["example"];
        if example.is_null() {
            continue;
        }
        let (method, path) = (&operation.method, &operation.path);
        let request = request(&format!("{method} {path}"), &example.to_string());
        let reply = answer(&suite(), &request);
        assert!(reply.status.is_success(), "{method} {path}: {reply:?}");
    }
}

#[test]
fn the_document_has_every_field_of_a_fault() {
    for (schema, fault) in [
        ("When", r#"{"when": {"?": 1}, "then": {"stall": true}}"#),
        ("Then", r#"{"then": {"?": 1}}"#),
    ] {
        // The error for an unknown field lists the known fields.
        let file = format!(r#"{{"faults": [{fault}]}}"#);
        let error = suite().load_faults(file.as_bytes()).unwrap_err();
        let mut known: Vec<&str> = error.split('`').skip(3).step_by(2).collect();
        known.sort_unstable();
        let document = contract().operations[0]
            .document
            .target("#/components/schemas");
        let fields = document.unwrap()[schema]["properties"].as_object().unwrap();
        let mut fields: Vec<&str> = fields.keys().map(String::as_str).collect();
        fields.sort_unstable();
        assert_eq!(fields, known, "{error}");
    }
}

fn suite() -> Suite {
    let settings = Builder::default().transport(Transport::InMemory);
    let key = TokenKey::new(&settings, true).unwrap();
    let bases = App::each(|app| Base::read("", &format!("http://{app}")).unwrap());
    Suite::new(settings, key, bases, None).unwrap()
}

fn request(line: &str, body: &str) -> Request {
    let (method, target) = line.split_once(' ').unwrap();
    let (path, query) = match target.split_once('?') {
        Some((path, query)) => (path, Some(query.to_owned())),
        None => (target, None),
    };
    let mut headers = HeaderMap::new();
    headers.insert("host", HeaderValue::from_static("localhost"));
    headers.insert("content-type", HeaderValue::from_static("application/json"));
    Request {
        method: method.parse().unwrap(),
        version: Version::HTTP_11,
        path: path.to_owned(),
        query,
        authority: None,
        headers,
        body: Bytes::copy_from_slice(body.as_bytes()),
    }
}

fn conforms(known: &Served, reply: &Reply) {
    let responses = &known.raw["responses"];
    let documented = responses.get(reply.status.as_str());
    let documented = documented.unwrap_or(&responses["default"]);
    let documented = known.document.resolve(documented);
    let contents = documented["content"].as_object().unwrap();
    let (media_type, content) = contents.iter().next().unwrap();
    assert_eq!(reply.headers["content-type"], **media_type);
    if media_type == "application/json" {
        let body = serde_json::from_slice(&reply.body).unwrap();
        let schema = &content["schema"];
        let broken = problems(&known.document, Side::Reply, schema, &body, "");
        assert!(broken.is_empty(), "{}: {broken:?} {body}", known.id);
    }
}
