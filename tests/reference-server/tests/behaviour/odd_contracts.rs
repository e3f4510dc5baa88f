//! Documents that are hard to serve: large, circular, ambiguous, or with unchecked keywords.

use serde_json::{Map, Value, json};

use crate::contract::{rejection, send, serving};
use crate::peer::Peer;

/// Builds an operation that returns this schema.
fn shows(schema: &Value) -> Value {
    json!({"responses": {"200": {"content": {"application/json": {"schema": schema}}}}})
}

/// Builds an operation that takes a body of this schema.
fn takes(schema: &Value) -> Value {
    let content = json!({"application/json": {"schema": schema}});
    json!({"requestBody": {"required": true, "content": content}, "responses": {"204": {}}})
}

fn document(paths: &Value, schemas: &Value) -> Peer {
    let text = json!({"openapi": "3.1.0", "paths": paths, "components": {"schemas": schemas}});
    serving(&text.to_string())
}

/// Builds a chain of thirty schemas, each of which refers to the next.
fn chain(link: impl Fn(&Value) -> Value, last: &Value) -> Value {
    let next = |at: usize| json!({"$ref": format!("#/components/schemas/S{}", at + 1)});
    let all = (0..30).map(|at| (format!("S{at}"), link(&next(at))));
    let all: Map<String, Value> = all.chain([("S30".to_owned(), last.clone())]).collect();
    all.into()
}

#[tokio::test]
async fn a_path_leads_to_the_most_specific_operation() {
    let id = json!({"name": "id", "in": "path", "required": true, "schema": {"type": "integer"}});
    let mut by_id = shows(&json!({"type": "integer"}));
    by_id["parameters"] = json!([id]);
    let latest = shows(&json!({"type": "string", "enum": ["latest"]}));
    let mut skipped = shows(&json!(true));
    skipped["x-sdk-skip"] = json!("its filter is an object");
    skipped["parameters"] =
        json!([{"name": "filter", "in": "query", "required": true, "style": "deepObject"}]);
    // `~` sorts after the `{` of the template.
    let paths = json!({"/a/{id}": {"get": by_id, "delete": by_id}, "/a/~latest": {"get": latest},
        "/skipped": {"get": skipped}});
    let peer = document(&paths, &json!({}));
    for (what, status, body) in [
        ("GET /a/~latest", 200, "\"latest\""),
        ("GET /a/7", 200, "1"),
        // Only the template has this method.
        ("DELETE /a/~latest", 400, "id: must be of type integer"),
        ("GET /skipped", 404, ""),
    ] {
        let got = send(&peer, what, "", "").await;
        assert_eq!(got.status, status, "{what}: {}", got.text);
        assert!(got.text.contains(body), "{what}: {}", got.text);
    }
}

#[tokio::test]
async fn a_document_that_cannot_be_served_is_rejected_with_every_problem() {
    let bad = r##"{"openapi": "2.0", "paths": {
        "/a/{b}/{c}{d}": {"get": {"operationId": "x", "parameters": [
            {"name": "b", "in": "path", "required": true, "style": "matrix", "schema": {}},
            {"name": "s", "in": "cookie", "required": true}], "responses": {"200": {"$ref": "#/nowhere"}}}},
        "/e": {"get": {"operationId": "x", "requestBody": {"$ref": "other.yaml#/X"}, "responses": {}}}},
        "components": {"schemas": {"A": {"$ref": "#/components/schemas/A"}, "B": {"enum": [{"$ref": "fine"}]},
            "C": {"type": ["strin", "null"]}}}}"##;
    let rows = [
        (bad, "the contract of crm cannot be served"),
        (bad, "3.0 or 3.1, not \"2.0\""),
        (bad, "\"#/nowhere\" is not in the document"),
        (bad, "\"other.yaml#/X\" is not in the document"),
        (bad, "#/components/schemas/A: "),
        (bad, "GET /a/{b}/{c}{d}: b: required in the path matrix"),
        (bad, "s: required in the cookie"),
        (bad, "two parameters in one segment"),
        (bad, "GET /e: duplicate operationId \"x\""),
        (bad, "#/components/schemas/C: unknown type \"strin\""),
        ("", "3.0 or 3.1"),
        ("[", "not a document"),
        ("openapi: 3.1.0", "no operations"),
    ];
    for (text, part) in rows {
        let problem = rejection(text).await;
        assert!(problem.contains(part), "{part}: {problem}");
        assert!(!problem.contains("fine"), "{problem}");
    }
}

