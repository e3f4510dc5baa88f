//! An `OpenAPI` document: its text, its references, its patterns.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use percent_encoding::percent_decode_str;
use regex::Regex;
use serde_json::Value;

/// Longer chains of references are circles.
const LONGEST_CHAIN: usize = 32;

static NOTHING: Value = Value::Null;

/// A document whose references all lead somewhere.
#[derive(Debug)]
pub(super) struct Document {
    pub(super) root: Value,
    /// Patterns are compiled once; those with look-around do not compile and hold for every text.
    patterns: Mutex<HashMap<String, Option<Regex>>>,
}

impl Document {
    /// Reads JSON or YAML; adds what cannot be taken to `problems`.
    pub(super) fn read(text: &str, problems: &mut Vec<String>) -> Document {
        let root: Result<Value, String> = if text.trim_start().starts_with('{') {
            serde_json::from_str(text).map_err(|error| error.to_string())
        } else {
            serde_yaml_ng::from_str(text).map_err(|error| error.to_string())
        };
        let root = root.unwrap_or_else(|problem| {
            problems.push(format!("not a document: {problem}"));
            Value::Null
        });
        let version = plain(&root["openapi"]);
        if !["3.0", "3.1"]
            .iter()
            .any(|known| version.starts_with(known))
        {
            problems.push(format!("openapi: must be 3.0 or 3.1, not {version:?}"));
        }
        let document = Document {
            root,
            patterns: Mutex::default(),
        };
        document.check_references(&document.root, "#", problems);
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

    /// Whether a text matches a pattern.
    pub(super) fn matches(&self, pattern: &str, text: &str) -> bool {
        let mut patterns = self.patterns.lock().unwrap_or_else(PoisonError::into_inner);
        if !patterns.contains_key(pattern) {
            patterns.insert(pattern.to_owned(), Regex::new(pattern).ok());
        }
        let compiled = patterns[pattern].as_ref();
        compiled.is_none_or(|regex| regex.is_match(text))
    }

    fn check_references(&self, value: &Value, place: &str, problems: &mut Vec<String>) {
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
                self.check_references(item, &format!("{place}/{at}"), problems);
            }),
            Value::Object(members) => members
                .iter()
                .filter(|(name, _)| !data(name) || place.ends_with("/properties"))
                .for_each(|(name, member)| {
                    let name = name.replace('~', "~0").replace('/', "~1");
                    self.check_references(member, &format!("{place}/{name}"), problems);
                }),
            _ => {}
        }
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
