//! Reads the parameters of an operation. Some parameters have no setter.

use std::collections::BTreeSet;

use super::call::{Call, KEY_HEADER};
use super::keywords::note_unused;
use super::reader::Reader;
use super::structure::resolved;
use crate::findings::Weight;
use crate::model::{Method, Parameter, Place, Style, Ty, Use};
use crate::names;
use crate::node::{Node, step};

/// Headers that the runtime always sets itself.
const OWN_HEADERS: &str = "accept authorization connection content-length content-type cookie host idempotency-key \
                           proxy-authorization transfer-encoding user-agent";

/// The supported fields of a parameter.
const KEYWORDS: [&str; 11] = [
    "name",
    "in",
    "required",
    "description",
    "schema",
    "content",
    "style",
    "explode",
    "deprecated",
    "example",
    "examples",
];

impl Reader<'_> {
    /// The parameters, and whether one of them is an `Idempotency-Key`.
    pub(super) fn parameters(&mut self, call: &Call<'_>, hint: &str) -> (Vec<Parameter>, bool) {
        let root = self.root;
        let mut raw: Vec<(String, &Node)> = Vec::new();
        for (place, list) in [
            (
                step(&call.item_place, "parameters"),
                call.item.at("parameters"),
            ),
            (step(&call.place, "parameters"), call.raw.at("parameters")),
        ] {
            for (at, node) in list.items().iter().enumerate() {
                let own = step(&place, &at.to_string());
                let Some((place, node)) = resolved(root, (own, node), self.findings) else {
                    continue;
                };
                // Parameters of the operation take precedence over parameters of the path.
                let same = |(_, known): &(String, &Node)| {
                    known.at("name") == node.at("name") && known.at("in") == node.at("in")
                };
                match raw.iter().position(same) {
                    Some(known) => raw[known] = (place, node),
                    None => raw.push((place, node)),
                }
            }
        }
        let (mut parameters, mut keyed, mut fields) = (Vec::new(), false, BTreeSet::new());
        for (place, node) in raw {
            let name = node.text_at("name").unwrap_or_default();
            note_unused(node, &place, &KEYWORDS, self.findings);
            let is_header = node.text_at("in") == Some("header");
            if is_header && name.eq_ignore_ascii_case(KEY_HEADER) {
                if call.method == Method::Get {
                    let rule = format!("a GET takes no `{KEY_HEADER}`");
                    self.findings.note(&place, rule);
                } else {
                    keyed = true;
                }
                continue;
            }
            if let Some(parameter) = self.parameter(call, node, &place, hint, &mut fields) {
                parameters.push(parameter);
            }
        }
        (parameters, keyed)
    }

    fn parameter(
        &mut self,
        call: &Call<'_>,
        raw: &Node,
        place: &str,
        hint: &str,
        fields: &mut BTreeSet<String>,
    ) -> Option<Parameter> {
        let name = raw.text_at("name").unwrap_or_default().to_owned();
        let required = raw.is_set("required");
        let within = match raw.text_at("in") {
            Some("path") => Place::Path,
            Some("query") => Place::Query,
            Some("header") => Place::Header,
            other => {
                let other = other.unwrap_or("nothing");
                let rule = format!(
                    "parameter `{name}`: it must be in the path, the query or a header, not `{other}`"
                );
                if required {
                    let remedy = "leave the operation out with `x-sdk-skip`";
                    self.findings.reject(place, rule, remedy);
                } else {
                    let remedy = "it has no setter";
                    self.findings.add(Weight::Raw, place, rule, remedy);
                }
                return None;
            }
        };
        if within == Place::Path && !call.path.contains(&format!("{{{name}}}")) {
            let rule = format!(
                "parameter `{name}`: a path parameter must be required and occur in the path"
            );
            self.reject(place, &rule);
            return None;
        }
        if within == Place::Header && !self.is_free_header(&name, place) {
            return None;
        }
        let hint = format!("{hint}{}", names::pascal(&name));
        let mut value = if let Some(schema) = raw.get("schema") {
            self.used(schema, &step(place, "schema"), &hint)
        } else {
            if raw.get("content").is_some() {
                let rule = format!("parameter `{name}` has a media type (`content`)");
                let remedy = "callers pass it as a string";
                self.findings.add(Weight::Raw, place, rule, remedy);
            }
            Use::of(TEXT)
        };
        value.nullable = false;
        let named = raw.at("examples").members().next();
        let example = raw
            .get("example")
            .or(named.and_then(|it| it.1.get("value")));
        value.example = example.map(Node::plain).or(value.example);
        // This must happen before it becomes a string.
        value.keep_secret();
        let style = self.styled(raw, within, &name, place, &mut value)?;
        let own = raw.text_at("description").map(str::trim);
        let description = match own.filter(|text| !text.is_empty()) {
            Some(text) => text.to_owned(),
            None => value.description.clone(),
        };
        Some(Parameter {
            field: self.name_of(&name, names::is_taken_setter, place, fields),
            name,
            place: within,
            required: required || within == Place::Path,
            deprecated: self.flag(raw, "deprecated") || self.flag(raw.at("schema"), "deprecated"),
            description,
            style,
            value,
        })
    }

    fn is_free_header(&mut self, name: &str, place: &str) -> bool {
        let mut own = OWN_HEADERS.split(' ');
        if own.any(|header| header.eq_ignore_ascii_case(name)) {
            let rule = format!("parameter `{name}`: the runtime sets this header");
            self.findings.note(place, rule);
            return false;
        }
        let is_token = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if name.is_empty() || !name.chars().all(is_token) {
            self.reject(
                place,
                "the name of a header may have only letters, digits, `-` and `_`",
            );
            return false;
        }
        true
    }

    /// The style of a parameter. `None` if it has no setter.
    fn styled(
        &mut self,
        raw: &Node,
        within: Place,
        name: &str,
        place: &str,
        value: &mut Use,
    ) -> Option<Style> {
        let style = raw.text_at("style").unwrap_or_default();
        if matches!(style, "label" | "matrix") {
            let rule = format!("parameter `{name}`: the style `{style}` is not supported");
            let remedy = "leave the operation out with `x-sdk-skip`";
            self.findings.reject(place, rule, remedy);
        }
        let exploded = raw
            .get("explode")
            .map_or(matches!(style, "" | "form"), |it| *it == Node::Bool(true));
        let mut ty = value.ty.clone();
        while let Ty::Named(component) = &ty {
            match self.kind_of(component) {
                Some(crate::model::Kind::Plain(inner)) => ty = inner.clone(),
                _ => break,
            }
        }
        let ty = &ty;
        let as_text = match (ty, within) {
            (Ty::Array { items, .. }, Place::Query) if self.is_scalar(items) => false,
            (Ty::Named(_), Place::Header) => !self.is_textual(ty),
            (Ty::Text { secret: false, .. }, _) => false,
            (_, Place::Header) => true,
            _ => !self.is_scalar(ty),
        };
        let is_object = matches!(ty, Ty::Record | Ty::Map(_))
            || matches!(ty, Ty::Named(_)) && !self.is_scalar(ty);
        let without_setter = match style {
            _ if style == "deepObject" || is_object && within == Place::Query => Some((
                format!("parameter `{name}` is an object in the query"),
                format!("callers set its parts with `query(\"{name}[..]\", ..)`"),
            )),
            "spaceDelimited" | "pipeDelimited" => Some((
                format!("parameter `{name}`: a list of the style `{style}` is not supported"),
                format!("callers join the items and set them with `query(\"{name}\", ..)`"),
            )),
            _ => None,
        };
        if let Some((rule, instead)) = without_setter {
            if raw.is_set("required") {
                let remedy =
                    "leave the operation out with `x-sdk-skip`, or make it optional in the overlay";
                self.findings.reject(place, rule, remedy);
            } else {
                let remedy = format!("it has no setter: {instead}");
                self.findings.add(Weight::Raw, place, rule, remedy);
            }
            return None;
        }
        if as_text && !matches!(ty, Ty::Value) {
            let rule = format!("callers pass parameter `{name}` as a string");
            self.findings.add(Weight::Raw, place, rule, "");
        }
        if as_text {
            value.ty = TEXT;
        }
        Some(if exploded {
            Style::Repeated
        } else {
            Style::Comma
        })
    }

    fn kind_of(&self, component: &str) -> Option<&crate::model::Kind> {
        let mut entries = self.entries.values();
        let entry = entries.find(|entry| entry.name == component)?;
        entry.component.as_ref().map(|component| &component.kind)
    }

    /// Whether a value is a single string in a URL.
    fn is_scalar(&self, ty: &Ty) -> bool {
        use crate::model::Kind;
        match ty {
            Ty::Named(name) => match self.kind_of(name) {
                Some(Kind::Plain(inner)) => self.is_scalar(inner),
                Some(kind) => !matches!(kind, Kind::Struct(_) | Kind::Union { .. }),
                None => false,
            },
            Ty::Text { secret, .. } => !secret,
            Ty::Timestamp | Ty::Date | Ty::Integer { .. } | Ty::Number | Ty::Boolean => true,
            _ => false,
        }
    }

    fn is_textual(&self, ty: &Ty) -> bool {
        use crate::model::Kind;
        let kind = ty.name().and_then(|name| self.kind_of(name));
        matches!(kind, Some(Kind::Enum { .. } | Kind::Reference(_)))
    }
}

const TEXT: Ty = Ty::Text {
    min: None,
    max: None,
    secret: false,
};
