//! How specs are read, and what progenitor gets of them.

use serde_json::json;

use super::spec::{Auth, Spec};
use super::view::{document, generate};
use super::{APPS, Reach, calls, face, readme, types};

/// A spec with one of everything that matters.
const SAMPLE: &str = r##"
openapi: 3.0.3
info: {title: Sample API, version: "1"}
tags: [{name: things, description: Things.}]
paths:
  /things:
    get:
      operationId: listThings
      x-provenance: documented
      x-sdk-method: list
      tags: [things]
      summary: List things.
      description: "Source: contract, Endpoints."
      security: [{suiteToken: ["things:read"]}, {suiteToken: ["things:write"]}]
      parameters:
        - {name: limit, in: query, schema: {type: integer, minimum: 1, maximum: 50, default: 25}}
        - {name: cursor, in: query, schema: {type: string, minLength: 20}}
      responses:
        "200": {description: A page., content: {application/json: {schema: {$ref: "#/components/schemas/ThingPage"}}}}
        "400": {description: Invalid.}
    post:
      operationId: createThing
      x-provenance: documented
      x-sdk-method: create
      tags: [things]
      summary: Create a thing.
      description: "Source: contract, Endpoints."
      security: [{suiteToken: ["things:write"]}]
      parameters: [{name: Idempotency-Key, in: header, required: true, schema: {type: string}}]
      requestBody: {required: true, content: {application/json: {schema: {$ref: "#/components/schemas/Open"}}}}
      responses:
        "200": {description: Replayed., content: {application/json: {schema: {$ref: "#/components/schemas/Thing"}}}}
        "201": {description: Created., content: {application/json: {schema: {$ref: "#/components/schemas/Thing"}}}}
components:
  schemas:
    Open: {description: Any JSON value.}
    Version: {type: string, enum: [thing.v1], x-const: true}
    ThingPage: {type: object, x-page: true, properties: {items: {type: array, items: {}}}}
    Thing:
      type: object
      required: [schemaVersion]
      properties:
        schemaVersion: {$ref: "#/components/schemas/Version"}
        at: {type: string, format: date-time}
        amount: {description: Not shown.}
      additionalProperties: {}
"##;

fn read(text: &str) -> Spec {
    Spec::read(&APPS[0], text).unwrap()
}

#[test]
fn a_spec_says_what_an_operation_is() {
    let spec = read(SAMPLE);
    let [list, create] = spec.operations.as_slice() else {
        panic!("two operations")
    };
    assert!(list.is_list() && !list.is_command());
    assert_eq!(list.auth, Auth::Bearer);
    assert_eq!(list.scopes, ["things:read", "things:write"]);
    assert!(create.keyed && create.is_command());
    assert_eq!(create.schema_version.as_deref(), Some("thing.v1"));
    assert_eq!(create.source, "contract, Endpoints");
}

#[test]
fn a_broken_convention_is_named_with_its_place() {
    for (from, to, message) in [
        (
            "operationId: listThings",
            "operationId: list_things",
            "operation `list_things`: its id must be in camel case",
        ),
        (
            "x-sdk-method: create",
            "x-sdk-method: list",
            "operation `createThing`: `things.list` is taken",
        ),
        ("minLength", "minLenght", "unknown field `minLenght`"),
        (
            "additionalProperties: {}",
            "",
            "schema `Thing`: an object with members needs `additionalProperties: {}`",
        ),
        (
            "x-page: true, ",
            "additionalProperties: {}, ",
            "operation `listThings`: an operation with a `cursor`",
        ),
        (
            "schemas/Thing\"}}}}\ncomponents",
            "schemas/Open\"}}}}\ncomponents",
            "operation `createThing`: its 2xx responses must",
        ),
        (
            "in: header",
            "in: cookie",
            "operation `createThing`: parameter `Idempotency-Key`",
        ),
        (
            "[thing.v1], x-const: true",
            "[thing.v1]",
            "schema `Version`: an `enum` needs",
        ),
    ] {
        assert!(SAMPLE.contains(from), "{from}");
        let error = Spec::read(&APPS[0], &SAMPLE.replace(from, to)).unwrap_err();
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn the_view_holds_only_what_progenitor_takes() {
    let spec = read(SAMPLE);
    let view = document(&spec);

    let list = &view["paths"]["/things"]["get"];
    let responses = list["responses"].as_object().unwrap();
    assert_eq!(responses.keys().collect::<Vec<_>>(), ["200"]);
    assert_eq!(
        list["parameters"][0]["schema"],
        json!({"type": "integer", "format": "uint32"})
    );
    assert_eq!(
        list["parameters"][1]["schema"],
        json!({"type": "string"}),
        "a bounded text has no bounds"
    );

    let create = &view["paths"]["/things"]["post"];
    assert_eq!(create["parameters"], json!([]), "the runtime sets the key");
    let members = &view["components"]["schemas"]["Thing"]["properties"];
    assert_eq!(members["schemaVersion"], json!({"type": "string"}));
    let refer = |name: &str| json!({"$ref": format!("#/components/schemas/{name}")});
    assert_eq!(members["at"], refer("ViewTimestamp"));
    assert_eq!(members["amount"], refer("ViewValue"));
}

#[test]
fn progenitor_takes_the_view_and_loses_nothing() {
    let spec = read(SAMPLE);
    let generated = generate(&spec).unwrap();
    let calls = generated.calls.iter();
    let names: Vec<String> = calls.map(|call| call.sig.ident.to_string()).collect();
    assert_eq!(names, ["list_things", "create_thing"]);
    assert_eq!(generated.structs.len(), 1);
}
