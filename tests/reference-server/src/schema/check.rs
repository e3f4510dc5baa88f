//! Checks a value against a schema, and reports every broken rule with its place.
//!
//! Existing crates support JSON Schema, but not the additions of `OpenAPI`: `nullable`, discriminators, and fields
//! that only one side sends. Translating these and the reports would take as much code as this module. The candidates
//! are also heavy: boon adds 9 crates and a quarter to this package's build time, jsonschema 41 crates and two thirds.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::ptr;

use serde_json::Value;

use super::document::{Document, list, members, plain};
use super::format;

/// The sender of the value. A client may omit read-only fields, and a server omits write-only fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Request,
    Reply,
}

impl Side {
    /// Whether this side omits a field of this schema.
    pub(super) fn leaves_out(self, document: &Document, schema: &Value) -> bool {
        let keyword = match self {
            Side::Request => "readOnly",
            Side::Reply => "writeOnly",
        };
        schema[keyword] == true || document.resolve(schema)[keyword] == true
    }
}

/// A broken rule: its place and its message.
pub(crate) type Problem = (String, String);

pub(crate) const MISSING: &str = "missing";

/// The limit of steps. A value that needs more is rejected.
const MOST_STEPS: usize = 300_000;

/// The limit of reported problems per value.
pub(super) const MOST_PROBLEMS: usize = 100;

/// The last entry of a full list of problems.
pub(super) const MORE: &str = "breaks more rules than are listed here";

pub(crate) fn problems(
    document: &Document,
    side: Side,
    schema: &Value,
    value: &Value,
    at: &str,
) -> Vec<Problem> {
    let mut check = Check::new(document, side, MOST_PROBLEMS, MOST_STEPS);
    check.place.push_str(at);
    check.value(schema, value);
    if check.left == 0 {
        check.found.clear();
        check.broken("too complex to check");
    } else if check.found.len() >= MOST_PROBLEMS {
        check.broken(MORE);
    }
    check.found
}

/// Whether `value` conforms to `schema`.
pub(super) fn holds(document: &Document, side: Side, schema: &Value, value: &Value) -> bool {
    let mut left = MOST_STEPS;
    holds_within(document, side, schema, value, &mut left)
}

/// Whether `value` conforms to `schema`, using at most the steps in `left`.
pub(super) fn holds_within(
    document: &Document,
    side: Side,
    schema: &Value,
    value: &Value,
    left: &mut usize,
) -> bool {
    let mut check = Check::new(document, side, 1, *left);
    check.value(schema, value);
    *left = check.left;
    check.found.is_empty() && check.left > 0
}

/// Returns the variants of a union, without null.
pub(super) fn variants<'s>(document: &Document, schema: &'s Value) -> Vec<&'s Value> {
    let all = list(&schema["oneOf"]).iter().chain(list(&schema["anyOf"]));
    all.filter(|variant| document.resolve(variant)["type"] != "null")
        .collect()
}

/// Returns the discriminator value of a variant.
pub(super) fn tag<'s>(union: &'s Value, variant: &'s Value) -> Option<&'s str> {
    let reference = variant["$ref"].as_str()?;
    let name = reference.rsplit('/').next()?;
    let mapped = members(&union["discriminator"]["mapping"])
        .find(|(_, target)| *target == reference || *target == name);
    Some(mapped.map_or(name, |(tag, _)| tag))
}

/// Returns the types that a schema allows. The list is empty if the schema doesn't restrict the type.
pub(super) fn types(schema: &Value) -> Vec<&str> {
    let several = list(&schema["type"]).iter();
    let all = schema["type"].as_str().into_iter();
    all.chain(several.filter_map(Value::as_str)).collect()
}

fn is_of_type(schema: &Value, value: &Value) -> bool {
    match &schema["type"] {
        Value::String(kind) => is(kind, value),
        Value::Array(kinds) => {
            let mut kinds = kinds.iter().filter_map(Value::as_str);
            kinds.any(|kind| is(kind, value))
        }
        _ => true,
    }
}

fn is(kind: &str, value: &Value) -> bool {
    match kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => true,
    }
}

/// Returns a keyword's value if it is a string, otherwise an empty string.
fn text(rule: &Value) -> &str {
    rule.as_str().unwrap_or_default()
}

