//! Reads a request as the document describes it, or refuses it with every rule that it breaks.

use std::collections::BTreeMap;
use std::ptr;

use percent_encoding::percent_decode_str;
use serde_json::{Number, Value};

use super::check::{self, Problem, Side};
use super::contract::{Described, is_read};
use super::document::{Document, list, members, plain};
use crate::call::Call;
use crate::json::Json;
use crate::message::RequestBody;
use crate::refusal::Refusal;

/// Headers that are not parameters, whatever a document says.
const NO_PARAMETERS: [&str; 3] = ["accept", "authorization", "content-type"];

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
    if !decodes(&call.request.path) {
        broken.push((
            "the path".to_owned(),
            "not UTF-8 in percent-encoding".to_owned(),
        ));
    }
    for parameter in described
        .parameters
        .iter()
        .filter(|parameter| is_read(parameter))
    {
        let name = plain(&parameter["name"]);
        let schema = content(parameter).map_or(&parameter["schema"], |content| &content["schema"]);
        let texts = texts(call, described, parameter, &name);
        match texts.and_then(|texts| value(document, parameter, schema, &texts)) {
            Ok(None) if parameter["required"] == true => broken.push((name, "required".to_owned())),
            Ok(None) => {}
            Err(rule) => broken.push((name, rule)),
            Ok(Some(value)) => {
                broken.extend(check::problems(
                    document,
                    Side::Request,
                    schema,
                    &value,
                    &name,
                ));
                match parameter["in"].as_str() {
                    Some("path") => sent.path.insert(name, value),
                    Some("query") => sent.query.insert(name, value),
                    _ => None,
                };
            }
        }
    }
    for pair in list(&described.raw["x-mutually-exclusive"]) {
        if list(pair)
            .iter()
            .all(|name| sent.query.contains_key(&plain(name)))
        {
            broken.push((plain(&pair[0]), format!("not with {}", plain(&pair[1]))));
        }
    }
    if described.raw.get("requestBody").is_some() {
        sent.body = read_body(call, described, &mut broken)?;
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

/// Whether each `%` of a path stands for a byte, and all of them for text.
fn decodes(path: &str) -> bool {
    let digits = |part: &str| {
        part.get(..2)
            .is_some_and(|code| code.bytes().all(|byte| byte.is_ascii_hexdigit()))
    };
    path.split('%').skip(1).all(digits) && percent_decode_str(path).decode_utf8().is_ok()
}

/// The one content of a parameter that has a media type.
fn content(parameter: &Value) -> Option<&Value> {
    members(&parameter["content"])
        .next()
        .map(|(_, content)| content)
}

/// What was given of a parameter.
fn texts(
    call: &Call<'_>,
    of: &Described,
    parameter: &Value,
    name: &str,
) -> Result<Vec<String>, String> {
    match parameter["in"].as_str() {
        Some("query") => return call.query.texts(name).map_err(|refusal| refusal.message),
        Some("path") => {
            let at = of.places().position(|known| known == name);
            return Ok(Vec::from_iter(at.map(|at| call.param(at).to_owned())));
        }
        _ => {}
    }
    if !call.request.headers.contains_key(name) || NO_PARAMETERS.contains(&&*name.to_lowercase()) {
        return Ok(Vec::new());
    }
    let text = call.request.header(name).map(|text| vec![text.to_owned()]);
    text.ok_or_else(|| "must be text, and given once".to_owned())
}

/// The value of a parameter, if it was given.
fn value(
    document: &Document,
    parameter: &Value,
    schema: &Value,
    texts: &[String],
) -> Result<Option<Value>, String> {
    let schema = document.resolve(schema);
    let item = |text: &str| scalar(document, &schema["items"], text);
    let several = takes(document, schema, "array", &mut Vec::new());
    let joint = match parameter["style"].as_str() {
        Some("spaceDelimited") => Some(' '),
        Some("pipeDelimited") => Some('|'),
        _ if parameter["in"] == "query" && parameter["explode"] != false => None,
        _ => Some(','),
    };
    match (texts, joint) {
        ([], _) => Ok(None),
        ([text], _) if content(parameter).is_some() => {
            let json = serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"));
            json.map(Some)
        }
        (texts, None) if several => Ok(Some(texts.iter().map(|text| item(text)).collect())),
        ([text], Some(joint)) if several => Ok(Some(text.split(joint).map(item).collect())),
        ([text], _) => Ok(Some(scalar(document, schema, text))),
        _ => Err("given more than once".to_owned()),
    }
}

/// A text as the type that the schema wants, or as text if it cannot be that.
fn scalar(document: &Document, schema: &Value, text: &str) -> Value {
    let wants = |kind: &str| takes(document, schema, kind, &mut Vec::new());
    let number = serde_json::from_str::<Number>(text)
        .ok()
        .filter(|_| text.trim() == text);
    let digits = !text.contains(['.', 'e', 'E']);
    match (number, text.parse::<bool>()) {
        _ if wants("string") => text.into(),
        (Some(number), _) if wants("integer") && digits && !number.is_f64() => number.into(),
        (Some(number), _) if wants("number") => number.into(),
        (_, Ok(flag)) if wants("boolean") => flag.into(),
        _ => text.into(),
    }
}

/// Whether a schema allows values of a type; those that were `seen` have said what they allow.
fn takes<'d>(
    document: &'d Document,
    schema: &'d Value,
    kind: &str,
    seen: &mut Vec<&'d Value>,
) -> bool {
    let schema = document.resolve(schema);
    if seen.iter().any(|known| ptr::eq(*known, schema)) {
        return false;
    }
    seen.push(schema);
    let types = check::types(schema);
    let parts = ["allOf", "anyOf", "oneOf"].map(|name| list(&schema[name]));
    let mut parts = parts.into_iter().flatten();
    let part = |part| takes(document, part, kind, seen);
    types.contains(&kind) || types.is_empty() && parts.any(part)
}

