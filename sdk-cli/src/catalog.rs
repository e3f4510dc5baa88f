//! All operations with the documented parameters and bodies, and their local validation.
//!
//! `RawCall` only validates path segments. This module therefore validates parameters and bodies by the specs from
//! which the typed clients are generated, so an invalid request fails before it is sent.

use std::sync::LazyLock;

use sdk_core::{App, Error, Operation, RawCall, RawJson, RawTarget, Suite, one_line};
use serde_json::{Map, Value, json};

use crate::output::Failure;

/// `{"specs": {"crm": {...}, ...}, "assumptions": [{"id": ..., "title": ..., "override": ...}]}`
pub(crate) fn specs() -> &'static Value {
    static SPECS: LazyLock<Value> = LazyLock::new(|| {
        serde_json::from_str(include_str!("generated/specs.json")).expect("a generated file")
    });
    &SPECS
}

/// Returns the target of a local `$ref`, or the schema itself.
pub(crate) fn resolved(document: &'static Value, schema: &'static Value) -> &'static Value {
    match schema["$ref"].as_str() {
        Some(reference) => document
            .pointer(reference.trim_start_matches('#'))
            .unwrap_or(&Value::Null),
        None => schema,
    }
}

/// An operation, and its description in its application's spec.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) operation: &'static Operation,
    document: &'static Value,
    description: &'static Value,
}

/// A parameter of the path or the query. The SDK sets header parameters.
pub(crate) struct Parameter {
    pub(crate) name: &'static str,
    pub(crate) in_path: bool,
    pub(crate) required: bool,
    pub(crate) about: &'static str,
    pub(crate) schema: &'static Value,
}

/// Returns all operations by application.
pub(crate) fn all() -> impl Iterator<Item = Entry> {
    App::all().flat_map(operations).map(|operation| {
        let document = &specs()["specs"][operation.application.name()];
        let method = operation.method.as_str().to_ascii_lowercase();
        Entry {
            operation,
            document,
            description: &document["paths"][operation.route][method],
        }
    })
}

pub(crate) fn operations(app: App) -> &'static [&'static Operation] {
    match app {
        App::Crm => sdk_crm::Client::operations(),
        App::Calendar => sdk_calendar::Client::operations(),
        App::Accounting => sdk_accounting::Client::operations(),
        App::Platform => sdk_platform::Client::operations(),
        // This program has no client for any other application.
        _ => &[],
    }
}

/// Uses a client of an application that is known only at run time. The clients share methods, but no type.
macro_rules! with_client {
    ($app:expr, $suite:expr, |$client:ident| $used:expr) => {
        match $app {
            sdk_core::App::Crm => {
                let $client = sdk_crm::Client::new($suite)?;
                $used
            }
            sdk_core::App::Calendar => {
                let $client = sdk_calendar::Client::new($suite)?;
                $used
            }
            sdk_core::App::Accounting => {
                let $client = sdk_accounting::Client::new($suite)?;
                $used
            }
            sdk_core::App::Platform => {
                let $client = sdk_platform::Client::new($suite)?;
                $used
            }
            other => unreachable!("this program has no client of {other}"),
        }
    };
}
pub(crate) use with_client;

pub(crate) fn raw_call(
    suite: &Suite,
    app: App,
    target: impl Into<RawTarget>,
) -> Result<RawCall, Error> {
    Ok(with_client!(app, suite, |client| client.raw_call(target)))
}

impl Entry {
    /// Returns the name, such as `people.list`, or `crm.service.meta` if two applications have the same short name.
    pub(crate) fn name(&self) -> String {
        let short = |it: &Operation| format!("{}.{}", it.group, it.name);
        let own = short(self.operation);
        let same = all().filter(|it| short(it.operation) == own).count();
        if same > 1 {
            format!("{}.{own}", self.operation.application)
        } else {
            own
        }
    }

    /// Returns the call of this operation with checked parameters and a checked body.
    pub(crate) fn call(
        &self,
        suite: &Suite,
        values: &[(Parameter, String)],
        body: Option<RawJson>,
    ) -> Result<RawCall, Error> {
        let mut call = raw_call(suite, self.operation.application, self.operation)?;
        for (parameter, value) in values {
            call = if parameter.in_path {
                call.path(parameter.name, value)
            } else {
                call.query(parameter.name, value)
            };
        }
        Ok(match body {
            Some(body) => call.body(body),
            None => call,
        })
    }

    pub(crate) fn is_write(&self) -> bool {
        // The token exchange is a POST, but changes nothing that needs confirmation.
        self.operation.safety.is_command() && !self.operation.secret_response
    }

