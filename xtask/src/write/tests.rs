//! Tests of the generated code and pages.

use crate::findings::Findings;
use crate::model::app::APPS;
use crate::model::{Reach, Spec};
use crate::read as reader;
use crate::read::tests::SAMPLE;

use super::{client, pages, requests, table, types};

fn read(text: &str) -> Spec {
    reader::own_spec(&APPS[0], text, &mut Findings::default()).unwrap()
}

fn written(spec: &Spec) -> (String, String) {
    (requests::write(spec), types::write(spec, &Reach::of(spec)))
}

/// A document without our extensions, with constructs that our own specs lack.
const VENDOR: &str = r##"
openapi: 3.1.0
x-adopted-from: vendor
info: {title: "Odd [things]\nAPI", version: "2", description: TEXT}
tags: [{name: Things, description: TEXT}]
paths:
  /things:
    parameters: [{name: cursor, in: query, schema: {type: string}}]
    get:
      operationId: listThings
      tags: [Things]
      responses: {"200": {description: A page., content: {application/json: {schema: {$ref: "#/components/schemas/ThingPage"}}}}}
    patch:
      operationId: patchThing
      tags: [Things]
      requestBody: {required: true, content: {application/json: {schema: {$ref: "#/components/schemas/ThingPatch"}}}}
      responses: {"200": {description: It., content: {application/json: {schema: {$ref: "#/components/schemas/Thing"}}}}}
  /things/{id}:
    parameters: [{name: id, in: path, required: true, description: TEXT, schema: {type: integer, format: int64}}]
    put:
      operationId: replaceThing
      tags: [Things]
      summary: TEXT
      description: TEXT
      deprecated: true
      parameters:
        - {name: colors, in: query, explode: false, description: TEXT, schema: {type: array, maxItems: 3, items: {enum: [red, green], type: string, description: TEXT}}}
        - {name: timeout, in: query, deprecated: true, schema: {type: boolean}}
        - {name: If-Match, in: header, required: true, schema: {type: string, maxLength: 40}}
      requestBody: {required: true, description: TEXT, content: {application/merge-patch+json: {schema: {$ref: "#/components/schemas/Shape"}}}}
      responses:
        "200":
          description: Replaced.
          headers: {ETag: {description: TEXT, schema: {type: string}}}
          content: {application/json: {schema: {$ref: "#/components/schemas/Shape"}}}
        "400": {description: TEXT, headers: {X-Trace: {description: TEXT, schema: {type: string}}}}
        default: {description: TEXT}
        "202": {description: Later., content: {text/csv: {schema: {type: string}}}}
        "204": {description: Nothing to do.}
    delete:
      operationId: deleteThing
      tags: [Things]
      summary: Delete a thing.
      parameters:
        - {name: since, in: query, schema: {type: string, format: date-time}}
        - {name: day, in: query, required: true, schema: {type: string, format: date}}
      requestBody: {content: {application/json: {schema: {type: array, items: {$ref: "#/components/schemas/Shape"}}}}}
      responses: {"204": {description: Gone.}}
components:
  schemas:
    Shape:
      oneOf: [{$ref: "#/components/schemas/Circle"}, {$ref: "#/components/schemas/Group"}]
      discriminator: {propertyName: kind, mapping: {circle: "#/components/schemas/Circle", group: "#/components/schemas/Group"}}
    Circle: {type: object, description: TEXT, required: [kind, radius], properties: {kind: {const: circle}, radius: {type: integer}, at: {type: string, format: date-time}, level: {type: integer, enum: [1, 3]}}}
    Group:
      type: object
      required: [kind]
      properties:
        kind: {const: group}
        first: {$ref: "#/components/schemas/Shape"}
        all: {type: array, items: {$ref: "#/components/schemas/Shape"}}
        by: {type: object, additionalProperties: {type: string, maxLength: 5}}
        named: {type: array, items: {type: string, maxLength: 7, nullable: true}}
    ThingPage: {type: object, properties: {items: {type: array, items: {$ref: "#/components/schemas/Thing"}}, nextCursor: {type: string}}}
    Thing: {type: object, required: [key], properties: {name: {type: string, description: TEXT, example: "```\n# a", pattern: "(?x)\n\n# Begins.\n\n    ^a\n```\n"}, key: {type: string, format: password, writeOnly: true}}}
    ThingPatch: {type: object, required: [rows], properties: {status: {const: closed}, rows: {type: array, items: {type: array, items: {type: string}}}}}
