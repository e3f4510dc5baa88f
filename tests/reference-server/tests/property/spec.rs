//! The operations, read from the specs that the package holds.

use std::sync::OnceLock;

use serde_json::{Map, Value};

use crate::schema::Schema;

/// An operation as its spec describes it.
pub(crate) struct Described {
    pub(crate) id: String,
    pub(crate) app: &'static str,
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) body: Option<Body>,
    pub(crate) protected: bool,
    pub(crate) name_only: bool,
    pub(crate) exclusive: Vec<[String; 2]>,
    /// By status, or `default`; the schema of the body if there is one.
    replies: &'static Map<String, Value>,
    document: &'static Value,
}

pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) place: Place,
    pub(crate) required: bool,
    pub(crate) schema: Schema,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Path,
    Query,
    Header,
}

pub(crate) struct Body {
    pub(crate) form: bool,
    pub(crate) schema: Schema,
}

/// The specs that the package holds, by application.
pub(crate) const SPECS: [(&str, &str); 4] = [
    ("crm", include_str!("../../src/generated/crm.yaml")),
    (
        "calendar",
        include_str!("../../src/generated/calendar.yaml"),
    ),
    (
        "accounting",
        include_str!("../../src/generated/accounting.yaml"),
    ),
    (
        "platform",
        include_str!("../../src/generated/platform.yaml"),
    ),
];

/// Every operation of every spec.
pub(crate) fn operations() -> &'static [Described] {
    static OPERATIONS: OnceLock<Vec<Described>> = OnceLock::new();
    OPERATIONS.get_or_init(read)
}

fn read() -> Vec<Described> {
    let mut operations = Vec::new();
    for (app, text) in SPECS {
        let document: Value = serde_yaml_ng::from_str(text).unwrap();
        let document: &'static Value = Box::leak(Box::new(document));
        for (path, item) in members(&document["paths"]) {
            for (method, raw) in members(item) {
                operations.push(described(document, app, path, method, raw));
            }
        }
    }
    operations
}

fn described(
    document: &'static Value,
    app: &'static str,
    path: &str,
    method: &str,
    raw: &'static Value,
) -> Described {
    let parameters = list(&raw["parameters"]).iter().map(|parameter| {
        let parameter = resolved(document, parameter);
        Parameter {
            name: text(&parameter["name"]),
            place: match parameter["in"].as_str() {
                Some("path") => Place::Path,
                Some("query") => Place::Query,
                Some("header") => Place::Header,
                other => panic!("{other:?}"),
            },
            required: parameter["required"] == true,
            schema: Schema::new(document, &parameter["schema"]),
        }
    });
    let body = members(&raw["requestBody"]["content"])
        .next()
        .map(|(media_type, content)| Body {
            form: media_type != "application/json",
            schema: Schema::new(document, &content["schema"]),
        });
    Described {
        id: text(&raw["operationId"]),
        app,
        method: method.to_uppercase(),
        path: path.to_owned(),
        parameters: parameters.collect(),
        body,
        protected: list(&raw["security"])
            .iter()
            .any(|needed| needed.get("suiteToken").is_some()),
        name_only: raw["x-provenance"] == "name-only",
        exclusive: pairs(&raw["x-mutually-exclusive"]),
        replies: raw["responses"].as_object().unwrap(),
        document,
    }
}

impl Described {
    /// Whether a status is documented, by the operation or by the rules that hold for all.
    pub(crate) fn documents(&self, status: u16) -> bool {
        // "Missing or invalid credentials yield 401; missing entitlement, scope or active binding yields 403."
        let of_rights = self.protected && (status == 401 || status == 403);
        // Where the contract shows no statuses of failures, those that it explains remain.
        let explained = [400, 401, 403, 404, 409].contains(&status);
        let open = self.replies.contains_key("default");
        self.replies.contains_key(&status.to_string()) || of_rights || open && explained
    }

    /// Whether it is a command whose exact replay gives the durable result.
    pub(crate) fn is_command(&self) -> bool {
        !self.name_only && self.body.as_ref().is_some_and(|body| !body.form)
    }

    /// The documented statuses of success.
    pub(crate) fn successes(&self) -> impl Iterator<Item = u16> {
        let statuses = self.replies.keys().filter_map(|status| status.parse().ok());
        statuses.filter(|status| (200..300).contains(status))
    }

    /// The schema of a reply's body, if the spec shows one.
    pub(crate) fn reply(&self, status: u16) -> Option<Schema> {
        let reply = self
            .replies
            .get(&status.to_string())
            .or(self.replies.get("default"))?;
        let reply = resolved(self.document, reply);
        let schema = reply
            .get("content")?
            .get("application/json")?
            .get("schema")?;
        Some(Schema::new(self.document, schema))
    }
}

/// What a `$ref` refers to, or the value itself.
pub(crate) fn resolved<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    match value.get("$ref").and_then(Value::as_str) {
        Some(target) => {
            let found = document.pointer(target.trim_start_matches('#'));
            resolved(document, found.unwrap_or_else(|| panic!("{target}")))
        }
        None => value,
    }
}

fn members(value: &'static Value) -> impl Iterator<Item = (&'static String, &'static Value)> {
    value.as_object().into_iter().flatten()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

fn pairs(value: &Value) -> Vec<[String; 2]> {
    list(value)
        .iter()
        .map(|pair| [text(&pair[0]), text(&pair[1])])
        .collect()
}
