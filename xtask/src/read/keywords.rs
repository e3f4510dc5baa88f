//! The keywords of a schema. Some determine a type, some are checked only by the server, and some are unknown.

use super::reader::Reader;
use super::structure::{is_annotation, is_of_rules};
use crate::findings::{Findings, Weight};
use crate::model::{Kind, Ty};
use crate::node::{Node, step};

/// Keywords that determine a type or bound its values.
const SHAPES: &[&str] = &[
    "$ref",
    "$defs",
    "definitions",
    "type",
    "format",
    "enum",
    "x-known-values",
    "const",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "prefixItems",
    "allOf",
    "oneOf",
    "anyOf",
    "discriminator",
    "pattern",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minItems",
    "maxItems",
];

/// Keywords that bound a value of their type.
const BOUNDS: [&str; 8] = [
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
];

/// Keywords that the documentation mentions, because only the server checks them.
const CHECKED: &[&str] = &[
    "multipleOf",
    "uniqueItems",
    "minProperties",
    "maxProperties",
    "patternProperties",
    "propertyNames",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "unevaluatedProperties",
    "unevaluatedItems",
    "contains",
    "minContains",
    "maxContains",
    "contentMediaType",
    "contentEncoding",
    "not",
    "if",
    "then",
    "else",
];

/// Fields without an effect, with the reason.
const IGNORED: [(&str, &str); 6] = [
    (
        "webhooks",
        "the vendor calls webhooks on your side, so no code is generated",
    ),
    (
        "callbacks",
        "the vendor calls callbacks on your side, so no code is generated",
    ),
    (
        "servers",
        "a separate server, but calls go to the origin of the application",
    ),
    ("head", "HEAD is not generated"),
    ("options", "OPTIONS is not generated"),
    ("trace", "TRACE is not generated"),
];

/// Notes the fields of a part of a document that have no effect.
pub(super) fn note_unused(node: &Node, place: &str, known: &[&str], findings: &mut Findings) {
    for (key, value) in node.members() {
        let is_known = known.contains(&key.as_str()) || key.starts_with("x-");
        if is_known || *value == Node::Bool(false) {
            continue;
        }
        let place = step(place, key);
        match IGNORED.iter().find(|it| it.0 == key) {
            Some((_, reason)) => findings.note(&place, *reason),
            None => unknown(&place, key, findings),
        }
    }
}

fn unknown(place: &str, key: &str, findings: &mut Findings) {
    let rule = format!("unknown field `{key}`");
    findings.add(Weight::Noted, place, rule, "it has no effect");
}

impl Reader<'_> {
    /// Notes the keywords that no type can express, and unknown keywords.
    pub(super) fn keywords(&mut self, schema: &Node, place: &str) {
        for (key, value) in schema.members() {
            let key = key.as_str();
            if is_checked(schema, key) {
                let rule = format!("`{key}` is documented, but only the server checks it");
                self.findings.note(place, rule);
            } else if !is_annotation(key) && !SHAPES.contains(&key) {
                unknown(place, key, self.findings);
            } else if key == "required" && matches!(value, Node::Bool(_)) {
                // Some documents have `required: true` in a property instead of the list in its object.
                let rule = "`required` must be a list of names here, so this value has no effect";
                self.findings.note(place, rule);
            }
        }
    }
}

/// Whether no type can express a keyword.
fn is_checked(schema: &Node, key: &str) -> bool {
    CHECKED.contains(&key) || matches!(key, "oneOf" | "anyOf") && is_of_rules(schema, key)
}

/// The rules of a schema that its type does not express. The documentation states them, and only the server checks them.
pub(super) fn stated(schema: &Node, ty: &Ty, kind: Option<&Kind>) -> Vec<String> {
    let is_expressed = |key: &str, value: &Node| match (key, ty) {
        _ if is_checked(schema, key) => false,
        ("enum" | "const", _) => kind.is_some(),
        ("pattern", _) => matches!(kind, Some(Kind::Reference(_))),
        ("minLength" | "maxLength", Ty::Text { secret, .. }) => kind.is_none() && !secret,
        ("minItems" | "maxItems", Ty::Array { .. }) | ("format", Ty::Timestamp | Ty::Date) => true,
        ("minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum", Ty::Integer { .. }) => {
            matches!(value, Node::Bool(_)) || value.integer().is_some()
        }
        ("format", Ty::Integer { .. }) => {
            matches!(value.text(), Some("int32" | "int64" | "uint32"))
        }
        ("format", Ty::Number) => matches!(value.text(), Some("float" | "double")),
        ("format", Ty::Text { secret, .. }) => *secret,
        ("additionalProperties", _) => *value != Node::Bool(false),
        _ => !BOUNDS.contains(&key) && key != "format",
    };
    let rules = schema.members().filter(|(key, value)| {
        let has_effect = **value != Node::Bool(false) || key.ends_with("Properties");
        has_effect && !is_expressed(key, value)
    });
    let rule = |(key, value): (&String, &Node)| {
        let value = value.plain().replace(char::is_control, " ");
        if value.chars().count() > 160 {
            format!("The server also checks `{key}`.")
        } else {
            format!("The server also checks `{key}: {value}`.")
        }
    };
    rules.map(rule).collect()
}
