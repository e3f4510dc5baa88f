//! An `OpenAPI` document: its content, references and patterns, and its unchecked parts.

use std::collections::{BTreeMap, HashMap};

use percent_encoding::percent_decode_str;
use regex::Regex;
use serde_json::Value;

use super::{check, format};
use crate::json::Json;

/// A longer chain of references is circular.
const LONGEST_CHAIN: usize = 32;

static NOTHING: Value = Value::Null;

const TYPES: [&str; 7] = [
    "null", "boolean", "string", "number", "integer", "array", "object",
];

/// Keywords that the server doesn't check, because business APIs hardly use them.
const UNCHECKED: [&str; 12] = [
    "not",
    "if",
    "contains",
    "patternProperties",
    "propertyNames",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "unevaluatedItems",
    "unevaluatedProperties",
    "$dynamicRef",
    "$recursiveRef",
];

/// Objects whose field names come from the API.
const NAMED: [&str; 11] = [
    "properties",
    "patternProperties",
    "dependentSchemas",
    "schemas",
    "$defs",
    "definitions",
    "mapping",
    "headers",
    "parameters",
    "responses",
    "variables",
];

/// Fields that contain API data instead of schemas. In them, `$ref` has no special meaning.
const DATA: [&str; 8] = [
    "example",
    "examples",
    "default",
    "enum",
    "const",
    "description",
    "links",
    "securitySchemes",
];

/// A document whose references all resolve.
#[derive(Debug, Default)]
pub(crate) struct Document {
    pub(super) root: Value,
    /// The patterns that the server can check.
    patterns: HashMap<String, Regex>,
    /// The unchecked keywords, each with its first place and its count.
    unchecked: BTreeMap<String, (String, usize)>,
}

impl Document {
    /// Parses JSON or YAML, and adds unsupported parts to `problems`.
    pub(super) fn read(text: &str, problems: &mut Vec<String>) -> Document {
        let root: Result<Value, String> = if text.trim_start().starts_with('{') {
            serde_json::from_str(text).map_err(|error| error.to_string())
        } else {
            serde_yaml_ng::from_str(text).map_err(|error| error.to_string())
        };
        let mut root = root.unwrap_or_else(|problem| {
            problems.push(format!("not a document: {problem}"));
            Value::Null
        });
        with_integers(&mut root);
        let version = plain(&root["openapi"]);
        if !["3.0", "3.1"]
            .iter()
            .any(|known| version.starts_with(known))
        {
            problems.push(format!("openapi: must be 3.0 or 3.1, not {version:?}"));
        }
        let mut document = Document {
            root,
            ..Document::default()
        };
        let (mut patterns, mut unchecked) = (HashMap::new(), BTreeMap::new());
        walk(&document.root, "#", false, &mut |value, place| {
            let reference = value["$ref"].as_str();
            let nowhere = reference.filter(|_| document.resolve(value).is_null());
            problems.extend(nowhere.map(|it| format!("{place}: {it:?} is not in the document")));
            let types = check::types(value).into_iter();
            let unknown = types.filter(|kind| !TYPES.contains(kind));
            problems.extend(unknown.map(|kind| format!("{place}: unknown type {kind:?}")));
            for what in unknown_keywords(value, &mut patterns) {
                let first = || (place.to_owned(), 0);
                unchecked.entry(what).or_insert_with(first).1 += 1;
            }
        });
        document.patterns = patterns;
        document.unchecked = unchecked;
        document
    }

    pub(crate) fn resolve<'d>(&'d self, mut value: &'d Value) -> &'d Value {
        for _ in 0..LONGEST_CHAIN {
            let Some(reference) = value["$ref"].as_str() else {
                return value;
            };
            value = self.target(reference).unwrap_or(&NOTHING);
        }
        &NOTHING
    }

    pub(crate) fn target(&self, reference: &str) -> Option<&Value> {
        // The common form needs no decoding. Decoding would take most of a check's time.
        let name = reference.strip_prefix("#/components/schemas/");
        if let Some(name) = name.filter(|name| !name.contains(['~', '%', '/'])) {
            return self.root["components"]["schemas"].get(name);
        }
        let pointer = percent_decode_str(reference.strip_prefix('#')?);
        self.root.pointer(&pointer.decode_utf8().ok()?)
    }

    pub(super) fn unchecked(&self) -> impl Iterator<Item = String> {
        let all = self.unchecked.iter();
        all.map(|(what, (place, count))| {
            format!("not checked: {what}, {count} times, first at {place}")
        })
    }

    pub(super) fn matches(&self, pattern: &str, text: &str) -> bool {
        let compiled = self.patterns.get(pattern);
        compiled.is_none_or(|regex| regex.is_match(text))
    }
}

/// Visits each value of a document that may be a schema. If `named`, the field names come from the API.
fn walk(value: &Value, place: &str, named: bool, visit: &mut impl FnMut(&Value, &str)) {
    if !named {
        visit(value, place);
    }
    for (at, item) in list(value).iter().enumerate() {
        walk(item, &format!("{place}/{at}"), false, visit);
    }
    let is_data = |field: &str| DATA.contains(&field) || field.starts_with("x-");
    for (field, inner) in members(value).filter(|(field, _)| named || !is_data(field)) {
        let step = field.replace('~', "~0").replace('/', "~1");
        let named = !named && NAMED.contains(&field.as_str());
        walk(inner, &format!("{place}/{step}"), named, visit);
    }
}

/// Returns the unchecked keywords of a schema, and compiles its pattern.
fn unknown_keywords(schema: &Value, patterns: &mut HashMap<String, Regex>) -> Vec<String> {
    let unchecked = UNCHECKED.iter().filter(|name| schema.get(**name).is_some());
    let mut unchecked: Vec<String> = unchecked.map(ToString::to_string).collect();
    let pattern = schema["pattern"].as_str();
    if let Some(pattern) = pattern.filter(|pattern| !patterns.contains_key(*pattern)) {
        match Regex::new(pattern) {
            Ok(regex) => drop(patterns.insert(pattern.to_owned(), regex)),
            Err(_) => unchecked.push(format!("the pattern {pattern:?}")),
        }
    }
    let format = schema["format"].as_str();
    let unknown = format.filter(|format| !format::is_known(format));
    unchecked.extend(unknown.map(|format| format!("the format {format}")));
    unchecked
}

/// Normalizes whole numbers as in requests, so that an enumeration value `1.0` equals `1`.
fn with_integers(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(with_integers),
        Value::Object(fields) => fields.values_mut().for_each(with_integers),
        Value::Number(number) if number.is_f64() => {
            let read = Json::read(number.to_string().as_bytes());
            *value = read.map_or(Value::Null, Json::into_value);
        }
        _ => {}
    }
}

/// Returns a scalar as a string.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Returns the items of an array; empty for other values.
pub(super) fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Returns the fields of an object; empty for other values.
pub(super) fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}
