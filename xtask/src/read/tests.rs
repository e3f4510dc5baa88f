//! Tests of reading. Our own documents follow conventions, and names in vendors' documents are derived.

mod probe;

use super::spec::read_document;
use crate::findings::{Finding, Findings, Weight};
use crate::model::app::APPS;
use crate::model::{Auth, Kind, Place, Reply, Safety, Spec, Style, Ty};
use crate::node::Node;

/// One of our specs, with one example of each construct.
pub(crate) const SAMPLE: &str = r##"
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
  securitySchemes: {suiteToken: {type: http, scheme: bearer}}
  schemas:
    Open: {description: Any JSON value.}
    Version: {type: string, enum: [thing.v1], x-const: true}
    ThingPage:
      type: object
      required: [nextCursor]
      properties: {items: {type: array, items: {}}, nextCursor: {type: string, nullable: true}}
      additionalProperties: {}
    Thing:
      type: object
      required: [schemaVersion]
      properties:
        schemaVersion: {$ref: "#/components/schemas/Version"}
        at: {type: string, format: date-time}
        amount: {description: Undocumented.}
      additionalProperties: {}
"##;

fn own(text: &str) -> (Option<Spec>, Findings) {
    let mut findings = Findings::default();
    let spec = super::own_spec(&APPS[0], text, &mut findings);
    (spec.ok(), findings)
}

#[test]
fn a_spec_says_what_an_operation_is() {
    let (spec, findings) = own(SAMPLE);
    assert_eq!(findings.all(), []);
    let spec = spec.unwrap();
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
    let list = "/paths/~1things/get";
    let page = "its response is not a page";
    for (from, to, place, rule) in [
        (
            "operationId: listThings",
            "operationId: list_things",
            list,
            "the ID `list_things` becomes `listThings`",
        ),
        (
            "x-sdk-method: create",
            "x-sdk-method: list",
            "/paths/~1things/post",
            "`things.list` is taken",
        ),
        (
            "minLength",
            "minLenght",
            "parameters/1/schema",
            "unknown field `minLenght`",
        ),
        ("items: {type", "things: {type", "GET /things", page),
        (
            "required: [nextCursor]",
            "required: [items]",
            "GET /things",
            page,
        ),
        (
            "nextCursor: {type: string",
            "nextCursor: {type: integer",
            "GET /things",
            page,
        ),
        (
            "{type: array, items: {}}",
            "{type: array, items: {$ref: '#/components/schemas/Nowhere'}}",
            "/components/schemas/ThingPage/properties/items/items",
            "has no target",
        ),
        (
            "in: header",
            "in: cookie",
            "/paths/~1things/post/parameters/0",
            "not `cookie`",
        ),
        (
            "Source: contract, Endpoints.\"\n      security: [{suiteToken: [\"things:read\"]}",
            "No source.\"\n      security: [{suiteToken: [\"things:read\"]}",
            list,
            "its description has no `Source",
        ),
        (
            "x-provenance: documented",
            "x-provenance: guessed",
            list,
            "`x-provenance` is `documented`, `assumed` or",
        ),
        (
            "$ref: \"#/components/schemas/Version\"",
            "$ref: \"#/components/schemas/Version\", x-known-values: [a]",
            "Thing/properties/schemaVersion",
            "keywords next to a `$ref`",
        ),
        (
            "    Open: {",
            "    Unused: {type: string}\n    Open: {",
            "/components/schemas/Unused",
            "no operation references it",
        ),
        (
            "x-provenance: documented",
            "x-provenanse: documented",
            list,
            "unknown field `x-provenanse`",
        ),
    ] {
        assert!(SAMPLE.contains(from), "{from}");
        let (_, findings) = own(&SAMPLE.replacen(from, to, 1));
        let found = findings
            .of(Weight::Rejected)
            .any(|it| it.place.contains(place) && it.rule.contains(rule));
        assert!(found, "{rule}: {:?}", findings.all());
    }
}

