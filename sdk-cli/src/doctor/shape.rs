//! Compares responses with the specs: the received fields and their types with the documented and assumed fields.

use std::collections::{BTreeMap, BTreeSet};

use sdk_core::Operation;
use serde_json::{Map, Value};

use super::facts::{Evidence, judged};
use super::report::Report;
use crate::catalog::{resolved, specs};

/// An integer beyond 64 bits (A49).
const BIG: &str = "integer beyond 64 bits";

pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_i64() => "integer",
        Value::Number(number) => match number.as_f64() {
            Some(whole) if whole.fract() == 0.0 && whole.abs() >= 9.2e18 => BIG,
            Some(whole) if whole.fract() == 0.0 => "integer",
            _ => "number",
        },
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Returns the names of fields with their types. Names that may contain data, such as addresses, are only counted.
pub(crate) fn named(value: &Value) -> String {
    let Some(fields) = value.as_object() else {
        return format!("a JSON {}", kind(value));
    };
    let plain = fields.iter().filter(|(name, _)| is_name(name)).take(20);
    let plain = plain.map(|(name, it)| format!("{name} ({})", kind(it)));
    let mut all: Vec<String> = plain.collect();
    if all.len() < fields.len() {
        all.push(format!("{} more", fields.len() - all.len()));
    }
    all.join(", ")
}

fn is_name(name: &str) -> bool {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '-');
    name.len() <= 40
        && name.chars().all(is_plain)
        && name.starts_with(|it: char| it.is_ascii_alphabetic())
}

/// The comparison of a response with its schema. Places are paths such as `.items[].title`.
pub(crate) struct Shape {
    spec: &'static Value,
    /// Differences from the documented fields.
    differences: BTreeSet<String>,
    unknown: BTreeSet<String>,
    /// Places by assumption, and by whether they confirm the assumption.
    assumed: BTreeMap<(&'static str, bool), BTreeSet<String>>,
}

/// Compares an operation's response with its schema, if the operation has a schema for the status.
pub(crate) fn check(operation: &Operation, status: u16, response: &Value) -> Option<Shape> {
    let spec = specs()["specs"].get(operation.application.name())?;
    let method = operation.method.as_str().to_ascii_lowercase();
    let responses = &spec["paths"][operation.route][method]["responses"];
    let documented = responses.get(status.to_string());
    let documented = resolved(spec, documented.or(responses.get("default"))?);
    let schema = documented.pointer("/content/application~1json/schema")?;
    let mut shape = Shape {
        spec,
        differences: BTreeSet::new(),
        unknown: BTreeSet::new(),
        assumed: BTreeMap::new(),
    };
    shape.value(schema, response, "", &[]);
    Some(shape)
}

impl Shape {
    pub(crate) fn find(&self, report: &mut Report, operation: &str) {
        for difference in &self.differences {
            let remedy = "the contract documents it otherwise: ask its vendor, and read the response with `raw_call` until then";
            report.problem(format!("{operation}: {difference}"), remedy);
        }
        let unknown: Vec<&str> = self.unknown.iter().take(10).map(String::as_str).collect();
        if !unknown.is_empty() {
            let all = unknown.join(", ");
            report.note(format!("{operation} has undocumented fields: {all}"));
        }
        if self.differences.is_empty() {
            report.ok(format!("{operation} has the documented shape"));
        }
    }

    /// The evidence on each assumption that the schema rests on.
    pub(crate) fn evidence(
        &self,
        operation: &'static str,
    ) -> impl Iterator<Item = (&'static str, Evidence)> {
        self.assumed.iter().map(move |((id, holds), places)| {
            let first = places.first().map_or("", String::as_str);
            let text = match places.len() - 1 {
                0 => format!("{operation}{first}"),
                more => format!("{operation}{first} and {more} more"),
            };
            (*id, judged(*holds, text))
        })
    }

