//! A parameter of an operation, and how its value is read from a request.

use std::ptr;

use http::HeaderName;
use serde_json::{Number, Value};

use super::check;
use super::document::{Document, list, members, plain};
use crate::message::Request;
use crate::params::Query;

/// Headers that are never parameters, even if a document declares them.
const NO_PARAMETERS: [&str; 3] = ["accept", "authorization", "content-type"];

/// The part of a request that contains a parameter.
#[derive(Debug)]
enum Place {
    /// The position in the path template.
    Path(usize),
    Query,
    Header(HeaderName),
    /// A place that the server doesn't read.
    Unread,
}

#[derive(Debug)]
pub(crate) struct Parameter {
    pub(super) name: String,
    pub(super) required: bool,
    pub(super) schema: Value,
    pub(super) default: Option<Value>,
    place: Place,
    /// The separator of list items; `None` if each item is a separate parameter.
    separator: Option<char>,
    is_list: bool,
    is_json: bool,
    /// The types of the value, or of each list item.
    types: Types,
}

impl Parameter {
    /// Reads a parameter of a document. Returns `None` for a header that is not a parameter, and an error for a
    /// required parameter that can't be read.
    pub(super) fn read<'p>(
        document: &Document,
        raw: &Value,
        mut places: impl Iterator<Item = &'p str>,
    ) -> Result<Option<Parameter>, String> {
        let [name, kind, style] = ["name", "in", "style"].map(|key| plain(&raw[key]));
        let header = HeaderName::from_bytes(name.as_bytes());
        if kind == "header" && NO_PARAMETERS.contains(&&*name.to_lowercase()) {
            return Ok(None);
        }
        let known_style = ["", "form", "simple", "spaceDelimited", "pipeDelimited"];
        let place = match (&*kind, header) {
            _ if !known_style.contains(&&*style) => Place::Unread,
            ("path", _) => places
                .position(|known| known == name)
                .map_or(Place::Unread, Place::Path),
            ("query", _) => Place::Query,
            ("header", Ok(header)) => Place::Header(header),
            _ => Place::Unread,
        };
        let required = raw["required"] == true;
        if required && matches!(place, Place::Unread) {
            return Err(format!("{name}: required in the {kind} {style}"));
        }
        let content = members(&raw["content"]).next();
        let schema = content.map_or(&raw["schema"], |(_, content)| &content["schema"]);
        let resolved = document.resolve(schema);
        // Resolve a reference only once. Doing it per request would take most of the check's time.
        let is_reference = schema.as_object().is_some_and(|it| it.len() == 1);
        let schema = if is_reference { resolved } else { schema };
        let is_list = takes(document, resolved, "array", &mut Vec::new());
        let separator = match &*style {
            "spaceDelimited" => Some(' '),
            "pipeDelimited" => Some('|'),
            _ if kind == "query" && raw["explode"] != false => None,
            _ => Some(','),
        };
        let of_value = if is_list {
            &resolved["items"]
        } else {
            resolved
        };
        Ok(Some(Parameter {
            required,
            schema: schema.clone(),
            default: resolved.get("default").cloned(),
            place,
            separator,
            is_list,
            is_json: content.is_some(),
            types: Types::of(document, of_value),
            name,
        }))
    }

    pub(super) fn is_read(&self) -> bool {
        !matches!(self.place, Place::Unread)
    }

    pub(super) fn is_query(&self) -> bool {
        matches!(self.place, Place::Query)
    }

    pub(super) fn is_path(&self) -> bool {
        matches!(self.place, Place::Path(_))
    }

    pub(super) fn is_header(&self, name: &str) -> bool {
        matches!(&self.place, Place::Header(known) if known == name)
    }

    pub(super) fn value(
        &self,
        request: &Request,
        params: &[String],
        query: &Query,
    ) -> Result<Option<Value>, String> {
        match &self.place {
            Place::Path(at) => Ok(params.get(*at).map(|text| self.single(text))),
            Place::Query => {
                let texts = query.texts(&self.name).map_err(|error| error.message)?;
                match texts.as_slice() {
                    [] => Ok(None),
                    [text] if self.is_json => serde_json::from_str(text)
                        .map(Some)
                        .map_err(|error| format!("not JSON: {error}")),
                    texts if self.is_list && self.separator.is_none() => Ok(Some(
                        texts.iter().map(|text| self.types.read(text)).collect(),
                    )),
                    [text] => Ok(Some(self.single(text))),
                    _ => Err("given more than once".to_owned()),
                }
            }
            Place::Header(name) if request.headers.contains_key(name) => {
                let text = request.header(name.as_str()).map(|text| self.single(text));
                let text = text.ok_or_else(|| "must be a string, sent exactly once".to_owned());
                text.map(Some)
            }
            Place::Header(_) | Place::Unread => Ok(None),
        }
    }

    fn single(&self, text: &str) -> Value {
        match self.separator.filter(|_| self.is_list) {
            Some(separator) => text
                .split(separator)
                .map(|item| self.types.read(item))
                .collect(),
            None => self.types.read(text),
        }
    }
}

/// The scalar types that a schema allows.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "a set of types")]
pub(super) struct Types {
    string: bool,
    integer: bool,
    number: bool,
    boolean: bool,
}

impl Types {
    pub(super) fn of(document: &Document, schema: &Value) -> Types {
        let takes = |kind| takes(document, schema, kind, &mut Vec::new());
        Types {
            string: takes("string"),
            integer: takes("integer"),
            number: takes("number"),
            boolean: takes("boolean"),
        }
    }

    /// Parses a string as one of the types, or keeps it as a string if no type matches.
    pub(super) fn read(self, text: &str) -> Value {
        if self.string {
            return text.into();
        }
        let number = serde_json::from_str::<Number>(text)
            .ok()
            .filter(|_| text.trim() == text);
        let digits = !text.contains(['.', 'e', 'E']);
        match (number, text.parse::<bool>()) {
            (Some(number), _) if self.integer && digits && !number.is_f64() => number.into(),
            (Some(number), _) if self.number => number.into(),
            (_, Ok(flag)) if self.boolean => flag.into(),
            _ => text.into(),
        }
    }
}

/// Whether a schema allows values of a type. Schemas in `seen` were already examined.
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