/// Compares integers exactly, because doubles can't represent all of them, and other numbers as doubles.
fn order(number: &Value, bound: &Value) -> Ordering {
    let near = |value: &Value| value.as_f64().unwrap_or_default();
    match number.as_i64().zip(bound.as_i64()) {
        Some((number, bound)) => number.cmp(&bound),
        None => near(number).total_cmp(&near(bound)),
    }
}

struct Check<'d> {
    document: &'d Document,
    side: Side,
    place: String,
    /// The references being followed, each with its value. A circular reference adds no new rule.
    following: Vec<(*const Value, *const Value)>,
    found: Vec<Problem>,
    /// The check stops after this many problems.
    most: usize,
    /// The number of steps left.
    left: usize,
}

impl<'d> Check<'d> {
    fn new(document: &'d Document, side: Side, most: usize, left: usize) -> Check<'d> {
        Check {
            document,
            side,
            place: String::new(),
            following: Vec::new(),
            found: Vec::new(),
            most,
            left,
        }
    }

    fn broken(&mut self, rule: impl Into<String>) {
        self.found.push((self.place.clone(), rule.into()));
    }

    /// Runs a check with `step` appended to the place.
    fn below(&mut self, step: &str, then: impl FnOnce(&mut Self)) {
        let length = self.place.len();
        if length > 0 && !step.starts_with('[') {
            self.place.push('.');
        }
        self.place.push_str(step);
        then(self);
        self.place.truncate(length);
    }

    fn value(&mut self, schema: &'d Value, value: &Value) {
        self.left = self.left.saturating_sub(1);
        if self.left == 0 || self.found.len() >= self.most {
            return;
        }
        if value.is_null() && schema["nullable"] == true {
            return;
        }
        if *schema == false {
            return self.broken("not accepted");
        }
        if !is_of_type(schema, value) {
            let wanted = types(schema).join(" or ");
            return self.broken(format!("must be of type {wanted}"));
        }
        // Required fields come first, so that a union quickly discards a variant with a missing field.
        if let Some(fields) = value.as_object() {
            let required = list(&schema["required"]).iter().filter_map(Value::as_str);
            for name in required.filter(|name| !fields.contains_key(*name)) {
                self.missing(&schema["properties"][name], name);
            }
        }
        for (keyword, rule) in members(schema) {
            self.keyword(schema, keyword, rule, value);
        }
    }

    fn missing(&mut self, property: &Value, name: &str) {
        if !self.side.leaves_out(self.document, property) {
            self.below(name, |check| check.broken(MISSING));
        }
    }

    fn keyword(&mut self, schema: &'d Value, keyword: &str, rule: &'d Value, value: &Value) {
        match (keyword, value) {
            ("$ref", _) => self.reference(rule, value),
            ("readOnly", _) if self.side == Side::Request && *rule == true => {
                self.broken("is read-only");
            }
            ("allOf", _) => list(rule).iter().for_each(|part| self.value(part, value)),
            ("oneOf" | "anyOf", _) => self.union(schema, keyword, value),
            ("const", _) if rule != value => self.broken(format!("must be {}", plain(rule))),
            ("enum", _) if !list(rule).contains(value) => {
                let values: Vec<String> = list(rule).iter().map(plain).collect();
                self.broken(format!("must be {}", values.join(" or ")));
            }
            ("format", _) if !format::holds(text(rule), value) => {
                self.broken(format!("must be of format {}", text(rule)));
            }
            ("minLength" | "maxLength", Value::String(text)) => {
                self.size(keyword, rule, text.chars().count());
            }
            ("pattern", Value::String(it)) if !self.document.matches(text(rule), it) => {
                self.broken(format!("must match {}", text(rule)));
            }
            ("minimum" | "exclusiveMinimum", Value::Number(_)) if rule.is_number() => {
                let open = keyword != "minimum" || schema["exclusiveMinimum"] == true;
                let order = order(value, rule);
                if order.is_lt() || open && order.is_eq() {
                    let words = if open { "over" } else { "at least" };
                    self.broken(format!("must be {words} {rule}"));
                }
            }
            ("maximum" | "exclusiveMaximum", Value::Number(_)) if rule.is_number() => {
                let open = keyword != "maximum" || schema["exclusiveMaximum"] == true;
                let order = order(value, rule);
                if order.is_gt() || open && order.is_eq() {
                    let words = if open { "under" } else { "at most" };
                    self.broken(format!("must be {words} {rule}"));
                }
            }
            ("multipleOf", Value::Number(number)) => {
                let times = number.as_f64().zip(rule.as_f64());
                let times = times.map_or(0.0, |(number, step)| number / step);
                if (times - times.round()).abs() > 1e-9 {
                    self.broken(format!("must be a multiple of {rule}"));
                }
            }
            ("minItems" | "maxItems", Value::Array(items)) => self.size(keyword, rule, items.len()),
            ("uniqueItems", Value::Array(items))
                if *rule == true && items.iter().collect::<HashSet<_>>().len() < items.len() =>
            {
                self.broken("must not contain duplicates");
            }
            ("prefixItems", Value::Array(items)) => {
                for (at, (part, item)) in list(rule).iter().zip(items).enumerate() {
                    self.below(&format!("[{at}]"), |check| check.value(part, item));
                }
            }
            ("items", Value::Array(items)) => {
                let first = list(&schema["prefixItems"]).len();
                for (at, item) in items.iter().enumerate().skip(first) {
                    self.below(&format!("[{at}]"), |check| check.value(rule, item));
                }
            }
            ("minProperties" | "maxProperties", Value::Object(fields)) => {
                self.size(keyword, rule, fields.len());
            }
            ("properties", Value::Object(fields)) => {
                for (name, field) in fields {
                    if let Some(property) = rule.get(name) {
                        self.below(name, |check| check.value(property, field));
                    }
                }
            }
            ("additionalProperties", Value::Object(fields)) => {
                // The server doesn't check `patternProperties`, so a field may match one of these patterns.
                let may_match = schema.get("patternProperties").is_some();
                let is_other = |name: &str| schema["properties"].get(name).is_none() && !may_match;
                for (name, field) in fields.iter().filter(|(name, _)| is_other(name)) {
                    self.below(name, |check| check.value(rule, field));
                }
            }
            _ => {}
        }
    }

    fn size(&mut self, keyword: &str, bound: &Value, size: usize) {
        let size = size as u64;
        let least = keyword.starts_with("min");
        let fits = |bound: u64| if least { size >= bound } else { size <= bound };
        if !bound.as_u64().is_none_or(fits) {
            self.broken(format!("{keyword} is {bound}"));
        }
    }

    fn reference(&mut self, reference: &Value, value: &Value) {
        let Some(target) = self.document.target(text(reference)) else {
            return;
        };
        let step = (ptr::from_ref(target), ptr::from_ref(value));
        if !self.following.contains(&step) {
            self.following.push(step);
            self.value(target, value);
            self.following.pop();
        }
    }

    /// Whether a value conforms. The check stops at the first problem.
    fn fits(&mut self, schema: &'d Value, value: &Value) -> bool {
        let found = std::mem::take(&mut self.found);
        let most = std::mem::replace(&mut self.most, 1);
        self.value(schema, value);
        self.most = most;
        std::mem::replace(&mut self.found, found).is_empty()
    }

    fn union(&mut self, schema: &'d Value, name: &str, value: &Value) {
        let variants = list(&schema[name]);
        let member = schema["discriminator"]["propertyName"].as_str();
        let said = member.and_then(|member| value[member].as_str());
        let mut named = variants.iter();
        let named = named.find(|variant| said.is_some() && tag(schema, variant) == said);
        let candidates = named.map_or(variants, std::slice::from_ref);
        match candidates.iter().filter(|it| self.fits(it, value)).count() {
            1 => return,
            2.. if name == "anyOf" => return,
            2.. => return self.broken("matches more than one alternative"),
            0 => {}
        }
        let document = self.document;
        let mut of_type = candidates
            .iter()
            .filter(|variant| is_of_type(document.resolve(variant), value));
        match (of_type.next(), of_type.next()) {
            // A problem inside the only alternative of the right type is more useful than "matches no alternative".
            (Some(only), None) if self.most > 1 => self.value(only, value),
            _ => self.broken("matches no alternative"),
        }
    }
}
