//! Whether a value conforms to a schema, and if not, every rule that it breaks and where.
//!
//! The crates that do this know JSON Schema and not the dialects of `OpenAPI`: `nullable`, discriminators, members that
//! only one side sends. To translate those and their reports takes as many lines as are here, and besides, of the two in
//! question, boon needs 9 crates and a quarter more of this package's build, jsonschema 41 and two thirds.

use std::ptr;

use serde_json::{Map, Value};

use super::document::{Document, list, members, plain};
use super::format;

/// Who sends the value: a client need not send what is read-only, and the server shows nothing that is write-only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Request,
    Reply,
}

impl Side {
    /// Whether a member of this schema is left to the other side.
    pub(super) fn leaves_out(self, document: &Document, schema: &Value) -> bool {
        let keyword = match self {
            Side::Request => "readOnly",
            Side::Reply => "writeOnly",
        };
        schema[keyword] == true || document.resolve(schema)[keyword] == true
    }
}

/// A broken rule: where, and what.
pub(super) type Problem = (String, String);

/// The rules of `schema` that `value` breaks.
pub(super) fn problems(
    document: &Document,
    side: Side,
    schema: &Value,
    value: &Value,
    at: &str,
) -> Vec<Problem> {
    let mut check = Check {
        document,
        side,
        followed: Vec::new(),
        found: Vec::new(),
    };
    check.value(schema, value, at);
    check.found
}

/// Whether `value` breaks no rule of `schema`.
pub(super) fn holds(document: &Document, side: Side, schema: &Value, value: &Value) -> bool {
    problems(document, side, schema, value, "").is_empty()
}

/// The variants of a union, without its null.
pub(super) fn variants<'s>(document: &Document, schema: &'s Value) -> Vec<&'s Value> {
    let all = list(&schema["oneOf"]).iter().chain(list(&schema["anyOf"]));
    all.filter(|variant| document.resolve(variant)["type"] != "null")
        .collect()
}

/// The tag by which a discriminator names a variant.
pub(super) fn tag<'s>(union: &'s Value, variant: &'s Value) -> Option<&'s str> {
    let reference = variant["$ref"].as_str()?;
    let name = reference.rsplit('/').next()?;
    let mapped = members(&union["discriminator"]["mapping"])
        .find(|(_, target)| *target == reference || *target == name);
    Some(mapped.map_or(name, |(tag, _)| tag))
}

/// The names of the types that a schema allows; none if it says none.
pub(super) fn types(schema: &Value) -> Vec<&str> {
    let several = list(&schema["type"]).iter();
    let all = schema["type"].as_str().into_iter();
    all.chain(several.filter_map(Value::as_str)).collect()
}