/// The body, if it is JSON; what else the document allows may be anything.
fn read_body(
    call: &Call<'_>,
    described: &Described,
    broken: &mut Vec<Problem>,
) -> Result<Option<Value>, Refusal> {
    let request = call.request;
    let body = described.document.resolve(&described.raw["requestBody"]);
    let given = request.media_type().unwrap_or_default();
    let empty = matches!(&request.body, RequestBody::Whole(bytes) if bytes.is_empty());
    if empty && (given.is_empty() || body["required"] != true) {
        let missing = (String::new(), "missing".to_owned());
        broken.extend((body["required"] == true).then_some(missing));
        return Ok(None);
    }
    let family = format!("{}/*", given.split('/').next().unwrap_or_default());
    let wanted = |known: &str| [&given, &family, "*/*"].contains(&known);
    let mut contents = members(&body["content"]);
    let (_, content) = contents
        .find(|(known, _)| wanted(&essence(known)))
        .ok_or_else(|| {
            let known: Vec<_> = members(&body["content"])
                .map(|(known, _)| known.as_str())
                .collect();
            Refusal::invalid(format!("Content-Type: must be {}", known.join(" or ")))
        })?;
    let bytes = request.body()?;
    if !is_json(&given) {
        return Ok(None);
    }
    // For its limits and its words.
    let json = Json::read_strictly(bytes)?;
    let value = serde_json::from_slice(bytes).unwrap_or_else(|_| json.into_value());
    let (document, schema) = (&described.document, &content["schema"]);
    broken.extend(check::problems(document, Side::Request, schema, &value, ""));
    Ok(Some(value))
}

/// A media type in lower case, without its parameters.
pub(super) fn essence(media_type: &str) -> String {
    let essence = media_type.split(';').next().unwrap_or_default();
    essence.trim().to_ascii_lowercase()
}

/// Whether a body of this type is JSON.
pub(super) fn is_json(media_type: &str) -> bool {
    let essence = essence(media_type);
    essence == "application/json" || essence.ends_with("+json")
}
