//! Reads a request as the document describes it, or refuses it with every rule that it breaks.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::{Number, Value};

use super::check::{self, Problem, Side};
use super::contract::{Body, Described, Notation, Parameter, Place};
use super::document::{Document, list};
use crate::call::Call;
use crate::json::Json;
use crate::message::RequestBody;
use crate::refusal::Refusal;

/// What was sent, by the document's types.
#[derive(Debug, Default)]
pub(super) struct Sent {
    pub(super) path: BTreeMap<String, Value>,
    pub(super) query: BTreeMap<String, Value>,
    pub(super) body: Option<Value>,
}

pub(super) fn read(call: &Call<'_>, described: &Described) -> Result<Sent, Refusal> {
    let document = &described.document;
    let mut broken: Vec<Problem> = Vec::new();
    let mut sent = Sent::default();
    for parameter in &described.parameters {
        let name = &parameter.name;
        let value =
            texts(call, described, parameter).and_then(|texts| value(document, parameter, &texts));
        match value {
            Ok(None) if parameter.required => broken.push((name.clone(), "required".to_owned())),
            Ok(None) => {}
            Err(rule) => broken.push((name.clone(), rule)),
            Ok(Some(value)) => {
                let (side, schema) = (Side::Request, &parameter.schema);
                broken.extend(check::problems(document, side, schema, &value, name));
                match parameter.place {
                    Place::Path => sent.path.insert(name.clone(), value),
                    Place::Query => sent.query.insert(name.clone(), value),
                    Place::Header => None,
                };
            }
        }
    }
    for [one, other] in &described.exclusive {
        if sent.query.contains_key(one) && sent.query.contains_key(other) {
            broken.push((one.clone(), format!("not with {other}")));
        }
    }
    for [first, second] in &described.ordered {
        let at = |name: &String| sent.query.get(name)?.as_str()?.parse::<Timestamp>().ok();
        if at(first)
            .zip(at(second))
            .is_some_and(|(first, second)| first > second)
        {
            broken.push((first.clone(), format!("after {second}")));
        }
    }
    if let Some(body) = &described.body {
        sent.body = read_body(call, document, body, &mut broken)?;
    }
    if broken.is_empty() {
        return Ok(sent);
    }
    let rules = broken.iter().map(|(place, rule)| match place.as_str() {
        "" => format!("the body: {rule}"),
        place => format!("{place}: {rule}"),
    });
    Err(Refusal::invalid(rules.collect::<Vec<_>>().join("; ")))
}

/// What was given of a parameter.
fn texts(
    call: &Call<'_>,
    described: &Described,
    parameter: &Parameter,
) -> Result<Vec<String>, String> {
    let name = parameter.name.as_str();
    match parameter.place {
        Place::Path => {
            let at = described.places().position(|known| known == name);
            Ok(Vec::from_iter(at.map(|at| call.param(at).to_owned())))
        }
        Place::Query => call.query.texts(name).map_err(|refusal| refusal.message),
        Place::Header if !call.request.headers.contains_key(name) => Ok(Vec::new()),
        Place::Header => {
            let text = call.request.header(name).map(|text| vec![text.to_owned()]);
            text.ok_or_else(|| "must be text, and given once".to_owned())
        }
    }
}

/// The value of a parameter, if it was given.
fn value(
    document: &Document,
    parameter: &Parameter,
    texts: &[String],
) -> Result<Option<Value>, String> {
    let schema = document.resolve(&parameter.schema);
    let item = |text: &str| scalar(document, &schema["items"], text);
    let several = takes(document, schema, "array");
    match (texts, parameter.notation) {
        ([], _) => Ok(None),
        (texts, Notation::Repeated) if several => {
            Ok(Some(texts.iter().map(|text| item(text)).collect()))
        }
        ([text], Notation::Joined(by)) if several => Ok(Some(text.split(by).map(item).collect())),
        ([text], Notation::Json) => {
            let value = serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))?;
            Ok(Some(value))
        }
        ([text], _) => Ok(Some(scalar(document, schema, text))),
        _ => Err("given more than once".to_owned()),
    }
}

/// A text as the type that the schema wants, or as text if it cannot be that.
fn scalar(document: &Document, schema: &Value, text: &str) -> Value {
    let wants = |kinds: &[&str]| kinds.iter().any(|kind| takes(document, schema, kind));
    let number = serde_json::from_str::<Number>(text).map(Value::Number);
    let digits = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'-');
    match (number, text.parse::<bool>()) {
        _ if wants(&["string"]) => text.into(),
        (Ok(number), _) if wants(&["integer"]) && digits && !number.is_f64() => number,
        (Ok(number), _) if wants(&["number"]) && text.trim() == text => number,
        (_, Ok(flag)) if wants(&["boolean"]) => flag.into(),
        _ => text.into(),
    }
}

/// Whether a schema allows values of a type.
fn takes(document: &Document, schema: &Value, kind: &str) -> bool {
    let schema = document.resolve(schema);
    let types = check::types(schema);
    let mut parts = ["allOf", "anyOf", "oneOf"]
        .map(|name| list(&schema[name]))
        .into_iter()
        .flatten();
    types.contains(&kind) || types.is_empty() && parts.any(|part| takes(document, part, kind))
}

fn read_body(
    call: &Call<'_>,
    document: &Document,
    body: &Body,
    broken: &mut Vec<Problem>,
) -> Result<Option<Value>, Refusal> {
    let request = call.request;
    let media_type = request.media_type().unwrap_or_default();
    let empty = matches!(&request.body, RequestBody::Whole(bytes) if bytes.is_empty());
    if empty && (media_type.is_empty() || !body.required) {
        if body.required {
            broken.push((String::new(), "missing".to_owned()));
        }
        return Ok(None);
    }
    let family = media_type.split('/').next().unwrap_or_default();
    let known = [media_type.as_str(), &format!("{family}/*"), "*/*"];
    let mut known = known.into_iter().filter_map(|name| body.schemas.get(name));
    let schema = known.next().ok_or_else(|| {
        let known: Vec<&str> = body.schemas.keys().map(String::as_str).collect();
        Refusal::invalid(format!("Content-Type: must be {}", known.join(" or ")))
    })?;
    let bytes = request.body()?;
    if !is_json(&media_type) {
        return Ok(None);
    }
    // For its limits and its words.
    Json::read(bytes)?;
    let invalid = |error| Refusal::invalid(format!("the body: {error}"));
    let value = serde_json::from_slice(bytes).map_err(invalid)?;
    broken.extend(check::problems(document, Side::Request, schema, &value, ""));
    Ok(Some(value))
}

/// Whether a body of this type is JSON.
pub(super) fn is_json(media_type: &str) -> bool {
    media_type == "application/json" || media_type.ends_with("+json")
}