    #[cfg(feature = "mcp")]
    pub(crate) fn resolved(&self, schema: &'static Value) -> &'static Value {
        resolved(self.document, schema)
    }

    pub(crate) fn parameters(&self) -> impl Iterator<Item = Parameter> {
        let all = self.description["parameters"].as_array();
        let document = self.document;
        let all = all.into_iter().flatten();
        all.filter_map(move |parameter| {
            let parameter = resolved(document, parameter);
            let place = parameter["in"].as_str()?;
            matches!(place, "path" | "query").then(|| Parameter {
                name: parameter["name"].as_str().unwrap_or_default(),
                in_path: place == "path",
                required: parameter["required"] == true,
                about: parameter["description"].as_str().unwrap_or_default(),
                schema: resolved(document, &parameter["schema"]),
            })
        })
    }

    pub(crate) fn body(&self) -> Option<&'static Value> {
        let content = self.description["requestBody"]["content"].as_object()?;
        let (_, content) = content.iter().next()?;
        Some(resolved(self.document, &content["schema"]))
    }

    pub(crate) fn check(&self, values: &[(Parameter, String)]) -> Result<(), Failure> {
        for (parameter, text) in values {
            let value = match parameter.schema["type"].as_str() {
                Some("integer") => match text.parse::<i64>() {
                    Ok(number) => json!(number),
                    Err(_) => return Err(invalid(parameter.name, "must be an integer", text)),
                },
                _ => json!(text),
            };
            self.check_value(parameter.schema, &value, parameter.name)?;
        }
        let is_set = |name: &Value| values.iter().any(|(it, _)| *name == it.name);
        let groups = self.description["x-mutually-exclusive"].as_array();
        for group in groups.into_iter().flatten() {
            let group = group.as_array().map(Vec::as_slice).unwrap_or_default();
            let set: Vec<_> = group.iter().filter(|it| is_set(it)).collect();
            if let [first, second, ..] = set[..] {
                let (first, second) = (first.as_str(), second.as_str());
                let (first, second) = (first.unwrap_or_default(), second.unwrap_or_default());
                return Err(Failure::usage(format!(
                    "{first} and {second} must not be set together"
                )));
            }
        }
        Ok(())
    }

    pub(crate) fn check_body(&self, body: &Value) -> Result<(), Failure> {
        self.body()
            .map_or(Ok(()), |schema| self.check_value(schema, body, "body"))
    }

    fn check_value(&self, schema: &'static Value, value: &Value, at: &str) -> Result<(), Failure> {
        let schema = resolved(self.document, schema);
        if value.is_null() && schema["nullable"] == true {
            return Ok(());
        }
        if let Some(wanted) = schema["type"].as_str() {
            let fits = match wanted {
                "integer" => value.is_i64() || value.is_u64(),
                "number" => value.is_number(),
                "boolean" => value.is_boolean(),
                "array" => value.is_array(),
                "object" => value.is_object(),
                _ => value.is_string(),
            };
            // If a type is only an assumption, the program doesn't enforce it.
            if !fits && schema["x-type-assumption"].is_null() {
                return Err(invalid(at, &format!("must be of type {wanted}"), value));
            }
        }
        match value {
            Value::Object(fields) => self.check_object(schema, fields, at),
            Value::Array(items) => {
                check_count(schema, "Items", items.len(), at)?;
                items.iter().enumerate().try_for_each(|(index, item)| {
                    self.check_value(&schema["items"], item, &format!("{at}[{index}]"))
                })
            }
            Value::String(text) => check_text(schema, text, at),
            Value::Number(number) => {
                let number = number.as_f64().unwrap_or_default();
                let (least, most) = (schema["minimum"].as_f64(), schema["maximum"].as_f64());
                if least.is_some_and(|least| number < least)
                    || most.is_some_and(|most| number > most)
                {
                    let bound = |name: &str| schema[name].to_string();
                    let rule = format!("must be {} to {}", bound("minimum"), bound("maximum"));
                    return Err(invalid(at, &rule.replace("null", "any"), value));
                }
                Ok(())
            }
            Value::Null | Value::Bool(_) => Ok(()),
        }
    }

    fn check_object(
        &self,
        schema: &'static Value,
        fields: &Map<String, Value>,
        at: &str,
    ) -> Result<(), Failure> {
        let required = schema["required"].as_array().into_iter().flatten();
        for name in required.filter_map(Value::as_str) {
            if !fields.contains_key(name) {
                return Err(invalid(&format!("{at}.{name}"), "is required", "nothing"));
            }
        }
        // Undocumented fields are sent unchanged.
        let known = schema["properties"].as_object();
        let known = known.into_iter().flatten();
        for (name, property) in known {
            if let Some(value) = fields.get(name) {
                self.check_value(property, value, &format!("{at}.{name}"))?;
            }
        }
        Ok(())
    }