"##;

#[test]
fn each_construct_of_a_vendors_document_is_generated() {
    let spec = read(&VENDOR.replace("TEXT", "Text."));
    let (requests, types) = written(&spec);
    let (table, root) = (table::write(&spec), client::library(&spec, &[]));
    let files = [
        requests,
        types,
        table,
        root,
        pages::operations(&[spec], &|_| false, "", "").unwrap(),
    ]
    .concat();
    let files: Vec<&str> = files.split_whitespace().collect();
    let files = files.join(" ");

    for code in [
        // The parameters.
        "pub struct ReplaceThing { call: Call, id: i64, colors: Option<Vec<ReplaceThingColor>>, timeout_: Option<bool>, if_match: String, body: Body, }",
        ".put(&format!(\"/things/{}\", encode_segment(&self.id))).list(\"colors\", self.colors.as_deref(), ListStyle::Comma).query(\"timeout\", self.timeout_).json(self.body.bytes()?)",
        "check.list(\"colors\", self.colors.as_deref(), ListStyle::Comma, 0, 3)?;",
        "for item in self.colors.as_deref().into_iter().flatten() { check.known(\"colors\", Some(item.as_str()), ReplaceThingColor::KNOWN)?; }",
        "#[deprecated = \"deprecated by the contract\"] pub fn timeout_(mut self, timeout_: bool) -> Self {",
        // A header is sent and stored with the options of the call.
        "pub fn replace(&self, id: i64, if_match: impl Into<String>, body: &Shape) -> ReplaceThing {",
        "check.length(\"If-Match\", Some(&self.if_match), 0, 40)?;",
        "self.call.set_header(\"If-Match\", &self.if_match);",
        "let this = self.headers();",
        // A time accepts values that convert into it.
        "pub fn delete(&self, id: i64, day: impl Into<Date>)",
        "day: day.into()",
        "pub fn since(mut self, since: impl Into<Timestamp>)",
        "check.rfc3339(\"since\", self.since.as_ref())?;",
        "check.rfc3339(\"day\", Some(&self.day))?;",
        ".query(\"day\", Some(&self.day)).query(\"since\", self.since.as_ref())",
        "day: sdk_core::Date",
        "at: optional \"at\",",
        "if let Some(value) = &self.at { check.rfc3339(\"at\", Some(value))?; }",
        // The bodies.
        "body: Body::json(&operations::REPLACE_THING, body)",
        "it.media_type = Some(\"application/merge-patch+json\");",
        "pub fn body(mut self, body: &[Shape]) -> Self { self.body = Some(Body::list(&operations::DELETE_THING, body, 0, usize::MAX));",
        ".json_if(self.body.as_ref().map(Body::bytes).transpose()?)",
        // The responses.
        "impl IntoFuture for DeleteThing { type Output = Result<Receipt<()>, Error>;",
        "pub fn exact_replay(self, replay: ExactReplay) -> Self {",
        "it.safety = Safety::Idempotent;",
        "it.accept = Some(\"application/json, text/csv\");",
        "pub enum ReplaceThingReply { /// 200: Replaced. Ok(Shape), /// 202: Later. Accepted(Bytes), /// 204: Nothing to do. NoContent,",
        "200 => FromResponse::receive(reply).map(Self::Ok), 202 => FromResponse::receive(reply).map(Self::Accepted), 204 => <()>::receive(reply)",
        "/// # Response headers /// /// - `ETag`: Text. /// /// `receipt.header(\"ETag\")` returns its value.",
        "#[deprecated = \"deprecated by the contract\"] pub fn replace(",
        // The types. A variant that contains its union is boxed, and a constant is filled in.
        "pub enum Shape { /// `circle`. Circle(Circle), /// `group`. Group(Box<Group>), /// An object that",
        "pub const KNOWN: &'static [&'static str] = &[\"circle\", \"group\"];",
        "Some(\"group\") => sdk_core::codegen::decode_variant(&object).map(Self::Group), _ => Ok(Self::Unknown(",
        "match self { Self::Circle(body) => body.validate(check), Self::Group(body) => body.validate(check), Self::Unknown(_) => Ok(()), }",
        "pub fn new(radius: i64) -> Self { Self { kind: \"circle\".to_owned(), radius, at: None, level: None, extra: Members::new() } }",
        "/// The `level` field. /// /// The server also checks `enum: [1,3]`. pub level: Option<i64>,",
        "pub fn by(mut self, by: impl IntoIterator<Item = (impl Into<String>, impl Into<String>)>) -> Self {",
        "for (_, item) in value { check.length(\"by\", Some(item), 0, 5)?; }",
        "for item in value { if let Some(item) = item { check.length(\"named\", Some(item), 0, 7)?; } }",
        "/// The `named` field. /// /// Limits: each at most 7 characters. pub named: Option<Vec<Option<String>>>,",
        "Validate::validate(value, &check.member(\"all\"))?;",
        r"The client of the suite's Odd \[things\] application.",
        // A patch has only the fields that its caller sets.
        "check.known(\"status\", Some(value), &[\"closed\"])?;",
        // A secret is redacted even if the server repeats it.
        ".field(\"key\", &self.key) .field(\"extra\", &names)",
        "pub key: Option<Secret>,",
        // The examples.
        "let body = Shape::Circle(Circle::new(1));",
        "let body = [Shape::Circle(Circle::new(1))];",
        "let body = ThingPatch::new([Vec::new()]);",
        // The page of operations.
        "| Rust | Operation | Scope | Undocumented |",
        "| `crm.things().delete(id, day)` | `deleteThing`<br>`DELETE /things/{id}` | none |",
    ] {
        assert!(files.contains(code), "{code}\n{files}");
    }
    // Without a required cursor, the SDK can't recognize the last page.
    for code in ["fn pages(", "constants {"] {
        assert!(!files.contains(code), "{code}\n{files}");
    }
    let odd = VENDOR.replace("  /things:", "  /things?all=1:");
    let rejected = reader::own_spec(&APPS[0], &odd, &mut Findings::default()).unwrap_err();
    assert!(rejected.contains("its path has a query"), "{rejected}");
}

