//! The rustdoc of operations, parameters, types and fields, which also states whether each is documented, assumed, or
//! documented by name only.

use std::collections::BTreeSet;
use std::fmt::Display;

use crate::model::{
    Auth, Body, Component, Kind, Operation, Parameter, Property, Provenance, Reply, Schemas, Ty,
    Use,
};

use super::text::{code, codes, joined, line, prose, prose_or};

/// The link to the published entries of `specs/ASSUMPTIONS.md`.
const ASSUMPTIONS: &str = "(sdk_core::guide::operations#assumptions)";

const DEPRECATED: &str = "Deprecated by the contract.";

/// The attribute for an element that the contract marks as deprecated.
pub(super) fn deprecated(is: bool) -> &'static str {
    if is {
        "#[deprecated = \"deprecated by the contract\"]\n"
    } else {
        ""
    }
}

/// The description of a field, with its assumptions and the rules that only the server checks.
pub(super) fn field(schemas: &Schemas, property: &Property) -> String {
    let Property { name, value, .. } = property;
    let only = match (property.read_only, property.write_only) {
        (true, _) => "The server sets it. Only in responses.",
        (_, true) => "Only in requests.",
        _ => "",
    };
    let limits = limits_of(&value.ty).map(|it| format!("Limits: {it}."));
    let parts = [
        prose_or(&value.description, format!("The {} field.", code(name))),
        only.to_owned(),
        sentence(DEFAULT, value.default.as_deref()),
        sentence("It is always", schemas.constant(&value.ty)),
        limits.unwrap_or_default(),
        stated(value),
        sentence("For example:", value.example.as_deref()),
        provenance_of_field(value),
    ];
    joined(parts, "\n\n")
}

const DEFAULT: &str = "The server's default is";

/// A sentence that ends with a value, if there is one.
fn sentence(begin: &str, value: Option<&str>) -> String {
    value.map_or_else(String::new, |value| format!("{begin} {}.", code(value)))
}

/// The bounds of a value and of its items, except the bounds that the type already states.
fn limits_of(ty: &Ty) -> Option<String> {
    let own = match ty {
        Ty::Nullable(inner) => return limits_of(inner),
        Ty::Integer { min, max } if (*min, *max) == INT32 => None,
        ty => bounds(&Schemas::default(), ty),
    };
    let inner = ty.inner().and_then(limits_of);
    let parts = own.into_iter().chain(inner.map(|it| format!("each {it}")));
    Some(joined(parts, ", ")).filter(|text| !text.is_empty())
}

const INT32: (Option<i64>, Option<i64>) = (Some(i32::MIN as i64), Some(i32::MAX as i64));

/// The rules that no type expresses, one sentence each.
fn stated(value: &Use) -> String {
    joined(value.stated.iter().map(|rule| prose(rule)), " ")
}

/// The description of a body, or of its schema if the body has none.
fn described(body: &Body) -> &str {
    let own = Some(&body.description).filter(|text| !text.is_empty());
    own.unwrap_or(&body.value.description)
}

/// The description of an optional body, for its setter.
pub(super) fn body(body: &Body) -> String {
    prose_or(described(body), "Sets the body.")
}

/// The description of a parameter, for its setter.
pub(super) fn parameter(parameter: &Parameter) -> String {
    let Parameter { name, value, .. } = parameter;
    let text = prose_or(&parameter.description, format!("Sets {}.", code(name)));
    joined([text, sentence(DEFAULT, value.default.as_deref())], "\n\n")
}

/// The bounds of a value in words, as in "2 to 100 characters".
fn bounds(schemas: &Schemas, ty: &Ty) -> Option<String> {
    match ty {
        Ty::Text { min, max, .. } => range(*min, *max, " characters"),
        Ty::Integer { min, max } => range(*min, *max, ""),
        Ty::Count { min, max } => range(Some(*min), Some(*max), ""),
        Ty::Array { min, max, .. } => range(*min, *max, " items"),
        ty => match schemas.kind(ty)? {
            Kind::Enum {
                values,
                closed: true,
            } => {
                let values = codes(values.iter().map(|choice| &choice.value));
                Some(format!("one of {}", values.join(", ")))
            }
            Kind::Reference(pattern) => Some(format!("matches {}", code(&pattern.source))),
            _ => None,
        },
    }
}

