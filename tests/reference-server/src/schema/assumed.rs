//! The rules for bodies that the contract leaves open, as this server assumes them. The schemas are in `assumed.yaml`.

use std::borrow::Cow;
use std::sync::LazyLock;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::check::{self, Side};
use super::document::{Document, members};
use super::request::Broken;
use crate::refusal::Refusal;

static ASSUMED: LazyLock<Document> = LazyLock::new(|| {
    let mut problems = Vec::new();
    let document = Document::read(include_str!("../assumed.yaml"), &mut problems);
    assert!(problems.is_empty(), "{problems:?}");
    document
});

fn schema(name: &str) -> &'static Value {
    let schema = ASSUMED.root["components"]["schemas"].get(name);
    schema.unwrap_or_else(|| panic!("assumed.yaml has no schema {name}"))
}

/// Whether the assumed schema `name` declares a field.
pub(crate) fn has(name: &str, field: &str) -> bool {
    schema(name)["properties"].get(field).is_some()
}

impl Broken {
    /// Adds the rules of the assumed schema `name` that `value` breaks. A null field counts as absent, unless it is
    /// nullable.
    pub(crate) fn check(&mut self, name: &str, value: &Value, at: &str) {
        let schema = schema(name);
        let left_out = |(field, value): (&String, &Value)| {
            value.is_null() && schema["properties"][field]["nullable"] != true
        };
        let mut value = Cow::Borrowed(value);
        if members(&value).any(left_out)
            && let Value::Object(fields) = value.to_mut()
        {
            fields.retain(|field, value| !left_out((field, value)));
        }
        for (place, rule) in check::problems(&ASSUMED, Side::Request, schema, &value, at) {
            self.add(&place, rule);
        }
    }

    /// Adds an error for each non-null field of an object that is unwanted.
    pub(crate) fn reject(&mut self, object: &Value, at: &str, unwanted: impl Fn(&str) -> bool) {
        let given = members(object).filter(|(_, value)| !value.is_null());
        for (field, _) in given.filter(|(field, _)| unwanted(field)) {
            self.add(&format!("{at}{field}"), "not accepted here");
        }
    }
}

/// Deserializes a value that breaks no rule.
pub(crate) fn fields<T: DeserializeOwned>(value: &Value) -> Result<T, Refusal> {
    T::deserialize(value).map_err(|error| Refusal::invalid(error.to_string()))
}
