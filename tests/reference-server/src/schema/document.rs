//! An `OpenAPI` document: its text, its references, its patterns.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};

use percent_encoding::percent_decode_str;
use regex::Regex;
use regex_syntax::ast::ErrorKind::{UnsupportedBackreference, UnsupportedLookAround};
use serde_json::Value;

use super::{check, format};
use crate::json::Json;

/// Longer chains of references are circles.
const LONGEST_CHAIN: usize = 32;

static NOTHING: Value = Value::Null;

/// A document whose references all lead somewhere.
#[derive(Debug)]
pub(super) struct Document {
    pub(super) root: Value,
    /// Patterns are compiled once; those with look-around do not compile and hold for every text.
    patterns: Mutex<HashMap<String, Option<Regex>>>,
    /// What nobody checks, where first, and how often.
    unchecked: BTreeMap<String, (String, usize)>,
}

/// The types of JSON Schema.
const TYPES: [&str; 7] = [
    "null", "boolean", "string", "number", "integer", "array", "object",
];

/// Keywords that nobody checks.
const UNCHECKED: [&str; 5] = [
    "unevaluatedItems",
    "unevaluatedProperties",
    "dependencies",
    "$dynamicRef",
    "$recursiveRef",
];

/// Objects whose members have names of the API.
const NAMED: [&str; 10] = [
    "properties",
    "patternProperties",
    "dependentSchemas",
    "schemas",
    "$defs",
    "definitions",
    "mapping",
    "headers",
    "parameters",
    "variables",
];

impl Document {
    /// Reads JSON or YAML; adds what cannot be taken to `problems`.
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
            patterns: Mutex::default(),
            unchecked: BTreeMap::new(),
        };
        let mut unchecked = BTreeMap::new();
        document.walk(&document.root, "#", problems, &mut |what, place| {
            unchecked.entry(what).or_insert((place.to_owned(), 0)).1 += 1;
        });
        document.unchecked = unchecked;
        document
    }

    /// What a value is, whether it stands here or is referred to.
    pub(super) fn resolve<'d>(&'d self, mut value: &'d Value) -> &'d Value {
        for _ in 0..LONGEST_CHAIN {
            let Some(reference) = value["$ref"].as_str() else {
                return value;
            };
            value = self.target(reference).unwrap_or(&NOTHING);
        }
        &NOTHING
    }

    pub(super) fn target(&self, reference: &str) -> Option<&Value> {
        let pointer = percent_decode_str(reference.strip_prefix('#')?);
        self.root.pointer(&pointer.decode_utf8().ok()?)
    }

    /// What the server does not check.
    pub(super) fn unchecked(&self) -> impl Iterator<Item = String> {
        let all = self.unchecked.iter();
        all.map(|(what, (place, count))| {
            format!("not checked: {what}, {count} times, first at {place}")
        })
    }

    /// Whether a text matches a pattern.
    pub(super) fn matches(&self, pattern: &str, text: &str) -> bool {
        let mut patterns = self.patterns.lock().unwrap_or_else(PoisonError::into_inner);
        if !patterns.contains_key(pattern) {
            patterns.insert(pattern.to_owned(), Regex::new(pattern).ok());
        }
        let compiled = patterns[pattern].as_ref();
        compiled.is_none_or(|regex| regex.is_match(text))
    }

    /// Says what is wrong with the keywords of a schema, and what of it nobody checks.
    fn keywords(
        schema: &Value,
        mut problem: impl FnMut(String),
        mut unchecked: impl FnMut(String),
    ) {
        let types = check::types(schema)
            .into_iter()
            .filter(|kind| !TYPES.contains(kind));
        types.for_each(|kind| problem(format!("unknown type {kind:?}")));
        let patterns = members(&schema["patternProperties"]).map(|(pattern, _)| pattern.as_str());
        for pattern in patterns.chain(schema["pattern"].as_str()) {
            match regex_syntax::parse(pattern) {
                Ok(_) => {}
                Err(regex_syntax::Error::Parse(error))
                    if !matches!(
                        error.kind(),
                        UnsupportedLookAround | UnsupportedBackreference
                    ) =>
                {
                    problem(format!("the pattern {pattern:?}: {}", error.kind()));
                }
                Err(_) => unchecked(format!("the pattern {pattern:?}")),
            }
        }
        let unknown = schema["format"]
            .as_str()
            .filter(|format| !format::is_known(format));
        if let Some(format) = unknown {
            unchecked(format!("the format {format}"));
        }
        let keywords = UNCHECKED.iter().filter(|name| schema.get(**name).is_some());
        keywords.for_each(|name| unchecked((*name).to_owned()));
    }

    fn walk(
        &self,
        value: &Value,
        place: &str,
        problems: &mut Vec<String>,
        unchecked: &mut impl FnMut(String, &str),
    ) {
        let named = NAMED
            .iter()
            .any(|name| place.rsplit('/').next() == Some(name));
        if !named
            && !place.starts_with("#/components/securitySchemes")
            && !place.contains("/links/")
        {
            let problem = |what: String| problems.push(format!("{place}: {what}"));
            Document::keywords(value, problem, |what| unchecked(what, place));
        }
        if let Some(reference) = value["$ref"].as_str()
            && (self.target(reference).is_none() || self.resolve(value).is_null())
        {
            problems.push(format!("{place}: {reference:?} leads nowhere in it"));
        }
        // Values of the API and extensions of others, where `$ref` is a name like any other.
        let data = [
            "example",
            "examples",
            "default",
            "enum",
            "const",
            "description",
        ];
        let data = |name: &str| data.contains(&name) || name.starts_with("x-");
        match value {
            Value::Array(items) => items.iter().enumerate().for_each(|(at, item)| {
                self.walk(item, &format!("{place}/{at}"), problems, unchecked);
            }),
            Value::Object(members) => members
                .iter()
                .filter(|(name, _)| !data(name) || place.ends_with("/properties"))
                .for_each(|(name, member)| {
                    let name = name.replace('~', "~0").replace('/', "~1");
                    self.walk(member, &format!("{place}/{name}"), problems, unchecked);
                }),
            _ => {}
        }
    }
}

/// Gives whole numbers the form that they have in a request, so that an allowed value `1.0` is the same as `1`.
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

/// A scalar as text.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The items of an array, or none.
pub(super) fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// The members of an object, or none.
pub(super) fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}