    /// Records whether a place confirms its assumptions. Without assumptions, records a difference from the contract.
    fn judge(&mut self, ids: &[&'static str], holds: bool, place: &str) {
        for id in ids {
            let places = self.assumed.entry((id, holds)).or_default();
            places.insert(place.to_owned());
        }
        if ids.is_empty() && !holds {
            self.differences.insert(place.to_owned());
        }
    }

    /// Compares a value with its schema. The result depends on the assumptions of the schema and those `above` it.
    fn value(&mut self, schema: &'static Value, value: &Value, at: &str, above: &[&'static str]) {
        let schema = resolved(self.spec, schema);
        let Some(wanted) = schema["type"].as_str() else {
            return;
        };
        if value.is_null() && schema["nullable"] == true {
            return;
        }
        let is = kind(value);
        let fits = is == wanted || (wanted == "number" && is == "integer");
        let mut assumed = ids(schema, "x-type-assumption");
        assumed.extend(above);
        if wanted == "integer" && (fits || is == BIG) {
            assumed.push("A49");
        }
        if !fits {
            self.judge(&assumed, false, &format!("{at} is {is}, not {wanted}"));
        } else if value.as_array().is_none_or(|it| !it.is_empty()) {
            // A list without records doesn't show their fields.
            self.judge(&assumed, true, at);
        }
        match value {
            _ if !fits => {}
            Value::Object(fields) => self.fields(schema, fields, at),
            Value::Array(items) => {
                let most = schema["maxItems"].as_u64().unwrap_or(u64::MAX);
                let count = items.len();
                let found = format!("{at} has {count} items, but the contract allows {most}");
                self.judge(&[], count as u64 <= most, &found);
                for item in items {
                    self.value(&schema["items"], item, &format!("{at}[]"), above);
                }
            }
            Value::String(text) => self.string(schema, text, at, above),
            _ => {}
        }
    }

    fn fields(&mut self, schema: &'static Value, fields: &Map<String, Value>, at: &str) {
        let properties = schema["properties"].as_object();
        let inherited = ids(schema, "x-assumption");
        let required = schema["required"].as_array();
        for (name, property) in properties.into_iter().flatten() {
            let place = format!("{at}.{name}");
            let own = ids(property, "x-assumption");
            let property = resolved(self.spec, property);
            if let Some(value) = fields.get(name) {
                // An assumption on an object concerns the format of its references.
                let is_reference = property["pattern"].is_string();
                let above = if is_reference { &inherited } else { &own };
                self.value(property, value, &place, above);
            } else if !own.is_empty() {
                let others = named(&Value::Object(fields.clone()));
                self.judge(
                    &own,
                    false,
                    &format!("{place} is missing; the response has {others}"),
                );
            } else if required.is_some_and(|all| all.iter().any(|it| it == name.as_str())) {
                self.judge(&[], false, &format!("{place} is missing"));
            }
        }
        // Pages may have other fields, which are undocumented.
        let known = properties.filter(|it| !it.is_empty() && !it.contains_key("nextCursor"));
        if let Some(known) = known {
            let unknown = fields.keys().filter(|it| !known.contains_key(*it));
            self.unknown
                .extend(unknown.filter(|it| is_name(it)).cloned());
        }
    }

    /// Compares constants and the formats of references.
    fn string(&mut self, schema: &'static Value, text: &str, at: &str, above: &[&'static str]) {
        // A test checks that the patterns in the specs are valid.
        let is_match = |it| regex_lite::Regex::new(it).is_ok_and(|it| it.is_match(text));
        if !schema["pattern"].as_str().is_none_or(is_match) {
            let found = format!("{at} does not have the documented format");
            self.judge(above, false, &found);
        }
        let values = schema["enum"].as_array();
        if values.is_some_and(|all| all.iter().all(|it| it != text)) {
            self.judge(&[], false, &format!("{at} has an undocumented value"));
        }
    }
}

fn ids(schema: &'static Value, name: &str) -> Vec<&'static str> {
    match &schema[name] {
        Value::Array(all) => all.iter().filter_map(Value::as_str).collect(),
        one => one.as_str().into_iter().collect(),
    }
}
