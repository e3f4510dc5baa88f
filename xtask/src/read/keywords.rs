//! The keywords of a schema: those that make a type, those that only the service checks, and those that nobody knows.

use super::form::is_of_rules;
use super::reader::Reader;
use super::structure::is_annotation;
use crate::findings::Weight;
use crate::node::Node;

/// Keywords that make a type or bound its values.
const SHAPES: &[&str] = &[
    "$ref",
    "$defs",
    "definitions",
    "type",
    "format",
    "enum",
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

/// Keywords that become a sentence of the documentation, because the service alone checks them.
const STATED: &[&str] = &[
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

/// The type that a keyword bounds, if the schema is of another one.
fn bounded(schema: &Node, key: &str) -> Option<&'static str> {
    let kinds = match key {
        "minLength" | "maxLength" | "pattern" => &["string"][..],
        "minItems" | "maxItems" => &["array"],
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => &["number", "integer"],
        "properties" | "required" => &["object"],
        "format" if schema.get("enum").is_none() => &["string", "number", "integer"],
        _ => return None,
    };
    let given = schema.at("type").texts();
    let fits = given.is_empty() || given.iter().any(|it| kinds.contains(&it.as_str()));
    (!fits).then_some(kinds[0])
}

impl Reader<'_> {
    /// Notes what no type can hold, and what nobody knows.
    pub(super) fn keywords(&mut self, schema: &Node, place: &str) {
        for (key, value) in schema.members() {
            let key = key.as_str();
            if is_stated(schema, key) {
                if key != "multipleOf" && key != "uniqueItems" {
                    self.findings.note(
                        place,
                        format!("`{key}` is documented, and checked by the service alone"),
                    );
                }
            } else if !is_annotation(key) && !SHAPES.contains(&key) {
                // Some write `required: true` at the member instead of at its object.
                let rule = format!("unknown field `{key}`");
                let remedy = "nothing follows from it";
                self.findings.add(Weight::Noted, place, rule, remedy);
            } else if let Some(kind) = bounded(schema, key) {
                let rule = format!("`{key}` says nothing about what is no {kind}");
                self.findings.note(place, rule);
            } else if key == "format" && schema.get("enum").is_some() {
                let rule = format!("`format: {}` adds nothing to its values", value.plain());
                self.findings.note(place, rule);
            } else if key == "required"
                && value.items().is_empty()
                && *value != Node::List(Vec::new())
            {
                self.findings.note(
                    place,
                    "`required` is a list of names here; nothing follows from this one",
                );
            }
        }
    }
}

/// Whether the documentation states what a keyword says, and the service alone checks it.
fn is_stated(schema: &Node, key: &str) -> bool {
    STATED.contains(&key) || matches!(key, "oneOf" | "anyOf") && is_of_rules(schema, key)
}

/// The rules that the documentation states and the service alone checks.
pub(super) fn stated(schema: &Node, rules: &mut Vec<String>) {
    for (key, value) in schema.members() {
        let rule = match key.as_str() {
            "uniqueItems" if *value == Node::Bool(true) => {
                "Its items differ from each other.".to_owned()
            }
            "uniqueItems" => continue,
            "multipleOf" => format!("It is a multiple of {}.", value.plain()),
            "minProperties" => format!("It has at least {} members.", value.plain()),
            "maxProperties" => format!("It has at most {} members.", value.plain()),
            "contentEncoding" => format!("It is encoded as {}.", value.plain()),
            "contentMediaType" => format!("It contains {}.", value.plain()),
            key if is_stated(schema, key) => {
                let text = value.plain();
                if text.chars().count() > 160 {
                    format!("The service also checks `{key}`.")
                } else {
                    format!("The service also checks `{key}`: `{text}`.")
                }
            }
            _ => continue,
        };
        rules.push(rule);
    }
}