#[test]
fn schemas_that_progenitor_cannot_merge_are_findings_with_a_place() {
    let it = "{$ref: '#/components/schemas/It'}";
    for (schema, place, rule) in [
        (
            format!("{{allOf: [{it}, {{type: object, properties: {{a: {{type: string}}}}}}]}}"),
            "/components/schemas/It",
            "`allOf` contains itself",
        ),
        (
            format!("{{type: array, items: {it}}}"),
            "/components/schemas/It",
            "contains itself without an object in between",
        ),
        (
            "{allOf: [{type: object, properties: {a: {type: string}}}, {properties: {a: {type: integer}}}]}".to_owned(),
            "/components/schemas/It/properties/a",
            "no type can merge its schemas: integer, string",
        ),
        (
            "{type: object, required: [ghost], properties: {a: {type: string}}}".to_owned(),
            "/components/schemas/It",
            "it requires `ghost`",
        ),
        (
            "{type: object, properties: {a: {allOf: [{properties: {b: {$ref: '#/components/schemas/It'}}}, \
             {properties: {b: {type: object, properties: {c: {$ref: '#/components/schemas/It'}}}}}]}}}".to_owned(),
            "/components/schemas/It/properties/a/properties/b",
            "its schemas contain themselves, so they can't be merged",
        ),
        (
            "{allOf: [{type: object, properties: {a: {type: string}}}, {type: string}]}".to_owned(),
            "/components/schemas/It",
            "contradict each other in `type`",
        ),
        (
            "{allOf: [{type: object, properties: {a: {type: string}}}, {oneOf: [{type: object, properties: {b: {type: string}}}, {type: string}]}]}".to_owned(),
            "/components/schemas/It",
            "also a union",
        ),
    ] {
        let text = format!(
            "{{openapi: 3.1.0, info: {{title: T, version: '1'}}, paths: {{{}}}, components: {{schemas: {{It: {schema}}}}}}}",
            replying(it)
        );
        let document = Node::parse(&format!("# A sample.\n{text}")).unwrap();
        let mut findings = Findings::default();
        read_document(&APPS[0], &document, &mut findings).unwrap();
        let matches = |it: &Finding| it.place.starts_with(place) && it.rule.contains(rule);
        assert!(findings.all().iter().any(matches), "{schema}: {:?}", findings.all());
    }
}

#[test]
fn an_inner_schema_is_named_after_the_outer_one() {
    let paths = "/model: {get: {operationId: get_create_model, tags: [Accounts], parameters: \
        [{name: id, in: query, schema: {$ref: '#/components/schemas/Company/properties/description'}}], \
        responses: {'204': {description: Ok}}}}";
    let schemas =
        "Company: {type: object, properties: {description: {type: string, pattern: '^[a-z]+$'}}}";
    let (spec, _) = vendor(paths, schemas);
    assert_eq!(spec.operations[0].name, "get_create_model");
    assert!(spec.schemas.components.contains_key("CompanyDescription"));
}

#[test]
fn all_problems_are_reported_together() {
    let text = SAMPLE
        .replace("minLength", "minLenght")
        .replace("x-sdk-method: create", "x-sdk-method: Create");
    let (_, findings) = own(&text);
    let error = findings.settled().unwrap_err();
    assert_eq!(error.lines().count(), 2, "{error}");
}

#[test]
fn an_operation_has_the_assumptions_of_its_references() {
    let spec = "
paths:
  /a:
    get:
      x-assumption: A01
      responses: {'200': {$ref: '#/components/responses/Page'}}
components:
  responses:
    Page: {x-assumption: [A02, A03]}
    Other: {x-assumption: A04}
";
    let tree = Node::parse(spec).unwrap();
    let ids =
        |ids: std::collections::BTreeSet<String>| ids.into_iter().collect::<Vec<_>>().join(" ");
    assert_eq!(ids(crate::assumptions::of(&tree)), "A01 A02 A03 A04");
    let operation = super::assumptions_of(&tree, tree.pointer("/paths/~1a/get").unwrap());
    assert_eq!(ids(operation), "A01 A02 A03");
}

/// A vendor's document with paths and schemas.
fn vendor(paths: &str, schemas: &str) -> (Spec, Findings) {
    let text = format!(
        "{{openapi: 3.1.0, info: {{title: Sample API, version: '2'}}, security: [{{oauth: [a]}}], \
          paths: {{{paths}}}, components: {{securitySchemes: {{oauth: {{type: oauth2}}}}, schemas: {{{schemas}}}}}}}"
    );
    // The comment makes it YAML, because flow style begins like JSON.
    let text = format!("# A sample.\n{text}");
    let mut findings = Findings::default();
    let document = Node::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let spec = read_document(&APPS[0], &document, &mut findings).unwrap();
    (spec, findings)
}

/// A path with a response of one schema.
fn replying(schema: &str) -> String {
    format!(
        "/things: {{get: {{operationId: get_things, tags: [Things], responses: {{'200': {{description: Ok, content: {{application/json: {{schema: {schema}}}}}}}}}}}}}"
    )
}

/// The types of the fields of a schema in a response.
fn fields(schema: &str, schemas: &str) -> (Vec<String>, Findings) {
    let (spec, findings) = vendor(
        &replying("{$ref: '#/components/schemas/Sample'}"),
        &format!("Sample: {schema}, {schemas}"),
    );
    let members = spec.schemas.components["Sample"].members();
    (
        members
            .iter()
            .map(|it| format!("{}: {}", it.field, spec.schemas.field(it)))
            .collect(),
        findings,
    )
}

