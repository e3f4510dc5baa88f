//! A schema of the specs, and whether a value conforms to it. A keyword that is not known here fails the test, so that
//! the specs cannot say what nobody checks.

use std::collections::HashMap;
use std::sync::Mutex;

use regex::Regex;
use serde_json::Value;

use crate::spec::resolved;

/// Keywords that say nothing of the value.
const NOTES: [&str; 4] = ["description", "default", "example", "x-"];

/// A schema and the document that its references lead into.
#[derive(Clone, Copy)]
pub(crate) struct Schema {
    document: &'static Value,
    pub(crate) value: &'static Value,
}

impl Schema {
    pub(crate) fn new(document: &'static Value, value: &'static Value) -> Schema {
        Schema {
            document,
            value: resolved(document, value),
        }
    }

    pub(crate) fn keyword(&self, name: &str) -> Option<&'static Value> {
        self.value.get(name)
    }

    pub(crate) fn text(&self, name: &str) -> Option<&'static str> {
        self.keyword(name)?.as_str()
    }

    pub(crate) fn number(&self, name: &str) -> Option<i64> {
        self.keyword(name)?.as_i64()
    }

    pub(crate) fn size(&self, name: &str) -> Option<usize> {
        self.number(name)?.try_into().ok()
    }

    pub(crate) fn values(&self) -> Vec<&'static str> {
        let values = self.keyword("enum").and_then(Value::as_array);
        values
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect()
    }

    pub(crate) fn nullable(&self) -> bool {
        self.keyword("nullable")
            .is_some_and(|nullable| *nullable == true)
    }

    pub(crate) fn required(&self) -> Vec<&'static str> {
        let names = self.keyword("required").and_then(Value::as_array);
        names
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect()
    }

    pub(crate) fn properties(&self) -> Vec<(&'static str, Schema)> {
        let members = self.keyword("properties").and_then(Value::as_object);
        let members = members.into_iter().flatten();
        members
            .map(|(name, schema)| (name.as_str(), Schema::new(self.document, schema)))
            .collect()
    }

    pub(crate) fn items(&self) -> Option<Schema> {
        Some(Schema::new(self.document, self.keyword("items")?))
    }

    /// What is wrong with a value, and where; nothing if it conforms.
    pub(crate) fn problem(&self, value: &Value, at: &str) -> Option<String> {
        for keyword in self
            .value
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, _)| name)
        {
            let known = [
                "type",
                "format",
                "nullable",
                "enum",
                "pattern",
                "minLength",
                "maxLength",
                "minimum",
                "maximum",
                "items",
                "minItems",
                "maxItems",
                "required",
                "properties",
                "additionalProperties",
            ];
            let noted = NOTES.iter().any(|note| keyword.starts_with(note));
            assert!(
                noted || known.contains(&keyword.as_str()),
                "nobody checks {keyword}"
            );
        }
        if value.is_null() {
            let allowed = self.nullable() || self.keyword("type").is_none();
            return (!allowed).then(|| format!("{at}: null"));
        }
        let wrong = |what: &str| Some(format!("{at}: {what}: {value}"));
        match self.text("type") {
            Some("number") if !value.is_number() => wrong("no number"),
            Some("boolean") if !value.is_boolean() => wrong("no boolean"),
            None | Some("number" | "boolean") => None,
            Some("string") => match value.as_str() {
                Some(text) => self.problem_of_text(text).and_then(|what| wrong(&what)),
                None => wrong("no string"),
            },
            Some("integer") => match value.as_i64() {
                Some(number) if self.number("minimum").is_some_and(|least| number < least) => {
                    wrong("too small")
                }
                Some(number) if self.number("maximum").is_some_and(|most| number > most) => {
                    wrong("too large")
                }
                Some(_) => None,
                None => wrong("no integer"),
            },
            Some("array") => self.problem_of_array(value, at),
            Some("object") => self.problem_of_object(value, at),
            Some(other) => panic!("nobody checks the type {other}"),
        }
    }

    fn problem_of_text(&self, text: &str) -> Option<String> {
        let length = text.chars().count();
        let values = self.values();
        if !values.is_empty() && !values.contains(&text) {
            return Some("not one of the values".to_owned());
        }
        if self.size("minLength").is_some_and(|least| length < least) {
            return Some("too short".to_owned());
        }
        if self.size("maxLength").is_some_and(|most| length > most) {
            return Some("too long".to_owned());
        }
        if self
            .text("pattern")
            .is_some_and(|pattern| !matches(pattern, text))
        {
            return Some("another pattern".to_owned());
        }
        let holds = match self.text("format") {
            None | Some("password") => true,
            Some("date-time") => text.parse::<jiff::Timestamp>().is_ok(),
            Some("date") => text.parse::<jiff::civil::Date>().is_ok(),
            Some(other) => panic!("nobody checks the format {other}"),
        };
        (!holds).then(|| "another format".to_owned())
    }

    fn problem_of_array(&self, value: &Value, at: &str) -> Option<String> {
        let Some(items) = value.as_array() else {
            return Some(format!("{at}: no array"));
        };
        if self
            .size("minItems")
            .is_some_and(|least| items.len() < least)
            || self.size("maxItems").is_some_and(|most| items.len() > most)
        {
            return Some(format!("{at}: {} items", items.len()));
        }
        let schema = self.items()?;
        let mut problems = items.iter().enumerate();
        problems.find_map(|(place, item)| schema.problem(item, &format!("{at}[{place}]")))
    }

    fn problem_of_object(&self, value: &Value, at: &str) -> Option<String> {
        let Some(members) = value.as_object() else {
            return Some(format!("{at}: no object"));
        };
        if let Some(missing) = self
            .required()
            .iter()
            .find(|name| !members.contains_key(**name))
        {
            return Some(format!("{at}: {missing} is missing"));
        }
        self.properties()
            .into_iter()
            .find_map(|(name, schema)| schema.problem(members.get(name)?, &format!("{at}.{name}")))
    }
}

/// Whether a text matches a pattern, which is compiled once.
pub(crate) fn matches(pattern: &'static str, text: &str) -> bool {
    static COMPILED: Mutex<Option<HashMap<&str, Regex>>> = Mutex::new(None);
    let mut compiled = COMPILED.lock().unwrap();
    let known = compiled.get_or_insert_default();
    known
        .entry(pattern)
        .or_insert_with(|| Regex::new(pattern).unwrap())
        .is_match(text)
}