    /// Returns a body to fill in, with all documented fields and the values of constants.
    pub(crate) fn skeleton(&self) -> Option<Value> {
        self.body().map(|schema| self.skeleton_of(schema))
    }

    fn skeleton_of(&self, schema: &'static Value) -> Value {
        let schema = resolved(self.document, schema);
        let values = schema["enum"].as_array();
        if let Some(value) = values.and_then(|all| all.first()) {
            return value.clone();
        }
        // A field without a documented type is null, too.
        let is_open = schema["type"].is_null() && schema["properties"].is_null();
        if is_open || schema["nullable"] == true {
            return Value::Null;
        }
        match schema["type"].as_str() {
            Some("object") | None => {
                let fields = schema["properties"].as_object();
                let fields = fields.into_iter().flatten();
                let fields = fields.map(|(name, it)| (name.clone(), self.skeleton_of(it)));
                fields.collect::<Map<_, _>>().into()
            }
            Some("array") => json!([self.skeleton_of(&schema["items"])]),
            Some("integer" | "number") => json!(0),
            Some("boolean") => json!(false),
            Some(_) => match (schema["format"].as_str(), schema["pattern"].as_str()) {
                (Some("date-time"), _) => json!("2026-01-31T09:00:00Z"),
                (Some("date"), _) => json!("2026-01-31"),
                (_, Some(pattern)) => json!(example(pattern)),
                _ => json!(""),
            },
        }
    }
}

impl Parameter {
    /// Returns the possible values, if the contract lists all of them.
    pub(crate) fn values(&self) -> Vec<&'static str> {
        let values = self.schema["enum"].as_array();
        values
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect()
    }

    /// Returns the pattern and the default, which the description omits.
    pub(crate) fn rule(&self) -> String {
        let mut rules = Vec::new();
        if let Some(pattern) = self.schema["pattern"].as_str() {
            rules.push(pattern.to_owned());
        }
        if let Some(default) = self.schema["default"].as_u64() {
            rules.push(format!("default {default}"));
        }
        rules.join(", ")
    }
}

fn check_text(schema: &Value, text: &str, at: &str) -> Result<(), Failure> {
    check_count(schema, "Length", text.chars().count(), at)?;
    let is_open = schema["x-known-values"].is_array();
    if let Some(values) = schema["enum"].as_array().filter(|_| !is_open)
        && values.iter().all(|it| it != text)
    {
        let all: Vec<_> = values.iter().filter_map(Value::as_str).collect();
        return Err(invalid(
            at,
            &format!("must be one of {}", all.join(", ")),
            text,
        ));
    }
    if let Some(pattern) = schema["pattern"].as_str() {
        let matches = regex_lite::Regex::new(pattern).is_ok_and(|it| it.is_match(text));
        if !matches {
            return Err(invalid(at, &format!("must match {pattern}"), text));
        }
    }
    let is_time = match schema["format"].as_str() {
        Some("date-time") => text.parse::<jiff::Timestamp>().is_ok(),
        Some("date") => text.parse::<jiff::civil::Date>().is_ok(),
        _ => true,
    };
    if !is_time {
        let example = if schema["format"] == "date" {
            "a date, such as 2026-01-31"
        } else {
            "a time with its offset, such as 2026-01-31T09:00:00Z"
        };
        return Err(invalid(at, &format!("must be {example}"), text));
    }
    Ok(())
}

/// Checks `minLength` and `maxLength`, or `minItems` and `maxItems`.
fn check_count(schema: &Value, quantity: &str, count: usize, at: &str) -> Result<(), Failure> {
    let bound = |name: &str| schema[format!("{name}{quantity}")].as_u64();
    let (least, most) = (bound("min").unwrap_or(0), bound("max").unwrap_or(u64::MAX));
    if (least..=most).contains(&(count as u64)) {
        return Ok(());
    }
    let unit = if quantity == "Items" {
        "items"
    } else {
        "characters"
    };
    let rule = if most == u64::MAX {
        format!("must have at least {least} {unit}")
    } else {
        format!("must have {least} to {most} {unit}")
    };
    Err(invalid(at, &rule, count))
}

fn invalid(parameter: &str, rule: &str, value: impl std::fmt::Display) -> Failure {
    let value = one_line(&value.to_string());
    Failure::usage(format!("{parameter} {rule}: got {value}"))
}

/// Returns a string that matches the pattern of a reference: its prefix and twelve zeros.
fn example(pattern: &str) -> String {
    let prefix = pattern.trim_start_matches('^').split('[').next();
    format!("{}000000000000", prefix.unwrap_or_default())
}