#[test]
fn each_notation_of_a_property_has_its_type() {
    let color =
        "Color: {type: string, enum: [red, null, dark-red]}, Level: {type: integer, enum: [1, -2]}";
    let tree = "Tree: {type: object, required: [next], properties: {next: {$ref: '#/components/schemas/Tree'}}}";
    for (schema, ty) in [
        ("{type: [string, 'null']}", "Option<String>"),
        ("{type: string, nullable: true}", "Option<String>"),
        (
            "{oneOf: [{type: string, format: date}, {type: 'null'}]}",
            "Option<Date>",
        ),
        (
            "{anyOf: [{$ref: '#/components/schemas/Color'}, {type: 'null'}]}",
            "Option<Color>",
        ),
        ("{type: [integer, number]}", "Number"),
        ("{type: [string, integer]}", "RawJson"),
        ("{const: a}", "String"),
        ("{const: 7}", "i64"),
        ("{$ref: '#/components/schemas/Color'}", "Option<Color>"),
        ("{$ref: '#/components/schemas/Level'}", "i64"),
        ("{anyOf: [{type: string}, {enum: [a, b]}]}", "SampleValue"),
        (
            "{type: object, properties: {a: {type: string}}}",
            "SampleValue",
        ),
        (
            "{type: array, items: {type: object, properties: {a: {type: string}}}}",
            "Vec<SampleValueItem>",
        ),
        (
            "{type: array, items: {type: [integer, 'null']}}",
            "Vec<Option<i64>>",
        ),
        (
            "{type: object, additionalProperties: {type: integer, format: int32}}",
            "BTreeMap<String, i64>",
        ),
        (
            "{type: object, additionalProperties: {$ref: '#/components/schemas/Tree'}}",
            "BTreeMap<String, Tree>",
        ),
        ("{type: object}", "Record"),
        ("{}", "RawJson"),
        ("true", "RawJson"),
        ("{type: string, format: uuid}", "String"),
        ("{type: string, format: date-time}", "Timestamp"),
        ("{type: number, format: double}", "Number"),
        ("{type: string, format: password}", "Secret"),
        ("{type: boolean}", "bool"),
        (
            "{allOf: [{$ref: '#/components/schemas/Tree'}], description: x}",
            "Tree",
        ),
        (
            "{anyOf: [{$ref: '#/components/schemas/Tree'}, {nullable: true}]}",
            "Option<Tree>",
        ),
        (
            "{allOf: [{$ref: '#/components/schemas/List'}, {maxItems: 3}]}",
            "Vec<Tree>",
        ),
        (
            "{allOf: [{type: [object, 'null'], properties: {a: {type: string}}}, \
             {type: [object, 'null'], properties: {b: {type: string}}}]}",
            "Option<SampleValue>",
        ),
        (
            "{type: array, items: {allOf: [{type: string, nullable: true}, {type: string, maxLength: 3}]}}",
            "Vec<String>",
        ),
        (
            "{anyOf: [{type: [string, 'null'], enum: [a, null]}, {type: string}]}",
            "Option<SampleValue>",
        ),
        // Different constants are a discriminator.
        (
            "{oneOf: [{type: object, required: [kind], properties: {kind: {const: x}}}, \
             {type: object, required: [kind], properties: {kind: {const: y}}}]}",
            "SampleValue",
        ),
        (
            "{allOf: [{$ref: '#/components/schemas/Tree'}], nullable: true}",
            "Option<Tree>",
        ),
        ("{oneOf: [{type: string}, {type: integer}]}", "RawJson"),
        ("{$ref: '#/components/schemas/Missing'}", "RawJson"),
        ("{pattern: '^A-[0-9]{4}$', type: string}", "SampleValue"),
        ("{pattern: '(?=x)', type: string}", "String"),
    ] {
        let schemas = format!(
            "{color}, {tree}, List: {{type: array, items: {{$ref: '#/components/schemas/Tree'}}}}"
        );
        let sample =
            format!("{{type: object, required: [value], properties: {{value: {schema}}}}}");
        assert_eq!(
            fields(&sample, &schemas).0,
            [format!("value: {ty}")],
            "{schema}"
        );
    }
}

#[test]
fn a_schema_that_contains_itself_is_boxed() {
    let sample = "{type: object, properties: {child: {$ref: '#/components/schemas/Sample'}, children: {type: array, items: {$ref: '#/components/schemas/Sample'}}}}";
    let (fields, _) = self::fields(sample, "");
    assert_eq!(
        fields,
        [
            "child: Option<Box<Sample>>",
            "children: Option<Vec<Sample>>"
        ]
    );
    // The same applies if another schema references the cycle, at the field.
    let names = ["A", "B", "D", "E", "G"];
    let schemas = names.map(|name| format!("{name}: {{type: object, properties: {{self_: {{$ref: '#/components/schemas/{name}'}}}}}}"));
    let members = names.map(|name| format!("{name}: {{$ref: '#/components/schemas/{name}'}}"));
    let all = format!("{{type: object, properties: {{{}}}}}", members.join(", "));
    let (fields, _) = self::fields(&all, &schemas.join(", "));
    assert_eq!(fields[3], "e: Option<E>");
}