#[tokio::test]
async fn building_a_sample_has_a_limit() {
    let first = json!({"$ref": "#/components/schemas/S0"});
    let none = json!({"type": "string", "minLength": 3, "maxLength": 2});
    let pair = |next: &Value| json!({"type": "object", "required": ["a", "b"], "properties": {"a": next, "b": next}});
    let both = |next: &Value| json!({"allOf": [next], "oneOf": [next, next]});
    let alone = |schema: Value| (schema, json!({}));
    for (schema, schemas) in [
        (first.clone(), chain(pair, &json!({"type": "string"}))),
        (first, chain(both, &none)),
        alone(none),
        alone(json!({"type": "array", "minItems": 1_000_000_000})),
        alone(json!({"type": "string", "minLength": 10_000_000_000_u64})),
        alone(json!({"type": "string", "pattern": "^((a{1000}){1000}){1000}$"})),
    ] {
        let peer = document(&json!({"/a": {"get": shows(&schema)}}), &schemas);
        let got = send(&peer, "GET /a", "", "").await;
        assert_eq!((got.status, got.code()), (501, "no_sample"), "{schema}");
        assert_eq!(peer.server.attempts("get /a"), 1);
    }
}

#[tokio::test]
async fn checking_a_value_has_a_limit() {
    let node = json!({"$ref": "#/components/schemas/Node"});
    let branch =
        |name: &str| json!({"type": "object", "required": [name], "properties": {"next": node}});
    let tree = json!({"oneOf": [branch("a"), branch("b"), {"type": "string"}]});
    let nested = |leaf: &str| {
        let inner = |inner: String, _| format!(r#"{{"a": 1, "next": {inner}}}"#);
        (0..60).fold(leaf.to_owned(), inner)
    };
    let texts: Vec<String> = (0..60_000).map(|number| number.to_string()).collect();
    let texts = json!(texts).to_string();
    let every = json!({"items": {"allOf": [{}, {}, {}, {}, {}, {}, {}, {}, {}, {}]}});
    let endless = json!({"anyOf": [{"$ref": "#/components/schemas/Endless"}, {"type": "integer"}]});
    let rows = [
        (&node, nested("\"x\""), 204, ""),
        (&node, nested("1"), 400, "matches no alternative"),
        (&json!({"uniqueItems": true}), texts.clone(), 204, ""),
        (&every, texts, 400, "too complex to check"),
        (&endless, "1".to_owned(), 204, ""),
    ];
    let paths = rows.iter().enumerate();
    let paths = paths.map(|(at, row)| (format!("/{at}"), json!({"post": takes(row.0)})));
    let paths: Map<String, Value> = paths.collect();
    let schemas = json!({"Node": tree, "Endless": endless});
    let peer = document(&paths.into(), &schemas);
    for (at, (schema, body, status, part)) in rows.iter().enumerate() {
        let got = send(&peer, &format!("POST /{at}"), "", body).await;
        assert_eq!(got.status, *status, "{schema}: {}", got.text);
        assert!(got.text.contains(part), "{schema}: {}", got.text);
    }
}

#[tokio::test]
async fn notes_list_unreached_operations_and_unchecked_keywords() {
    let one = |status: &str| {
        let mut one = shows(&json!({"const": "as it is"}));
        let mut shown = one["responses"]["200"].take();
        shown["headers"] = json!({"Content-Length": {"schema": {"example": 5}}, "X-Kept": {"schema": {"const": "a"}},
            "Transfer-Encoding": {"schema": {"const": "chunked"}}});
        one["responses"] = json!({status: shown});
        json!({"get": one})
    };
    let mut odd = one("200");
    odd["get"]["parameters"] = json!([{"name": "f", "in": "query", "style": "deepObject"}, {"name": "q", "in": "query",
        "schema": {"format": "currency", "pattern": "^(?=a)"}}]);
    let paths = json!({"/a/{x}": one("200"), "/a/{y}": one("200"), "/a/{y}.csv": one("200"),
        "/": one("200"), "/b": one("302"), "/odd": odd});
    let named = json!({"type": {"type": "string"}, "pattern": {"format": "uuid"}, "not": {},
        "properties": {"if": {"required": ["a"]}}, "default": {"contains": {}}});
    let peer = document(&paths, &json!({"type": {"properties": named}}));
    let crm = sdk_reference_server::App::Crm;
    let page = peer.get_with(crm, "/", "none").await.text;
    let notes = page.lines().filter_map(|line| line.strip_prefix("<li>"));
    let notes: Vec<&str> = notes.map(|note| note.trim_end_matches("</li>")).collect();
    let at = |place: &str, what: &str| format!("not checked: {what}, 1 times, first at {place}");
    let odd = "#/paths/~1odd/get/parameters/1/schema";
    let expected = [
        &at("#/components/schemas/type/properties/default", "contains"),
        &at("#/components/schemas/type/properties/properties", "if"),
        &at(odd, "the format currency"),
        &at(odd, "the pattern &#34;^(?=a)&#34;"),
        "not reached: GET /, because the server has a page there",
        "no documented success: GET /b responds with 501",
        "not checked: GET /odd: f",
        "not reached: GET /a/{y}, because /a/{x} matches its paths",
    ];
    assert_eq!(notes, expected);
    let got = send(&peer, "GET /b", "", "").await;
    assert_eq!((got.status, got.code()), (501, "no_sample"));
    let got = send(&peer, "GET /b", "prefer=status=302", "").await;
    assert_eq!(got.status, 302);
    // The actual response determines the framing headers, whatever the document says.
    let got = send(&peer, "GET /a/1", "", "").await;
    assert_eq!(got.header("transfer-encoding"), None);
    assert_eq!(got.header("x-kept"), Some("a"));
    assert_eq!(got.expect(200), json!("as it is"));
}

#[tokio::test]
async fn keywords_apply_to_requests_and_samples() {
    let lines = include_str!("keywords.txt").lines().skip(1);
    let cases: Vec<Vec<&str>> = lines.map(|line| line.split(" | ").collect()).collect();
    let paths = cases.iter().enumerate().map(|(at, case)| {
        let schema: Value = serde_json::from_str(case[0]).unwrap();
        let operations = json!({"get": shows(&schema), "post": takes(&schema)});
        (format!("/{at}"), operations)
    });
    let peer = document(&paths.collect(), &json!({}));
    for (at, case) in cases.iter().enumerate() {
        let sample = send(&peer, &format!("GET /{at}"), "", "").await;
        assert_eq!(sample.status, 200, "{case:?}: {}", sample.text);
        for (body, status, part) in [
            (case[1], 204, ""),
            (case[2], 400, case[3]),
            (&sample.text, 204, ""),
        ] {
            let got = send(&peer, &format!("POST /{at}"), "", body).await;
            assert_eq!(got.status, status, "{case:?} {body}: {}", got.text);
            assert!(got.text.contains(part), "{case:?} {body}: {}", got.text);
        }
    }
    assert_eq!(cases.len(), 21);
}

#[tokio::test]
async fn errors_have_the_documented_body_where_it_fits() {
    let said = json!({"code": {"type": "string"}, "message": {"type": "string"}, "status": {"const": 400}});
    let nested = json!({"error": {"properties": said}});
    let listed = json!({"errors": {"type": "array", "items": {"properties": said}}});
    let closed = json!({"code": {"enum": ["a"]}, "message": {"type": "string"}});
    let limit =
        json!([{"name": "limit", "in": "query", "schema": {"minimum": 1, "type": "integer"}}]);
    let rows = [
        ("/flat", "400", &said, Some("")),
        ("/nested", "4XX", &nested, Some("/error")),
        ("/listed", "default", &listed, Some("/errors/0")),
        ("/closed", "400", &closed, None),
        ("/other", "409", &said, None),
    ];
    let paths = rows.iter().map(|(path, status, fields, _)| {
        let error =
            json!({"content": {"application/problem+json": {"schema": {"properties": fields}}}});
        let responses = json!({"204": {}, *status: error});
        let operation = json!({"get": {"parameters": limit, "responses": responses}});
        ((*path).to_owned(), operation)
    });
    let peer = document(&paths.collect(), &json!({}));
    for (path, _, _, place) in rows {
        let got = send(&peer, &format!("GET {path}?limit=0"), "", "").await;
        let documented = got.header("content-type") == Some("application/problem+json");
        assert_eq!(documented, place.is_some(), "{path}");
        let body = got.expect(400);
        let mut expected =
            json!({"code": "validation_failed", "message": "limit: must be at least 1"});
        if documented {
            expected["status"] = json!(400);
        }
        let error = body.pointer(place.unwrap_or_default());
        assert_eq!(error, Some(&expected), "{path}");
    }
    peer.server.fault("get /nested").status(400);
    let struck = send(&peer, "GET /nested", "", "").await.expect(400);
    assert_eq!(struck["error"]["message"], "a scripted fault");
}
