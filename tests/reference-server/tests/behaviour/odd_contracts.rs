//! Documents that are hard to serve: large, endless, ambiguous, or with what nobody checks.

use serde_json::{Value, json};

use crate::contract::{send, serving};
use crate::peer::{Got, Peer};

/// An operation that shows this schema.
fn shows(schema: &Value) -> Value {
    json!({"responses": {"200": {"content": {"application/json": {"schema": schema}}}}})
}

/// An operation that takes a body of this schema.
fn takes(schema: &Value) -> Value {
    json!({"requestBody": {"required": true, "content": {"application/json": {"schema": schema}}}, "responses": {"204": {}}})
}

fn document(paths: &Value, schemas: &Value) -> Peer {
    let text = json!({"openapi": "3.1.0", "paths": paths, "components": {"schemas": schemas}});
    serving(&text.to_string())
}

/// What a body of a schema gets.
async fn taken(peer: &Peer, body: &str) -> Got {
    send(peer, "POST /a", "", body).await
}

/// A chain of thirty schemas, each made of the next one.
fn chain(link: impl Fn(Value) -> Value, last: Value) -> Value {
    let next = |at: usize| json!({"$ref": format!("#/components/schemas/S{}", at + 1)});
    let mut all: serde_json::Map<String, Value> = (0..30)
        .map(|at| (format!("S{at}"), link(next(at))))
        .collect();
    all.insert("S30".to_owned(), last);
    all.into()
}

#[tokio::test]
async fn a_literal_path_comes_before_a_template() {
    let id = json!({"name": "id", "in": "path", "required": true, "schema": {"type": "integer"}});
    let mut by_id = shows(&json!({"type": "integer"}));
    by_id["parameters"] = json!([id]);
    let latest = shows(&json!({"type": "string", "enum": ["latest"]}));
    // `~` is sorted behind the template.
    let paths = json!({"/a/{id}": {"get": by_id, "delete": by_id}, "/a/~latest": {"get": latest}});
    let peer = document(&paths, &json!({}));
    let got = send(&peer, "GET /a/~latest", "", "").await;
    assert_eq!(got.expect(200), json!("latest"));
    assert!(send(&peer, "GET /a/7", "", "").await.expect(200).is_i64());
    // The template alone has this method.
    assert_eq!(send(&peer, "DELETE /a/~latest", "", "").await.status, 400);
}

#[tokio::test]
async fn an_operation_that_the_sdk_leaves_out_is_not_served() {
    let mut skipped = shows(&json!({"type": "integer"}));
    skipped["x-sdk-skip"] = json!("its filter is an object");
    skipped["parameters"] =
        json!([{"name": "filter", "in": "query", "required": true, "style": "deepObject"}]);
    let paths = json!({"/a": {"get": shows(&json!({"type": "integer"}))}, "/b": {"get": skipped}});
    let peer = document(&paths, &json!({}));
    assert!(send(&peer, "GET /a", "", "").await.expect(200).is_i64());
    assert_eq!(send(&peer, "GET /b", "", "").await.status, 404);
}

#[tokio::test]
async fn no_sample_takes_forever() {
    let first = json!({"$ref": "#/components/schemas/S0"});
    let none = json!({"type": "string", "minLength": 3, "maxLength": 2});
    let pair = |next: Value| json!({"type": "object", "required": ["a", "b"], "properties": {"a": next, "b": next}});
    for (schema, schemas) in [
        (&first, chain(pair, json!({"type": "string"}))),
        (
            &first,
            chain(|next| json!({"anyOf": [next, next]}), none.clone()),
        ),
        (
            &first,
            chain(|next| json!({"allOf": [next], "oneOf": [next, next]}), none),
        ),
        (
            &json!({"type": "array", "items": {"type": "string"}, "minItems": 1_000_000_000}),
            json!({}),
        ),
        (
            &json!({"type": "string", "minLength": 10_000_000_000_u64}),
            json!({}),
        ),
        (
            &json!({"type": "string", "pattern": "^((a{1000}){1000}){1000}$"}),
            json!({}),
        ),
    ] {
        let peer = document(&json!({"/a": {"get": shows(schema)}}), &schemas);
        let got = send(&peer, "GET /a", "", "").await;
        assert_eq!((got.status, got.code()), (501, "no_sample"), "{schema}");
    }
}