#[test]
fn a_merged_field_has_the_narrowest_type() {
    let base = "Base: {type: object, required: [id], properties: {id: {type: string}, at: {type: string}, \
                up: {$ref: '#/components/schemas/Base'}, all: {type: array, items: {$ref: '#/components/schemas/Base'}}}}";
    for (own, field) in [
        (
            "up: {$ref: '#/components/schemas/Sample'}",
            "up: Option<Box<Sample>>",
        ),
        (
            "all: {items: {$ref: '#/components/schemas/Sample'}}",
            "all: Option<Vec<Sample>>",
        ),
        ("id: {description: Described.}", "id: String"),
        ("id: {}", "id: String"),
        ("at: {format: date-time}", "at: Option<Timestamp>"),
        (
            "up: {allOf: [{$ref: '#/components/schemas/Base'}], description: Described.}",
            "up: Option<Base>",
        ),
        ("id: {type: integer}", "id: RawJson"),
    ] {
        let sample = format!(
            "{{allOf: [{{$ref: '#/components/schemas/Base'}}, {{type: object, properties: {{{own}}}}}]}}"
        );
        let (fields, _) = fields(&sample, base);
        assert!(fields.iter().any(|it| it == field), "{own}: {fields:?}");
        assert_eq!(fields.len(), 4);
    }
}

#[test]
fn all_of_merges_properties_and_required_names() {
    let base = "Base: {type: object, required: [id], properties: {id: {type: string}, note: {type: string}}}";
    let middle = "Middle: {allOf: [{$ref: '#/components/schemas/Base'}, {properties: {kind: {type: string, enum: [x]}}}]}";
    let sample = "{description: S, allOf: [{$ref: '#/components/schemas/Middle'}, {required: [note]}], properties: {own: {type: integer}}}";
    let (fields, findings) = fields(sample, &format!("{base}, {middle}"));
    assert_eq!(
        fields,
        [
            "id: String",
            "note: String",
            "kind: Option<MiddleKind>",
            "own: Option<i64>"
        ]
    );
    assert_eq!(findings.of(Weight::Raw).count(), 0);
    // An inherited schema is used, although no request and no response contains it.
    assert!(
        findings
            .of(Weight::Noted)
            .all(|it| !it.place.starts_with("/components"))
    );
}

const CALL: &str = "Ring: {type: object, required: [kind], properties: {kind: {type: string}, minutes: {type: integer}}}, \
                    Mail: {type: object, properties: {subject: {type: string}}}";

#[test]
fn variants_of_a_union_have_the_discriminator_as_a_constant() {
    let union = "Activity: {oneOf: [{$ref: '#/components/schemas/Ring'}, {$ref: '#/components/schemas/Mail'}], \
                 discriminator: {propertyName: kind, mapping: {call: '#/components/schemas/Ring'}}}";
    let (spec, _) = vendor(
        &replying("{$ref: '#/components/schemas/Activity'}"),
        &format!("{union}, {CALL}"),
    );
    let Kind::Union { tag, variants } = &spec.schemas.components["Activity"].kind else {
        panic!("no union")
    };
    let variants: Vec<_> = variants
        .iter()
        .map(|it| (&*it.name, &*it.component, it.values.join(" ")))
        .collect();
    assert_eq!(
        (tag.as_str(), variants),
        (
            "kind",
            vec![
                ("Call", "Ring", "call".to_owned()),
                ("Mail", "Mail", "Mail".to_owned())
            ]
        )
    );
    for (name, value) in [("Ring", "call"), ("Mail", "Mail")] {
        let members = spec.schemas.components[name].members();
        let kind = members.iter().find(|it| it.name == "kind").unwrap();
        assert_eq!(spec.schemas.constant(&kind.value.ty), Some(value), "{name}");
    }
}