fn range<T: Display>(min: Option<T>, max: Option<T>, unit: &str) -> Option<String> {
    match (min, max) {
        (Some(min), Some(max)) => Some(format!("{min} to {max}{unit}")),
        (Some(min), None) => Some(format!("at least {min}{unit}")),
        (None, Some(max)) => Some(format!("at most {max}{unit}")),
        (None, None) => None,
    }
}

/// The documentation of an operation, without an example.
pub(super) fn operation(schemas: &Schemas, operation: &Operation) -> String {
    let deprecated = operation.deprecated.then_some(DEPRECATED);
    let lead = [
        prose(&operation.summary),
        prose(&operation.description),
        deprecated.unwrap_or_default().to_owned(),
        code(operation.route()),
        guide(operation),
    ];
    let sections = [
        ("Arguments", arguments(operation)),
        ("Scope", scope(operation)),
        ("Limits and defaults", limits(schemas, operation)),
        ("Response", reply(schemas, operation)),
        ("Response headers", reply_headers(operation)),
        ("Errors", errors(operation)),
        ("Provenance", provenance(operation)),
    ];
    let sections = sections.into_iter().filter(|(_, part)| !part.is_empty());
    let sections = sections.map(|(title, part)| format!("# {title}\n\n{part}"));
    joined(lead.into_iter().chain(sections), "\n\n")
}

fn guide(operation: &Operation) -> String {
    let pages: &[&str] = if operation.auth == Auth::Client {
        &["authentication"]
    } else if operation.is_command() {
        &["commands", "unknown_effect"]
    } else if operation.is_list() {
        &["pagination", "records"]
    } else {
        &["records"]
    };
    let links = pages
        .iter()
        .map(|page| format!("[`guide::{page}`](sdk_core::guide::{page})"));
    format!("See {}.", joined(links, " and "))
}

fn scope(operation: &Operation) -> String {
    match (operation.auth, codes(&operation.scopes).as_slice()) {
        (Auth::Public, _) => "None. No authentication is required.".into(),
        (Auth::Client, _) => "None. The client credential itself authenticates the call.".into(),
        (Auth::Bearer, []) => {
            "A bearer token is sent. The contract doesn't document its scope.".into()
        }
        (Auth::Bearer, [scope]) => format!("{scope}."),
        (Auth::Bearer, scopes) => format!("Any of {}.", scopes.join(", ")),
    }
}

fn arguments(operation: &Operation) -> String {
    let parameters = operation.parameters.iter().filter(|it| it.required);
    let parameters = parameters.map(|it| item(&it.field, &it.description));
    let body = operation.body.iter().filter(|body| body.required);
    let body = body.map(|body| item("body", described(body)));
    joined(parameters.chain(body), "\n")
}

fn item(name: &str, text: &str) -> String {
    joined([format!("- {}", code(name)), line(text)], ": ")
}

fn limits(schemas: &Schemas, operation: &Operation) -> String {
    let mut lines = Vec::new();
    for Parameter { name, value, .. } in &operation.parameters {
        let default = value.default.as_ref();
        let default = default.map(|default| format!("default {}", code(default)));
        let parts = joined(bounds(schemas, &value.ty).into_iter().chain(default), "; ");
        if !parts.is_empty() {
            lines.push(format!("- {}: {parts}.", code(name)));
        }
    }
    let body = operation.body.as_ref();
    if let Some(limits) = body.and_then(|body| limits_of(&body.value.ty)) {
        lines.push(format!("- `body`: {limits}."));
    }
    for (left, right) in &operation.exclusive {
        lines.push(format!("- `{left}` and `{right}` are mutually exclusive."));
    }
    if !lines.is_empty() {
        lines.push("\nThe call fails locally if a value is outside these limits.".into());
    }
    let values = operation.parameters.iter().map(|it| (&*it.name, &it.value));
    let body = body.map(|it| ("body", &it.value));
    for (name, value) in values.chain(body) {
        let example = sentence("For example:", value.example.as_deref());
        let text = joined([stated(value), example], " ");
        if !text.is_empty() {
            lines.push(format!("\n{}: {text}", code(name)));
        }
    }
    joined(lines, "\n")
}