#[tokio::test]
async fn no_check_takes_forever() {
    let node = json!({"$ref": "#/components/schemas/Node"});
    let branch =
        |name: &str| json!({"type": "object", "required": [name], "properties": {"next": node}});
    let node = json!({"oneOf": [branch("a"), branch("b"), {"type": "string"}]});
    let nested = |leaf: &str| {
        (0..60).fold(leaf.to_owned(), |inner, _| {
            format!(r#"{{"a": 1, "next": {inner}}}"#)
        })
    };
    let peer = document(
        &json!({"/a": {"post": takes(&node)}}),
        &json!({"Node": node}),
    );
    assert_eq!(taken(&peer, &nested("\"x\"")).await.status, 204);
    assert_eq!(taken(&peer, &nested("1")).await.status, 400);

    let same = json!({"uniqueItems": true, "items": {"enum": [1, "x", [1], {"a": 1}]}});
    let peer = document(&json!({"/a": {"post": takes(&same)}}), &json!({}));
    let got = taken(&peer, r#"[1, "x", [1.0], {"a": 1.0}]"#).await;
    assert_eq!(got.status, 204, "{}", got.text);
    for body in [
        "[1, 1.0]",
        "[[1], [1.0]]",
        r#"[{"a": 1}, {"a": 1.0}]"#,
        r#"["x", "x"]"#,
    ] {
        assert!(
            taken(&peer, body).await.text.contains("no item twice"),
            "{body}"
        );
    }
    let texts: Vec<String> = (0..60_000).map(|number| number.to_string()).collect();
    let peer = document(
        &json!({"/a": {"post": takes(&json!({"uniqueItems": true}))}}),
        &json!({}),
    );
    assert_eq!(taken(&peer, &json!(texts).to_string()).await.status, 204);

    let every = json!({"items": {"allOf": [{}, {}, {}, {}, {}, {}, {}, {}, {}, {}]}});
    let peer = document(&json!({"/a": {"post": takes(&every)}}), &json!({}));
    let got = taken(&peer, &json!(texts).to_string()).await;
    assert!(
        got.status == 400 && got.text.contains("too much to check"),
        "{}",
        got.text
    );
    let loops = json!({"anyOf": [{"$ref": "#/components/schemas/A"}, {"type": "integer"}]});
    let query = json!({"get": {"parameters": [{"name": "q", "in": "query", "schema": loops}], "responses": {"204": {}}}});
    let peer = document(&json!({"/a": query}), &json!({"A": loops}));
    assert_eq!(send(&peer, "GET /a?q=1", "", "").await.status, 204);
}

#[tokio::test]
async fn what_is_not_reached_or_not_checked_is_said_at_the_start() {
    let one = |status: &str| {
        json!({"get": {"responses": {status: {"headers": {
        "Content-Length": {"schema": {"example": 5}}, "Transfer-Encoding": {"schema": {"const": "chunked"}},
        "Content-Encoding": {"schema": {"const": "gzip"}}, "Connection": {"schema": {"const": "close"}},
        "X-Kept": {"schema": {"const": "a"}}}, "content": {"application/json": {"schema": {"const": "as it is"}}}}}}})
    };
    let mut odd = one("200");
    odd["get"]["parameters"] = json!([{"name": "f", "in": "query", "style": "deepObject"}, {"name": "q", "in": "query",
        "schema": {"format": "currency", "pattern": "^(?=a)", "unevaluatedProperties": false}}]);
    let paths = json!({"/a/{x}": one("200"), "/a/{y}": one("200"), "/a/{y}.csv": one("200"), "/b#c": one("200"),
        "/b?c=1": one("200"), "/": one("200"), "/b": one("302"), "/odd": odd});
    let peer = document(
        &paths,
        &json!({"type": {"properties": {"type": {"type": "string"}, "pattern": {"format": "uuid"}}}}),
    );
    let page = peer
        .get_with(sdk_reference_server::App::Crm, "/", "none")
        .await
        .text;
    let notes: Vec<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("<li>"))
        .collect();
    let first = |what: &str| {
        format!("not checked: {what}, 1 times, first at #/paths/~1odd/get/parameters/1/schema</li>")
    };
    let expected = [
        &first("the format currency"),
        &first("the pattern &quot;^(?=a)&quot;"),
        &first("unevaluatedProperties"),
        "not reached: GET /, since the server has a page there</li>",
        "no success: GET /b, which answers 501</li>",
        "not reached: GET /b#c, since no request has such a path</li>",
        "not reached: GET /b?c=1, since no request has such a path</li>",
        "not checked: GET /odd: f</li>",
        "not reached: GET /a/{y}, since /a/{x} takes its paths</li>",
    ];
    assert_eq!(notes, expected);
    let got = send(&peer, "GET /b", "", "").await;
    assert_eq!((got.status, got.code()), (501, "no_sample"));
    assert_eq!(
        send(&peer, "GET /b", "prefer=status=302", "").await.status,
        302
    );
    // A reply is framed by what it is, whatever is documented.
    let got = send(&peer, "GET /a/1", "", "").await;
    let left_out =
        ["transfer-encoding", "content-encoding", "connection"].map(|name| got.header(name));
    assert_eq!((left_out, got.header("x-kept")), ([None; 3], Some("a")));
    assert_eq!(got.expect(200), json!("as it is"));
}

#[tokio::test]
async fn keywords_hold_for_requests_and_samples() {
    let lines = include_str!("keywords.txt").lines().skip(1);
    let cases = lines.map(|line| line.split(" | ").collect::<Vec<_>>());
    let cases: Vec<_> = cases.collect();
    let paths = cases.iter().enumerate().map(|(at, case)| {
        let schema: Value = serde_json::from_str(case[0]).unwrap();
        (
            format!("/{at}"),
            json!({"get": shows(&schema), "post": takes(&schema)}),
        )
    });
    let peer = document(&paths.collect(), &json!({}));
    for (at, case) in cases.iter().enumerate() {
        let post = format!("POST /{at}");
        let sample = send(&peer, &format!("GET /{at}"), "", "").await;
        assert_eq!(sample.status, 200, "{case:?}: {}", sample.text);
        for (body, status) in [(case[1], 204), (case[2], 400), (&sample.text, 204)] {
            let got = send(&peer, &post, "", body).await;
            assert_eq!(got.status, status, "{case:?} {body}: {}", got.text);
        }
    }
    assert_eq!(cases.len(), 14);
}

#[tokio::test]
async fn what_a_strict_service_refuses_is_refused() {
    let schema = json!({"type": "object", "required": ["id"], "properties": {"id": {"type": "integer", "readOnly": true}, "a": {}}});
    let paths = json!({"/a": {"post": takes(&schema)}, "/b/{c}": {"get": shows(&json!(true))}});
    let peer = document(&paths, &json!({}));
    assert_eq!(taken(&peer, r#"{"a": 1}"#).await.status, 204);
    let got = taken(&peer, r#"{"id": 1}"#).await;
    assert!(
        got.status == 400 && got.text.contains("id: is read-only"),
        "{}",
        got.text
    );
    for (path, status) in [
        ("x%20y", 200),
        ("%C3%A9", 200),
        ("%zz", 400),
        ("%ff", 400),
        ("a%2", 400),
    ] {
        assert_eq!(
            send(&peer, &format!("GET /b/{path}"), "", "").await.status,
            status,
            "{path}"
        );
    }
    let bad = json!({"/a": {"post": takes(&json!({"type": ["strin", "null"]}))}});
    let text = json!({"openapi": "3.1.0", "paths": bad}).to_string();
    let builder = sdk_reference_server::ReferenceServer::builder()
        .contract(sdk_reference_server::App::Crm, text);
    let problem = builder.try_start().await.unwrap_err().to_string();
    assert!(problem.contains(r#"unknown type "strin""#), "{problem}");
}

#[tokio::test]
async fn errors_are_what_the_document_says_where_they_can_be() {
    let error = |members: Value| json!({"content": {"application/problem+json": {"schema": {"properties": members}}}});
    let said = json!({"code": {"type": "string"}, "message": {"type": "string"}, "status": {"const": 400}});
    let nested = json!({"error": {"properties": said}});
    let listed = json!({"errors": {"type": "array", "items": {"properties": said}}});
    let closed = json!({"code": {"enum": ["a"]}, "message": {"type": "string"}});
    let operation = |status: &str, members: &Value| {
        let limit =
            json!([{"name": "limit", "in": "query", "schema": {"minimum": 1, "type": "integer"}}]);
        json!({"get": {"parameters": limit, "responses": {"204": {}, status: error(members.clone())}}})
    };
    let paths = json!({"/flat": operation("400", &said), "/nested": operation("4XX", &nested),
        "/listed": operation("default", &listed), "/closed": operation("400", &closed), "/other": operation("409", &said)});
    let peer = document(&paths, &json!({}));
    let bad = async |path: &str| send(&peer, &format!("GET {path}?limit=0"), "", "").await;
    for (path, place) in [
        ("/flat", ""),
        ("/nested", "/error"),
        ("/listed", "/errors/0"),
    ] {
        let got = bad(path).await;
        assert_eq!(
            got.header("content-type"),
            Some("application/problem+json"),
            "{path}"
        );
        let inner = got.expect(400).pointer(place).cloned();
        let expected = json!({"code": "validation_failed", "message": "limit: must be at least 1", "status": 400});
        assert_eq!(inner, Some(expected), "{path}");
    }
    for path in ["/closed", "/other"] {
        let expected = json!({"code": "validation_failed", "message": "limit: must be at least 1"});
        assert_eq!(bad(path).await.expect(400), expected, "{path}");
    }
    peer.server.fault("get /nested").status(400);
    let struck = send(&peer, "GET /nested", "", "").await.expect(400);
    assert_eq!(struck["error"]["message"], "a scripted fault");
}