/// Whether two values are the same for JSON Schema, to which 1 is 1.0.
pub(super) fn same(one: &Value, other: &Value) -> bool {
    let numbers = one.as_f64().zip(other.as_f64());
    one == other || numbers.is_some_and(|(one, other)| one.total_cmp(&other).is_eq())
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

struct Check<'d> {
    document: &'d Document,
    side: Side,
    /// The references that were followed for a value: one that comes back for it adds nothing.
    followed: Vec<(&'d str, *const Value)>,
    found: Vec<Problem>,
}

impl<'d> Check<'d> {
    fn broken(&mut self, at: &str, rule: impl Into<String>) {
        self.found.push((at.to_owned(), rule.into()));
    }

    fn value(&mut self, schema: &'d Value, value: &Value, at: &str) {
        if schema["nullable"] == true && value.is_null() {
            return;
        }
        if *schema == false {
            return self.broken(at, "not accepted");
        }
        let wanted = types(schema);
        if !wanted.is_empty() && !wanted.iter().any(|kind| is(kind, value)) {
            return self.broken(at, format!("must be of type {}", wanted.join(" or ")));
        }
        let constant = schema.get("const").map(std::slice::from_ref);
        if let Some(allowed) = schema.get("enum").map(list).or(constant)
            && !allowed.iter().any(|one| same(one, value))
        {
            let values: Vec<String> = allowed.iter().map(plain).collect();
            self.broken(at, format!("must be {}", values.join(" or ")));
        }
        match value {
            Value::Number(_) => self.number(schema, value, at),
            Value::String(text) => self.text(schema, text, at),
            Value::Array(items) => self.array(schema, items, at),
            Value::Object(object) => self.object(schema, object, at),
            _ => {}
        }
        if let Some(reference) = schema["$ref"].as_str()
            && let Some(target) = self.document.target(reference)
        {
            let step = (reference, ptr::from_ref(value));
            if !self.followed.contains(&step) {
                self.followed.push(step);
                self.value(target, value, at);
                self.followed.pop();
            }
        }
        for part in list(&schema["allOf"]) {
            self.value(part, value, at);
        }
        for name in ["oneOf", "anyOf"] {
            if schema.get(name).is_some() {
                self.union(schema, name, value, at);
            }
        }
    }

    fn union(&mut self, schema: &'d Value, name: &str, value: &Value, at: &str) {
        let variants = list(&schema[name]);
        let member = schema["discriminator"]["propertyName"].as_str();
        let said = member.and_then(|member| value[member].as_str());
        let mut named = variants.iter();
        let named = named.find(|variant| said.is_some() && tag(schema, variant) == said);
        let candidates = named.map_or(variants, std::slice::from_ref);
        let before = std::mem::take(&mut self.found);
        let mut broken: Vec<Vec<Problem>> = Vec::new();
        for variant in candidates {
            self.value(variant, value, at);
            broken.push(std::mem::take(&mut self.found));
        }
        self.found = before;
        match broken.iter().filter(|inner| inner.is_empty()).count() {
            1 => return,
            2.. if name == "anyOf" => return,
            2.. => return self.broken(at, "fits more than one alternative"),
            0 => {}
        }
        // What is wrong inside the only alternative of that form says more than that none fits.
        if broken.len() > 1 {
            broken.retain(|inner| inner.iter().all(|(place, _)| place != at));
        }
        match broken.as_mut_slice() {
            [only] => self.found.append(only),
            _ => self.broken(at, "fits no alternative"),
        }
    }

    /// Checks the bounds `least` and `most` of a size.
    fn size(&mut self, schema: &Value, of: &str, size: usize, at: &str) {
        let bound = |which: &str| schema[format!("{which}{of}")].as_u64();
        if let Some(least) = bound("min").filter(|least| (size as u64) < *least) {
            self.broken(at, format!("min{of} is {least}"));
        }
        if let Some(most) = bound("max").filter(|most| size as u64 > *most) {
            self.broken(at, format!("max{of} is {most}"));
        }
    }

    fn text(&mut self, schema: &Value, text: &str, at: &str) {
        self.size(schema, "Length", text.chars().count(), at);
        let pattern = schema["pattern"].as_str();
        if let Some(pattern) = pattern.filter(|known| !self.document.matches(known, text)) {
            self.broken(at, format!("must match {pattern}"));
        }
        let format = schema["format"].as_str();
        if let Some(format) = format.filter(|known| !format::holds(known, text)) {
            self.broken(at, format!("must be of format {format}"));
        }
    }

    fn number(&mut self, schema: &Value, value: &Value, at: &str) {
        let number = value.as_f64().unwrap_or_default();
        let (least, most) = bounds(schema);
        if let Some((least, open)) = least
            && (number < least || open && number <= least)
        {
            self.broken(
                at,
                format!("must be {} {least}", if open { "over" } else { "at least" }),
            );
        }
        if let Some((most, open)) = most
            && (number > most || open && number >= most)
        {
            self.broken(
                at,
                format!("must be {} {most}", if open { "under" } else { "at most" }),
            );
        }
        let steps = schema["multipleOf"].as_f64().map(|step| number / step);
        if steps.is_some_and(|steps| (steps - steps.round()).abs() > 1e-9) {
            self.broken(
                at,
                format!("must be a multiple of {}", schema["multipleOf"]),
            );
        }
        let small = value
            .as_i64()
            .is_some_and(|number| i32::try_from(number).is_ok());
        if schema["format"] == "int32" && !small || schema["format"] == "int64" && !value.is_i64() {
            self.broken(
                at,
                format!("must be of format {}", plain(&schema["format"])),
            );
        }
    }

    fn array(&mut self, schema: &'d Value, items: &[Value], at: &str) {
        self.size(schema, "Items", items.len(), at);
        let twice = |at: usize| items[..at].iter().any(|other| same(other, &items[at]));
        if schema["uniqueItems"] == true && (0..items.len()).any(twice) {
            self.broken(at, "must have no item twice");
        }
        if let Some(schema) = schema.get("items") {
            for (place, item) in items.iter().enumerate() {
                self.value(schema, item, &format!("{at}[{place}]"));
            }
        }
    }

    fn object(&mut self, schema: &'d Value, object: &Map<String, Value>, at: &str) {
        self.size(schema, "Properties", object.len(), at);
        let dot = if at.is_empty() { "" } else { "." };
        let properties = &schema["properties"];
        for name in list(&schema["required"]).iter().filter_map(Value::as_str) {
            let left_out = || self.side.leaves_out(self.document, &properties[name]);
            if !object.contains_key(name) && !left_out() {
                self.broken(&format!("{at}{dot}{name}"), "missing");
            }
        }
        for (name, member) in object {
            let others = || schema.get("additionalProperties");
            if let Some(schema) = properties.get(name).or_else(others) {
                self.value(schema, member, &format!("{at}{dot}{name}"));
            }
        }
    }
}

/// A bound, and whether it lies outside.
pub(super) type Bound = Option<(f64, bool)>;

/// The least and the most number; `OpenAPI` 3.0 has exclusive bounds as booleans beside the others.
pub(super) fn bounds(schema: &Value) -> (Bound, Bound) {
    let bound = |name: &str, exclusive: &str| {
        let open = schema[exclusive].as_f64().map(|at| (at, true));
        let closed = schema[name].as_f64();
        open.or(closed.map(|at| (at, schema[exclusive] == true)))
    };
    (
        bound("minimum", "exclusiveMinimum"),
        bound("maximum", "exclusiveMaximum"),
    )
}
