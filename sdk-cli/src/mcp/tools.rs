//! The operations as tools: their names, their selection, and the schemas of their arguments.

use std::collections::BTreeSet;
use std::sync::Arc;

use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Map, Value, json};

use super::access::{Access, TYPE};
use crate::catalog::{self, Entry};
use crate::output::Failure;

/// The tool that returns the status of a proposal.
pub(crate) const STATUS: &str = "approval_status";

/// Selects tools.
#[derive(clap::Args, Default, PartialEq)]
pub(crate) struct Selection {
    /// Offer only these applications and groups, such as `crm,calendar.events`
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    toolsets: Vec<String>,
    /// Offer these tools, such as `crm_people_list`, and with --toolsets also those of the sets
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    tools: Vec<String>,
    /// Offer no writes
    #[arg(long)]
    pub(crate) read_only: bool,
    /// Also offer operations whose scope the contract doesn't document
    #[arg(long)]
    pub(crate) undocumented_scopes: bool,
}

/// Returns the name of an operation's tool. Some clients allow no dots in names.
pub(crate) fn name(entry: &Entry) -> String {
    let it = entry.operation;
    format!("{}_{}_{}", it.application, it.group, it.name)
}

fn toolsets(entry: &Entry) -> [String; 2] {
    let app = entry.operation.application.name();
    [app.to_owned(), format!("{app}.{}", entry.operation.group)]
}

impl Selection {
    /// Returns the selected operations. The token exchange is never a tool.
    pub(crate) fn entries(&self) -> Result<Vec<Entry>, Failure> {
        let all: Vec<Entry> = catalog::all()
            .filter(|it| !it.operation.secret_response)
            .collect();
        let sets: BTreeSet<String> = all.iter().flat_map(toolsets).collect();
        let names: BTreeSet<String> = all.iter().map(name).collect();
        for (option, values, known) in [
            ("toolsets", &self.toolsets, &sets),
            ("tools", &self.tools, &names),
        ] {
            if let Some(unknown) = values.iter().find(|it| !known.contains(*it)) {
                let known: Vec<_> = known.iter().map(String::as_str).collect();
                let known = known.join(", ");
                let message = format!("--{option} has the unknown name {unknown}; known: {known}");
                return Err(Failure::usage(message));
            }
        }
        let is_selected = |entry: &Entry| {
            let is_named = self.tools.contains(&name(entry));
            let is_in_set = toolsets(entry).iter().any(|it| self.toolsets.contains(it));
            let has_no_list = self.tools.is_empty() && self.toolsets.is_empty();
            (has_no_list || is_named || is_in_set) && !(self.read_only && entry.is_write())
        };
        Ok(all.into_iter().filter(is_selected).collect())
    }
}

/// Returns the tool of an operation. The presentation's command types narrow the type in its body.
pub(crate) fn tool(entry: &Entry, access: &Access) -> Tool {
    let operation = entry.operation;
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for parameter in entry.parameters() {
        let mut schema = schema(entry, parameter.schema);
        if !parameter.about.is_empty() {
            schema["description"] = first_sentence(parameter.about).into();
        }
        properties.insert(parameter.name.to_owned(), schema);
        if parameter.required {
            required.push(parameter.name);
        }
    }
    if let Some(body) = entry.body() {
        let mut body = schema(entry, body);
        if let Some(types) = access.types(entry) {
            body = json!({"type": "object", "properties": {TYPE: {"enum": types}}, "required": [TYPE]});
        }
        properties.insert("body".to_owned(), body);
        if !operation.optional_body {
            required.push("body");
        }
    }
    let mut about = operation.summary.to_owned();
    if entry.is_write() {
        about += " Stores a proposal for a person to approve; nothing is sent before.";
        if operation.safety == sdk_core::Safety::Keyed {
            let about = "Omit it, unless you repeat an identical write on purpose. Then give the reason; the person sees it";
            properties.insert(
                "intent".to_owned(),
                json!({"type": "string", "maxLength": 500, "description": about}),
            );
        }
    }
    let mut input =
        json!({"type": "object", "properties": properties, "additionalProperties": false});
    if !required.is_empty() {
        input["required"] = required.into();
    }
    let hints = ToolAnnotations::new().read_only(!entry.is_write());
    let hints = if entry.is_write() {
        hints.destructive(false).idempotent(true)
    } else {
        hints
    };
    Tool::new(name(entry), about, object(input)).with_annotations(hints)
}

/// Returns the tool that returns the status of a proposal.
pub(crate) fn status() -> Tool {
    let digest = json!({"type": "string", "pattern": "^[0-9a-f]{64}$"});
    let input = json!({"type": "object", "properties": {"digest": digest}, "required": ["digest"], "additionalProperties": false});
    let about = "The status of a proposed write: pending, approved, done (with its result), rejected, expired or parked.";
    let hints = ToolAnnotations::new().read_only(true);
    Tool::new(STATUS, about, object(input)).with_annotations(hints)
}

fn object(schema: Value) -> Arc<Map<String, Value>> {
    match schema {
        Value::Object(fields) => Arc::new(fields),
        _ => Arc::default(),
    }
}

/// Converts a schema of the spec into JSON Schema, without references and without the SDK's extensions.
fn schema(entry: &Entry, of: &'static Value) -> Value {
    let of = entry.resolved(of);
    let mut converted = Map::new();
    // An open enumeration also accepts values that the contract doesn't document.
    let is_open = of["x-known-values"].is_array();
    // A type that is only an assumption is not enforced.
    let is_assumed = !of["x-type-assumption"].is_null();
    for (key, value) in of.as_object().into_iter().flatten() {
        let value = match key.as_str() {
            "type" if is_assumed => continue,
            "enum" if is_open => continue,
            "x-known-values" => {
                converted.insert("examples".to_owned(), value.clone());
                continue;
            }
            "type" if of["nullable"] == true => json!([value, "null"]),
            "description" => first_sentence(value.as_str().unwrap_or_default()).into(),
            "items" => schema(entry, value),
            "properties" => {
                let fields = value.as_object().into_iter().flatten();
                let fields = fields.map(|(name, it)| (name.clone(), schema(entry, it)));
                fields.collect::<Map<_, _>>().into()
            }
            "type" | "required" | "enum" | "pattern" | "format" | "default" | "minimum"
            | "maximum" | "minLength" | "maxLength" | "minItems" | "maxItems" => value.clone(),
            _ => continue,
        };
        converted.insert(key.clone(), value);
    }
    converted.into()
}

fn first_sentence(text: &str) -> String {
    let sentence = text.split_inclusive(". ").next().unwrap_or_default();
    sentence.split_whitespace().collect::<Vec<_>>().join(" ")
}
