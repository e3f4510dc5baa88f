//! The responses that the specs allow, read independently of the generator.

use sdk_reference_server::Operation;
use serde_yaml_ng::Value;
use suite_proof::json::{Field, NUMBERS, Shape, TEXTS};

const SPECS: &[(&str, &str)] = &[
    ("crm", include_str!("../../../../specs/crm.yaml")),
    ("calendar", include_str!("../../../../specs/calendar.yaml")),
    (
        "accounting",
        include_str!("../../../../specs/accounting.yaml"),
    ),
    ("platform", include_str!("../../../../specs/platform.yaml")),
];

/// Instants in notations that RFC 3339 allows. Some exceed every date library.
const INSTANTS: &[&str] = &[
    r#""2026-01-15T09:00:00Z""#,
    r#""2026-01-15T10:30:00+05:30""#,
    r#""1970-01-01T00:00:00.000000001Z""#,
    r#""2026-06-30t23:59:59.5z""#,
    r#""2016-12-31T15:59:60-08:00""#,
    r#""9999-12-30T00:00:00-11:00""#,
    r#""9999-12-31T23:59:59Z""#,
    r#""9999-12-31T23:59:59.999999999-12:00""#,
    r#""2026-01-15T09:00:00.123456789012Z""#,
];

const INTEGERS: &[&str] = &["0", "-1", "9223372036854775807", "-9223372036854775808"];

/// Integers beyond 64 bits.
const BEYOND: &[&str] = &[
    "9223372036854775808",
    "-9223372036854775809",
    "123456789012345678901234567890",
];

pub(super) fn of_reply(operation: Operation) -> Shape {
    let of_app = |(name, _): &&(&str, &str)| *name == operation.app().id();
    let (_, text) = SPECS.iter().find(of_app).unwrap();
    let spec: Value = serde_yaml_ng::from_str(text).unwrap();
    let method = operation.method().to_lowercase();
    let responses = &spec["paths"][operation.path()][method.as_str()]["responses"];
    let shown = |status: &&str| responses[*status].is_mapping();
    let status = ["200", "201"].into_iter().find(shown).unwrap();
    let schema = &responses[status]["content"]["application/json"]["schema"];
    shape(&spec, resolved(&spec, schema).0)
}

/// Resolves a schema's references, and returns whether its type is assumed because the contract doesn't document it.
fn resolved<'a>(spec: &'a Value, mut schema: &'a Value) -> (&'a Value, bool) {
    let mut assumed = false;
    loop {
        assumed |= schema.get("x-type-assumption").is_some();
        if let Some(parts) = schema["allOf"].as_sequence() {
            schema = &parts[0];
        } else if let Some(target) = schema["$ref"].as_str() {
            let steps = target.trim_start_matches("#/").split('/');
            schema = steps.fold(spec, |schema, step| &schema[step]);
        } else {
            return (schema, assumed);
        }
    }
}

fn shape(spec: &Value, schema: &Value) -> Shape {
    match schema["type"].as_str() {
        None => Shape::Any,
        Some("object") => Shape::Object(fields(spec, schema)),
        Some("array") => {
            let most = schema["maxItems"].as_u64().unwrap_or(4);
            let (items, _) = resolved(spec, &schema["items"]);
            Shape::Array(
                shape(spec, items).into(),
                usize::try_from(most).unwrap() + 1,
            )
        }
        Some("string") if schema["format"] == "date-time" => Shape::OneOf(INSTANTS),
        // Another constant has its own tests.
        Some("string") if schema.get("x-const").is_some() => Shape::OneOf(&[]),
        Some("string") => Shape::OneOf(TEXTS),
        Some("integer") => Shape::OneOf(INTEGERS),
        Some("number") => Shape::OneOf(NUMBERS),
        Some("boolean") => Shape::OneOf(&["true", "false"]),
        other => panic!("unknown type: {other:?}"),
    }
}

fn fields(spec: &Value, schema: &Value) -> Vec<Field> {
    let properties = schema["properties"].as_mapping().into_iter().flatten();
    let is_required = |name: &Value| {
        let names = schema["required"].as_sequence();
        names.is_some_and(|names| names.contains(name))
    };
    let field = |(name, schema): (&Value, &Value)| {
        let (schema, assumed) = resolved(spec, schema);
        let required = is_required(name);
        Field {
            name: name.as_str().unwrap().to_owned(),
            required,
            shape: shape(spec, schema),
            beyond: match schema["type"].as_str() {
                _ if assumed => Shape::Any,
                Some("integer") if !required => Shape::OneOf(BEYOND),
                _ => Shape::OneOf(&[]),
            },
        }
    };
    properties.map(field).collect()
}
