//! The keywords of a schema: those that make a type, those that only the service checks, and those that nobody knows.

use super::reader::Reader;
use super::structure::{is_annotation, is_of_rules};
use crate::findings::{Findings, Weight};
use crate::model::{Kind, Ty};
use crate::node::{Node, step};

/// Keywords that make a type or bound its values.
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

/// Keywords that bound a value, if it is of the type that they are for.
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

/// Keywords that become a sentence of the documentation, because the service alone checks them.
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

/// Fields from which nothing follows, with the reason.
const IGNORED: [(&str, &str); 6] = [
    ("webhooks", "a webhook is a call to you: none is generated"),
    (
        "callbacks",
        "a callback is a call to you: none is generated",
    ),
    (
        "servers",
        "a server of its own: calls go to the origin of the application",
    ),
    ("head", "HEAD is not generated"),
    ("options", "OPTIONS is not generated"),
    ("trace", "TRACE is not generated"),
];

/// Notes the fields of a part of a document from which nothing follows.
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
    findings.add(Weight::Noted, place, rule, "nothing follows from it");
}

impl Reader<'_> {
    /// Notes what no type can hold, and what nobody knows.
    pub(super) fn keywords(&mut self, schema: &Node, place: &str) {
        for (key, value) in schema.members() {
            let key = key.as_str();
            if is_checked(schema, key) {
                let rule = format!("`{key}` is documented, and checked by the service alone");
                self.findings.note(place, rule);
            } else if !is_annotation(key) && !SHAPES.contains(&key) {
                unknown(place, key, self.findings);
            } else if key == "required" && matches!(value, Node::Bool(_)) {
                // Some write `required: true` at the field instead of at its object.
                let rule = "`required` is a list of names here; nothing follows from this one";
                self.findings.note(place, rule);
            }
        }
    }
}

/// Whether no type holds what a keyword says.
fn is_checked(schema: &Node, key: &str) -> bool {
    CHECKED.contains(&key) || matches!(key, "oneOf" | "anyOf") && is_of_rules(schema, key)
}

/// What a schema says that its type does not hold: the documentation states it, and the service alone checks it.
pub(super) fn stated(schema: &Node, ty: &Ty, kind: Option<&Kind>) -> Vec<String> {
    let is_held = |key: &str, value: &Node| match (key, ty) {
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
        let says_something = **value != Node::Bool(false) || key.ends_with("Properties");
        says_something && !is_held(key, value)
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
