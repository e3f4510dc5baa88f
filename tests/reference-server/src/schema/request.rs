//! Reads a request by its document, or rejects it with every rule that it breaks.

use std::collections::BTreeMap;
use std::fmt;

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

use super::check::{self, MISSING, MORE, MOST_PROBLEMS, Problem, Side};
use super::document::{Document, list, members, plain};
use super::parameter::Types;
use super::served::Served;
use crate::json::Json;
use crate::message::Request;
use crate::params::Query;
use crate::refusal::Refusal;

/// The typed values of a request, including defaults for absent parameters.
#[derive(Debug, Default)]
pub(crate) struct Sent {
    pub(crate) path: BTreeMap<String, Value>,
    pub(crate) query: BTreeMap<String, Value>,
    /// The body, if it is JSON or a form.
    pub(crate) body: Option<Value>,
    /// The canonical form of the JSON body, with every digit; empty without a JSON body.
    pub(crate) canonical: String,
}

/// Every rule that a request breaks, with its place.
#[derive(Debug, Default)]
pub(crate) struct Broken(pub(crate) Vec<Problem>);

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (place, rule)) in self.0.iter().enumerate() {
            let separator = if at == 0 { "" } else { "; " };
            let place = if place.is_empty() { "the body" } else { place };
            write!(f, "{separator}{place}: {rule}")?;
        }
        Ok(())
    }
}

impl From<Broken> for Refusal {
    fn from(broken: Broken) -> Refusal {
        Refusal::invalid(broken.to_string())
    }
}

pub(crate) fn read(operation: &Served, request: &Request, params: &[String]) -> (Sent, Broken) {
    let mut broken = Broken::default();
    let mut sent = Sent::default();
    if !decodes(&request.path) {
        broken.add("the path", "not UTF-8 in percent-encoding");
    }
    let query = Query::parse(request.query.as_deref());
    for parameter in &operation.parameters {
        let name = &parameter.name;
        let value = match parameter.value(request, params, &query) {
            Ok(Some(value)) => {
                let (document, schema) = (&operation.document, &parameter.schema);
                let problems = check::problems(document, Side::Request, schema, &value, name);
                broken.0.extend(problems);
                Some(value)
            }
            Ok(None) if parameter.required => {
                broken.add(name, MISSING);
                None
            }
            Ok(None) => parameter.default.clone(),
            Err(rule) => {
                broken.add(name, rule);
                None
            }
        };
        if let Some(value) = value {
            if parameter.is_query() {
                sent.query.insert(name.clone(), value);
            } else if parameter.is_path() {
                sent.path.insert(name.clone(), value);
            }
        }
    }
    for pair in list(&operation.raw["x-mutually-exclusive"]) {
        if list(pair).iter().all(|name| query.has(&plain(name))) {
            broken.add(
                &plain(&pair[0]),
                format!("must not be sent with {}", plain(&pair[1])),
            );
        }
    }
    if operation.raw.get("requestBody").is_some() {
        read_body(operation, request, &mut sent, &mut broken);
    }
    (sent, broken)
}

impl Broken {
    /// Adds a problem, unless it is already in the list. A full list ends with a note.
    pub(crate) fn add(&mut self, place: &str, rule: impl Into<String>) {
        let problem = match self.0.len() {
            ..MOST_PROBLEMS => (place.to_owned(), rule.into()),
            _ => (String::new(), MORE.to_owned()),
        };
        if !self.0.contains(&problem) {
            self.0.push(problem);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns a 400 if any rule is broken.
    pub(crate) fn refused(self) -> Result<(), Refusal> {
        if self.is_empty() {
            Ok(())
        } else {
            Err(self.into())
        }
    }
}

/// Whether a path is valid percent-encoded UTF-8.
fn decodes(path: &str) -> bool {
    let digits = |part: &str| {
        part.get(..2)
            .is_some_and(|code| code.bytes().all(|byte| byte.is_ascii_hexdigit()))
    };
    path.split('%').skip(1).all(digits) && percent_decode_str(path).decode_utf8().is_ok()
}

/// Reads the body if it is JSON or a form. Bodies of other types are not checked.
fn read_body(operation: &Served, request: &Request, sent: &mut Sent, broken: &mut Broken) {
    let body = operation.document.resolve(&operation.raw["requestBody"]);
    let given = request.media_type().unwrap_or_default();
    let empty = request.body.is_empty();
    if empty && (given.is_empty() || body["required"] != true) {
        if body["required"] == true {
            broken.add("", MISSING);
        }
        return;
    }
    let family = format!("{}/*", given.split('/').next().unwrap_or_default());
    let wanted = |known: &str| [&given, &family, "*/*"].contains(&known);
    let mut contents = members(&body["content"]);
    let Some((_, content)) = contents.find(|(known, _)| wanted(&essence(known))) else {
        let known: Vec<_> = members(&body["content"])
            .map(|(known, _)| known.as_str())
            .collect();
        return broken.add("Content-Type", format!("must be {}", known.join(" or ")));
    };
    let (document, schema) = (&operation.document, &content["schema"]);
    if is_json(&given) {
        let json = match Json::read(&request.body) {
            Ok(json) => json,
            Err(problem) => return broken.add("", problem),
        };
        sent.canonical = json.canonical();
        sent.body = Some(json.into_value());
    } else if given == "application/x-www-form-urlencoded" {
        sent.body = form(document, schema, &request.body, broken);
    }
    if let Some(value) = &sent.body {
        let problems = check::problems(document, Side::Request, schema, value, "");
        broken.0.extend(problems);
    }
}

/// Parses the fields of a form by their schemas. A field with an empty value counts as absent (RFC 6749, section 3.2).
fn form(document: &Document, schema: &Value, bytes: &[u8], broken: &mut Broken) -> Option<Value> {
    let Ok(text) = std::str::from_utf8(bytes) else {
        broken.add("", "not UTF-8");
        return None;
    };
    let mut fields: BTreeMap<String, Vec<Option<String>>> = BTreeMap::new();
    for (name, value) in Query::parse(Some(text)).into_pairs() {
        fields.entry(name).or_default().push(value);
    }
    let properties = &document.resolve(schema)["properties"];
    let mut form = Map::new();
    for (name, values) in fields {
        let schema = document.resolve(&properties[&name]);
        let is_list = check::types(schema).contains(&"array");
        let types = Types::of(document, if is_list { &schema["items"] } else { schema });
        let Some(texts) = values.into_iter().collect::<Option<Vec<_>>>() else {
            broken.add(&name, "not valid UTF-8");
            continue;
        };
        let value = match texts.as_slice() {
            texts if is_list => texts.iter().map(|text| types.read(text)).collect(),
            [text] if text.is_empty() => continue,
            [text] => types.read(text),
            _ => {
                broken.add(&name, "given more than once");
                types.read(&texts[0])
            }
        };
        form.insert(name, value);
    }
    Some(form.into())
}

/// Returns a media type in lower case, without its parameters.
pub(super) fn essence(media_type: &str) -> String {
    let essence = media_type.split(';').next().unwrap_or_default();
    essence.trim().to_ascii_lowercase()
}

pub(super) fn is_json(media_type: &str) -> bool {
    let essence = essence(media_type);
    essence == "application/json" || essence.ends_with("+json")
}