#[test]
fn read_only_and_write_only_fields_split_a_schema_into_two_types() {
    let schema = "Sample: {type: object, required: [id, name], properties: {id: {type: string, readOnly: true}, name: {type: string}, key: {type: string, writeOnly: true}}}";
    let paths = "/things: {put: {operationId: put_thing, requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/Sample'}}}}, \
                 responses: {'200': {description: Ok, content: {application/json: {schema: {$ref: '#/components/schemas/Sample'}}}}}}}";
    let (spec, _) = vendor(paths, schema);
    let names = |name: &str| {
        spec.schemas.components[name]
            .members()
            .iter()
            .map(|it| it.name.clone())
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(
        (names("Sample"), names("SampleInput")),
        ("id name".to_owned(), "name key".to_owned())
    );
    let body = &spec.operations[0].body.as_ref().unwrap().value.ty;
    assert_eq!(*body, Ty::Named("SampleInput".into()));
    assert_eq!(spec.operations[0].safety, Safety::Idempotent);
}

#[test]
fn parameters_of_path_and_operation_have_a_place_a_type_and_a_style() {
    let paths = "'/things/{id}': {parameters: [{name: id, in: path, required: true, schema: {type: string}}, {name: page, in: query, schema: {type: integer}}], \
        delete: {parameters: [{name: page, in: query, schema: {type: integer, minimum: 1}}, {name: tags, in: query, schema: {type: array, items: {type: string}}}, \
        {name: ids, in: query, style: pipeDelimited, explode: false, schema: {type: array, items: {type: integer}}}, {name: csv, in: query, explode: false, schema: {type: array, items: {type: string, format: date}}}, \
        {name: query, in: query, schema: {type: boolean}}, {name: price, in: query, schema: {type: number}}, {name: X-Since, in: header, schema: {type: string, format: date-time}}, \
        {name: filter, in: query, style: deepObject, schema: {type: object, properties: {a: {type: string}}}}, {name: session, in: cookie, schema: {type: string}}, {name: accept, in: header, schema: {type: string}}], responses: {'204': {description: Gone}}}}";
    let (spec, findings) = vendor(paths, "");
    let operation = &spec.operations[0];
    let shown: Vec<String> = operation
        .parameters
        .iter()
        .map(|it| {
            let ty = spec.schemas.parameter(it);
            format!("{} {:?} {ty} {:?}", it.field, it.place, it.style)
        })
        .collect();
    assert_eq!(
        shown,
        [
            "id Path String Repeated",
            "page Query Option<i64> Repeated",
            "tags Query Option<Vec<String>> Repeated",
            "csv Query Option<Vec<Date>> Comma",
            "query_ Query Option<bool> Repeated",
            "price Query Option<Number> Repeated",
            "x_since Header Option<String> Repeated",
        ]
    );
    assert_eq!(operation.reply, Reply::Empty);
    assert_eq!(operation.parameters[3].style, Style::Comma);
    assert_eq!(operation.parameters[0].place, Place::Path);
    for rule in [
        "`filter` is an object in the query",
        "`ids`: a list of the style `pipeDelimited` is not supported",
        "`session`: it must be in",
        "`accept`: the runtime sets",
    ] {
        assert!(
            findings.all().iter().any(|it| it.rule.contains(rule)),
            "{rule}"
        );
    }
}

#[test]
fn several_successes_are_an_enum() {
    let job = "{description: Later, content: {application/json: {schema: {$ref: '#/components/schemas/Job'}}}}";
    let paths = format!(
        "/things: {{post: {{operationId: run, responses: {{'202': {job}, '204': {{description: Nothing}}, '200': {{description: Text, content: {{text/csv: {{}}}}}}}}}}}}"
    );
    let (spec, _) = vendor(
        &paths,
        "Job: {type: object, properties: {id: {type: string}}}",
    );
    let Reply::Several { name, cases } = &spec.operations[0].reply else {
        panic!("{:?}", spec.operations[0].reply)
    };
    let cases: Vec<_> = cases
        .iter()
        .map(|it| format!("{} {}", it.status, it.variant))
        .collect();
    assert_eq!(
        (name.as_str(), cases.join(", ")),
        ("RunReply", "202 Accepted, 204 NoContent, 200 Ok".to_owned())
    );
}

#[test]
fn a_page_is_recognized_by_its_fields_and_preserves_other_fields() {
    let paths = "/things: {get: {operationId: things, parameters: [{name: cursor, in: query, schema: {type: string}}], \
                 responses: {'200': {description: Ok, content: {application/json: {schema: {allOf: [{$ref: '#/components/schemas/Envelope'}, {properties: {items: {type: array, items: {$ref: '#/components/schemas/Thing'}}}}]}}}}}}}";
    let schemas = "Thing: {type: object, properties: {id: {type: string}}}, Envelope: {type: object, required: [total, nextCursor], properties: {nextCursor: {type: [string, 'null']}, total: {type: integer}}}";
    let (spec, _) = vendor(paths, schemas);
    let Some(Ty::Page {
        items,
        members: Some(members),
    }) = spec.operations[0].reply.ty()
    else {
        panic!("{:?}", spec.operations[0].reply)
    };
    assert_eq!(**items, Ty::Named("Thing".into()));
    assert_eq!(spec.schemas.components[members].members()[0].name, "total");
}

#[test]
fn names_are_derived_and_never_collide() {
    let operation = |id: &str, tag: &str| {
        format!("{{operationId: {id}, tags: [{tag}], responses: {{'204': {{description: Ok}}}}}}")
    };
    let paths = format!(
        "/v1/contacts: {{get: {}, post: {}}}, '/v1/contacts/{{id}}/merge': {{parameters: [{{name: id, in: path, schema: {{type: string}}}}], post: {{tags: [Contacts], responses: {{'204': {{description: Ok}}}}}}}}, /v1/raw: {{get: {}}}",
        operation("list-contacts", "Contacts"),
        operation("Contacts_create", "Contacts"),
        "{operationId: getEverything, tags: [operations], responses: {'200': {description: Ok, content: {application/json: {schema: {$ref: '#/components/schemas/Error'}}}}}}",
    );
    let schemas = "Error: {type: object, properties: {a: {type: string}}}, person: {type: object, properties: {fooBar: {type: string}, foo_bar: {type: string}, new: {type: string}}}, Person: {type: object, properties: {a: {type: string}}}, '400': {type: object, properties: {a: {type: string}}}";
    let (spec, findings) = vendor(&paths, schemas);
    let names: Vec<String> = spec
        .operations
        .iter()
        .map(|it| format!("{} {}.{}", it.id, it.group, it.name))
        .collect();
    assert_eq!(
        names,
        [
            "listContacts contacts.list",
            "contactsCreate contacts.create",
            "createContactsMerge contacts.merge",
            "getEverything operations_api.everything"
        ]
    );
    let types: Vec<&String> = spec.schemas.components.keys().collect();
    assert_eq!(types, ["ErrorModel", "Person", "PersonModel", "Schema400"]);
    let fields: Vec<&str> = spec.schemas.components["Person"]
        .members()
        .iter()
        .map(|it| &*it.field)
        .collect();
    assert_eq!(fields, ["foo_bar", "foo_bar_2", "new_"]);
    let renamed: Vec<&str> = findings.of(Weight::Renamed).map(|it| &*it.rule).collect();
    assert!(
        renamed.contains(&"`Error` is taken by the SDK"),
        "{renamed:?}"
    );
    // No type is generated for the others.
    assert!(
        !renamed.iter().any(|it| it.contains("`Person`")),
        "{renamed:?}"
    );
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn rules_without_a_type_are_documented_or_reported() {
    let sample = "Sample: {type: object, properties: {name: {type: string, maxLength: 3}}}";
    let member = |schema: &str| {
        let schema = format!("{{type: object, properties: {{it: {schema}}}}}");
        (
            replying("{$ref: '#/components/schemas/It'}"),
            format!("It: {schema}, {sample}"),
        )
    };
    let operation = |rest: &str| (format!("/it: {{put: {{{rest}}}}}"), sample.to_owned());
    let sending = |media: &str| {
        operation(&format!(
            "requestBody: {{content: {{{media}: {{schema: {{$ref: '#/components/schemas/Sample'}}}}}}}}, responses: {{'204': {{description: No}}}}"
        ))
    };
    for ((paths, schemas), expected) in [
        (
            member("{type: array, items: {type: number, minimum: 1.5}}"),
            "Each item: The server also checks `minimum: 1.5`.",
        ),
        (
            member("{type: object, additionalProperties: {type: string, format: uuid}}"),
            "Each value: The server also checks `format: uuid`.",
        ),
        (
            member("{type: string, format: date, maxLength: 10, pattern: '^[0-9]{4}$'}"),
            "checks `maxLength: 10`.\", \"The server also checks `pattern: ^[0-9]{4}$`.",
        ),
        (
            member("{type: integer, format: unix-time}"),
            "The server also checks `format: unix-time`.",
        ),
        (
            member("{type: object, maxLength: 5}"),
            "The server also checks `maxLength: 5`.",
        ),
        (
            member("{type: string, format: verb, enum: [get]}"),
            "The server also checks `format: verb`.",
        ),
        (
            member(
                "{allOf: [{$ref: '#/components/schemas/Sample'}, {type: object, nullable: true, readOnly: true, description: Theirs., propertyNames: {maxLength: 9}}]}",
            ),
            "read_only: true, write_only: false, value: Use { ty: Named(\"ItIt\"), nullable: false, description: \"Theirs.\"",
        ),
        (
            member(
                "{allOf: [{type: object, properties: {a: {type: string}}}, {description: Described.}]}",
            ),
            "description: \"Described.\"",
        ),
        (
            member(
                "{allOf: [{$ref: '#/components/schemas/Sample'}, {type: object, additionalProperties: {type: string}}]}",
            ),
            "additional properties with a type, which are preserved as raw JSON",
        ),
        (
            member("{type: integer, enum: [1, 1.0, 2.0]}"),
            "stated: [\"The server also checks `enum: [1,1.0,2.0]`.\"]",
        ),
        (
            member("{anyOf: [{type: string, enum: [a]}, {type: string, maxLength: 9}]}"),
            "Other values: `{\\\"maxLength\\\":9}`.",
        ),
        (
            member(
                "{oneOf: [{$ref: '#/components/schemas/Sample'}, {$ref: '#/components/schemas/It'}], discriminator: {propertyName: t, mapping: {a: Nowhere}}}",
            ),
            "the discriminator maps `a` to no branch",
        ),
        (
            member("{type: array, items: {type: string, example: x}}"),
            "Each item: For example: `x`.",
        ),
        (
            member("{$ref: '#/no', required: [a]}"),
            "`#/no` has no target in this document",
        ),
        (
            member("{type: integer, minimum: 20, exclusiveMinimum: 0}"),
            "min: Some(20)",
        ),
        (member("{prefixItems: [{}]}"), "a list whose items have different types by position"),
        (
            operation(
                "parameters: [{name: p, in: query, example: x, schema: {type: string}}], responses: {'204': {description: A}}",
            ),
            "example: Some(\"x\")",
        ),
        (
            member("{$ref: '#name'}"),
            "`#name` has no target in this document",
        ),
        (
            operation(
                "responses: {'200': {description: A, content: {'*/*': {schema: {type: string, format: binary}}}}}",
            ),
            "Bytes(\"*/*\")",
        ),
        (
            operation("responses: {'200': {description: A, links: {}}}"),
            "`links` to other operations",
        ),
        (
            operation(
                "responses: {'200': {description: A, content: {application/hal+json: {schema: {type: string}}}}}",
            ),
            "not as application/hal+json",
        ),
        (
            operation(
                "responses: {'200': {description: A, content: {text/csv: {}, application/pdf: {}}}}",
            ),
            "Bytes(\"text/csv, application/pdf\")",
        ),
        (
            operation(
                "responses: {'200': {description: A, content: {application/json: {schema: {type: string}}}}, '2XX': {description: B}}",
            ),
            "its responses are read as `Other`",
        ),
        (
            operation("operationId: send, responses: {'204': {description: A}}"),
            "the ID `send` becomes `sendOperation`",
        ),
        (
            operation("operationId: into, responses: {'204': {description: A}}"),
            "name: \"into_\"",
        ),
        (
            operation(
                "parameters: [{name: p, in: query, allowReserved: true, schema: {type: string}}], responses: {'204': {description: A}}",
            ),
            "unknown field `allowReserved`",
        ),
        (
            operation("security: [{}, {key: []}], responses: {'204': {description: A}}"),
            "the document authenticates with `key`",
        ),
        (
            sending("application/json-patch+json"),
            "media_type: Some(\"application/json-patch+json\")",
        ),
        (
            operation("responses: {'204': {description: A}}"),
            "no operation references it, so no type is generated",
        ),
        (
            (
                "/it: {post: {requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/Sample'}}}}, responses: {'204': {description: A}}}}".to_owned(),
                sample.replace("name:", "id: {type: string, readOnly: true}, name:"),
            ),
            "fields that only responses have, so Sample in requests lacks them: id",
        ),
        (
            (
                "x: {}}, servers: [{url: 'https://a.example/v2'}], x-rest: {x: {}".to_owned(),
                sample.to_owned(),
            ),
            "/servers\", rule: \"the paths are below `/v2`",
        ),
    ] {
        let (spec, findings) = vendor(&paths, &schemas);
        let all = format!(
            "{:?} {:?} {:?}",
            spec.operations,
            spec.schemas,
            findings.all()
        );
        assert!(all.contains(expected), "{expected}\n{all}");
    }
}

#[test]
fn operations_with_a_rejected_path_parameter_are_left_out() {
    let operation = "{responses: {'204': {description: Ok}}}";
    let paths = format!(
        "/things: {{parameters: [{{name: id, in: cookie, required: true}}], get: {operation}, post: {operation}}}"
    );
    assert_eq!(vendor(&paths, "").0.operations.len(), 0);
}

#[test]
fn examples_and_defaults_of_secrets_are_dropped() {
    let secret = "{type: string, format: password, default: hidden, example: hidden}";
    let paths = format!(
        "/things: {{get: {{parameters: [{{name: key, in: query, example: hidden, schema: {secret}}}], responses: {{'200': {{description: Ok, \
         content: {{application/json: {{schema: {{$ref: '#/components/schemas/Sample'}}}}}}}}}}}}}}"
    );
    let schemas = format!(
        "Base: {{type: object, properties: {{d: {secret}}}}}, Key: {secret}, \
         Sample: {{allOf: [{{$ref: '#/components/schemas/Base'}}, {{type: object, properties: {{a: {secret}, \
         b: {{$ref: '#/components/schemas/Key', example: hidden}}, c: {{type: array, items: {secret}}}, d: {{example: hidden}}}}}}]}}"
    );
    let (spec, findings) = vendor(&paths, &schemas);
    let all = format!("{:?} {:?} {findings:?}", spec.operations, spec.schemas);
    assert!(
        all.contains("secret: true") && !all.contains("hidden"),
        "{all}"
    );
}

#[test]
fn only_a_cursor_in_the_query_makes_a_page() {
    let page = "{type: object, required: [nextCursor], properties: {items: {type: array, items: {}}, nextCursor: {type: string}}}";
    let list = |place: &str| {
        let paths = replying(page).replace(
            "responses",
            &format!(
                "parameters: [{{name: cursor, in: {place}, schema: {{type: string}}}}], responses"
            ),
        );
        vendor(&paths, "").0.operations[0].is_list()
    };
    assert!(list("query") && !list("header"));
}

#[test]
fn an_alternative_without_scopes_accepts_any_token() {
    let calls = |security: &str| {
        let paths = format!(
            "/things: {{get: {{operationId: get, security: {security}, responses: {{'4XX': {{description: Wrong.}}, default: {{description: Odd.}}, '204': {{description: Ok}}}}}}}}"
        );
        vendor(&paths, "").0.operations.remove(0)
    };
    for (security, scopes) in [
        ("[{oauth: [a, b]}]", &["a b"][..]),
        ("[{oauth: [a]}, {oauth: [b]}]", &["a", "b"]),
        ("[{oauth: [a]}, {oauth: []}]", &[]),
    ] {
        assert_eq!(calls(security).scopes, scopes, "{security}");
    }
    let otherwise = calls("[]").statuses.otherwise;
    assert_eq!(otherwise.as_deref(), Some("4XX: Wrong. Odd."));
}

#[test]
fn a_schema_with_many_references_is_merged_once() {
    let level = |level: usize| {
        let below = format!("{{$ref: '#/components/schemas/L{}'}}", level - 1);
        format!(
            "L{level}: {{allOf: [{below}, {below}, {{properties: {{b{level}: {{type: string}}}}}}]}}"
        )
    };
    let mut schemas = vec!["L0: {type: object, properties: {a: {type: string}}}".to_owned()];
    schemas.extend((1..40).map(level));
    let schemas = schemas.join(", ");
    let (spec, _) = vendor(&replying("{$ref: '#/components/schemas/L39'}"), &schemas);
    assert_eq!(spec.schemas.components["L39"].members().len(), 40);
}

#[test]
fn a_variant_has_only_its_own_tags() {
    let variant = |kinds: &str| {
        format!("{{type: object, properties: {{kind: {{type: string, enum: [{kinds}]}}}}}}")
    };
    let one = "One: {type: object, required: [kind], properties: {kind: {type: string}}}";
    let schemas = format!(
        "{one}, Three: {}, Sample: {{oneOf: [{{$ref: '#/components/schemas/One'}}, {{$ref: '#/components/schemas/Three'}}], \
         discriminator: {{propertyName: kind, mapping: {{uno: '#/components/schemas/One', eins: '#/components/schemas/One', three: '#/components/schemas/Three', drei: Three}}}}}}",
        variant("three, drei")
    );
    let (spec, _) = vendor(&replying("{$ref: '#/components/schemas/Sample'}"), &schemas);
    let Kind::Union { variants, .. } = &spec.schemas.components["Sample"].kind else {
        panic!("no union")
    };
    let tags: Vec<String> = variants.iter().map(|it| it.values.join(" ")).collect();
    assert_eq!(tags, ["uno eins", "three drei"]);
    // The values of a branch take precedence.
    let merged = schemas.replace(
        "Three: {type: object, properties",
        "Three: {allOf: [{type: object, properties",
    );
    let merged = merged
        .replace("drei]}}}", "drei]}}}]}")
        .replace("three: '#/components/schemas/Three', drei: Three", "");
    let (other, _) = vendor(&replying("{$ref: '#/components/schemas/Sample'}"), &merged);
    let Kind::Union { variants, .. } = &other.schemas.components["Sample"].kind else {
        panic!("no union")
    };
    assert_eq!(variants[1].values, ["three", "drei"]);
    let kind = &spec.schemas.components["One"].members()[0].value.ty;
    assert!(matches!(
        spec.schemas.kind(kind),
        Some(Kind::Enum { closed: true, .. })
    ));
}
