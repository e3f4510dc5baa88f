//! The rules for bodies that the contract leaves open, as this server assumes them: the schemas of `assumed.yaml`.

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
    &ASSUMED.root["components"]["schemas"][name]
}

impl Broken {
    /// Adds the rules of the assumed schema `name` that `value` breaks. A field that is null counts as left out, unless it
    /// is nullable.
    pub(crate) fn check(&mut self, name: &str, value: &Value, at: &str) {
        let schema = schema(name);
        let mut value = value.clone();
        if let Value::Object(fields) = &mut value {
            let nullable = |field: &str| schema["properties"][field]["nullable"] == true;
            fields.retain(|field, value| !value.is_null() || nullable(field));
        }
        let problems = check::problems(&ASSUMED, Side::Request, schema, &value, at);
        self.0.extend(problems);
    }

    /// Adds each field that other schemas have but `name` does not.
    pub(crate) fn check_foreign<'n>(
        &mut self,
        name: &str,
        others: impl Iterator<Item = &'n str>,
        value: &Value,
        at: &str,
    ) {
        let own = &schema(name)["properties"];
        let fields = others.flat_map(|other| members(&schema(other)["properties"]));
        let mut foreign: Vec<&str> = fields.map(|(field, _)| field.as_str()).collect();
        foreign.sort_unstable();
        foreign.dedup();
        foreign.retain(|field| !value[field].is_null() && own.get(field).is_none());
        for field in foreign {
            self.add(&format!("{at}{field}"), format!("not accepted by {name}"));
        }
    }

    /// 400 if a rule is broken.
    pub(crate) fn refused(self) -> Result<(), Refusal> {
        if self.0.is_empty() {
            Ok(())
        } else {
            Err(self.into())
        }
    }
}

/// Reads a value that breaks no rule.
pub(crate) fn fields<T: DeserializeOwned>(value: &Value) -> Result<T, Refusal> {
    T::deserialize(value).map_err(|error| Refusal::invalid(error.to_string()))
}