#[test]
fn code_blocks_of_a_vendor_do_not_become_tests() {
    let code = r#""```\nlet x = 1;\n```\n\nand\n\n    more""#;
    let spec = read(&VENDOR.replace("TEXT", code));
    let (requests, types) = written(&spec);
    assert!(requests.contains("It has `X-Trace`."), "{requests}");
    assert!(types.contains("For example: ``"), "{types}");
    let mut open = false;
    for line in requests.lines().chain(types.lines()) {
        let Some(doc) = line.trim_start().strip_prefix("///") else {
            assert!(!open, "a block of code does not end before {line}");
            continue;
        };
        if let Some(language) = doc.trim_start().strip_prefix("```") {
            open = !open;
            assert!(!open || !language.is_empty(), "{line} begins a test");
        }
        assert!(
            open || !doc.starts_with("     "),
            "{line} is indented like a test"
        );
    }
}

#[test]
fn a_handwritten_module_without_its_types_is_left_out() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let spec = read(SAMPLE);
    let modules = client::ByHand::of(&root, &spec).unwrap();
    let findings: Vec<String> = modules.iter().filter_map(client::ByHand::finding).collect();
    let lacks = "the document lacks ActorReference, OpportunityOwner";
    assert_eq!(
        findings,
        [format!(
            "sdk-crm/src/owner.rs: left out with its functions `none`, because {lacks}"
        )]
    );
    assert!(!client::library(&spec, &modules).contains("mod owner;"));
}