/// The details of the response that its type does not express.
fn reply(schemas: &Schemas, operation: &Operation) -> String {
    let form = match &operation.reply {
        Reply::Empty => "A successful response has no body.".to_owned(),
        Reply::Bytes(media) => {
            let media = code(media);
            format!(
                "A successful response has a body of type {media}, which is returned as received."
            )
        }
        Reply::Several { name, cases } => {
            let cases = cases.iter();
            let cases = cases.map(|it| format!("`{name}::{}` for {}", it.variant, it.status));
            format!("The status selects the variant: {}.", joined(cases, ", "))
        }
        Reply::Json(value) => match &value.ty {
            Ty::Page {
                members: Some(members),
                ..
            } => {
                let fields = schemas.members(&Ty::Named(members.clone())).iter();
                let names = codes(fields.map(|field| &field.name)).join(", ");
                format!(
                    "A page has more fields ({names}). `page.members::<types::{members}>()?` decodes them."
                )
            }
            _ => String::new(),
        },
    };
    // A single word adds nothing to the status.
    let successes = statuses(operation, |status, text| status < 300 && text.contains(' '));
    joined([form, joined(successes, "\n")], "\n\n")
}

/// The documented statuses with their meanings, as items of a list.
fn statuses(operation: &Operation, shows: fn(u16, &str) -> bool) -> impl Iterator<Item = String> {
    let statuses = operation.statuses.documented.iter();
    let statuses = statuses.filter(move |(status, text)| shows(*status, text));
    statuses.map(|(status, meaning)| format!("- {status}: {}", line(meaning)))
}

fn reply_headers(operation: &Operation) -> String {
    let headers = operation.reply_headers.iter();
    let items = headers.map(|header| item(&header.name, &header.description));
    let output = operation.output();
    let first = operation.reply_headers.first();
    let call = first.map(|it| format!("\n`{output}.header({:?})` returns its value.", it.name));
    joined(items.chain(call), "\n")
}

fn errors(operation: &Operation) -> String {
    let otherwise = operation.statuses.otherwise.iter();
    let otherwise = otherwise.map(|meaning| format!("- {}", line(meaning)));
    let errors = statuses(operation, |status, _| status >= 300).chain(otherwise);
    let errors = joined(errors, "\n");
    if errors.is_empty() {
        return "The contract documents no errors for this operation. The SDK reports any error status."
            .to_owned();
    }
    errors
}

pub(super) fn provenance(operation: &Operation) -> String {
    let known = if operation.name_only {
        "Documented by name only"
    } else {
        "Documented"
    };
    let known = format!("{known}: {}.", prose(&operation.source));
    joined([known, assumed("Assumptions", &operation.assumptions)], " ")
}

pub(super) fn component(component: &Component) -> String {
    let other = format!("The schema `{}`.", component.name);
    let form = match &component.kind {
        Kind::Reference(pattern) => format!("It matches {}.", code(&pattern.source)),
        _ => String::new(),
    };
    let deprecated = component.deprecated.then_some(DEPRECATED);
    let parts = [
        prose_or(&component.description, other),
        form,
        deprecated.unwrap_or_default().to_owned(),
        provenance_of_type(component),
    ];
    joined(parts, "\n\n")
}

fn provenance_of_type(component: &Component) -> String {
    let known = match (component.provenance, &component.kind) {
        (Provenance::Assumed, _) => {
            let assumptions = assumed("Assumptions", &component.assumptions);
            return format!("Provenance: assumed, because it is undocumented. {assumptions}");
        }
        (Provenance::NameOnly, _) => "documented by name only",
        (Provenance::Documented, Kind::Enum { closed: true, .. }) => "documented, with all values",
        (Provenance::Documented, Kind::Enum { .. }) => "documented, with some of its values",
        (Provenance::Documented, _) => "documented",
    };
    let fields = component.members().iter();
    let types = fields.flat_map(|field| &field.value.type_assumptions);
    let parts = [
        format!("Provenance: {known}."),
        assumed("Assumptions", &component.assumptions),
        assumed("Assumed types of fields", types),
    ];
    joined(parts, " ")
}

/// The assumptions about a field, except the assumptions about its named type.
fn provenance_of_field(value: &Use) -> String {
    let types = &value.type_assumptions;
    let others = value.assumptions.difference(types);
    let mut first = assumed("Assumed type", types);
    if !first.is_empty() {
        first += " A value of another type is stored in `extra`.";
    }
    joined([first, assumed("Assumptions", others)], " ")
}

/// The sentence that lists assumptions, or an empty string.
fn assumed<'a>(title: &str, ids: impl IntoIterator<Item = &'a String>) -> String {
    let ids: BTreeSet<&str> = ids.into_iter().map(String::as_str).collect();
    if ids.is_empty() {
        return String::new();
    }
    format!("[{title}]{ASSUMPTIONS}: {}.", joined(ids, ", "))
}
