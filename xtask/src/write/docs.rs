//! What rustdoc says of an operation, a parameter and a member.

use std::fmt::{Display, Write as _};

use crate::model::{
    Auth, Body, Choice, Kind, Operation, Parameter, Property, Reply, Schemas, Ty, Use,
};

use super::provenance;
use super::text::{code, codes, line, prose};

/// The attribute of what the contract marks as deprecated.
pub(super) fn deprecated(is: bool) -> &'static str {
    if is {
        "#[deprecated = \"deprecated by the contract\"]\n"
    } else {
        ""
    }
}

/// The description of a member, with its assumptions and the rules that only the service checks.
pub(super) fn member(schemas: &Schemas, property: &Property) -> String {
    let Property { name, value, .. } = property;
    let mut text = prose(&value.description);
    if text.is_empty() {
        text = format!("The member {}.", code(name));
    }
    let only = match (property.read_only, property.write_only) {
        (true, _) => "Set by the service, and only in replies.",
        (_, true) => "Only in requests.",
        _ => "",
    };
    let default = value.default.as_ref();
    let default = default.map(|default| format!("The service defaults to {}.", code(default)));
    let default = default.unwrap_or_default();
    let example = value.example.as_ref();
    let example = example.map(|example| format!("For example: {}.", code(example)));
    let example = example.unwrap_or_default();
    let limits = match schemas.constant(&value.ty) {
        Some(constant) => format!("It is always {}.", code(constant)),
        None => limits_of(&value.ty).map_or_else(String::new, |it| format!("Limits: {it}.")),
    };
    let stated = match stated(value) {
        rules if rules.is_empty() => rules,
        rules => format!("{rules} {LEFT_TO_THE_SERVICE}"),
    };
    for addition in [
        only,
        &default,
        &limits,
        &stated,
        &example,
        &provenance::member(value),
    ] {
        if !addition.is_empty() {
            text.push_str("\n\n");
            text.push_str(addition);
        }
    }
    text
}

/// The bounds of a value and of what it contains, but for those that its type says.
fn limits_of(ty: &Ty) -> Option<String> {
    if let Ty::Nullable(inner) = ty {
        return limits_of(inner);
    }
    let own = match ty {
        // Those of `int32`.
        Ty::Integer { min, max } if (*min, *max) == INT32 => None,
        Ty::Named(_) => None,
        ty => bounds(&Schemas::default(), ty),
    };
    let inner = ty.inner().and_then(limits_of);
    let parts = own.into_iter().chain(inner.map(|it| format!("each {it}")));
    Some(parts.collect::<Vec<_>>().join(", ")).filter(|text| !text.is_empty())
}

/// What follows the rules that the SDK does not check.
const LEFT_TO_THE_SERVICE: &str = "Only the service checks that.";

/// The bounds of `int32`, which its format says.
const INT32: (Option<i64>, Option<i64>) = (Some(i32::MIN as i64), Some(i32::MAX as i64));

/// The rules that only the service checks, in one sentence each.
fn stated(value: &Use) -> String {
    let rules = value.stated.iter().map(|rule| prose(rule));
    rules.collect::<Vec<_>>().join(" ")
}

/// The description of a body that may be left out, for its setter.
pub(super) fn body(body: &Body) -> String {
    let texts = [&body.description, &body.value.description];
    let text = texts.into_iter().find(|text| !text.is_empty());
    text.map_or_else(|| "Sets the body.".to_owned(), |text| prose(text))
}

/// The description of a parameter, for its setter.
pub(super) fn parameter(parameter: &Parameter) -> String {
    let mut text = prose(&parameter.description);
    if text.is_empty() {
        text = format!("Sets {}.", code(&parameter.name));
    }
    if let Some(default) = &parameter.value.default {
        let _ = write!(text, "\n\nThe service defaults to {}.", code(default));
    }
    text
}

/// The bounds of a value in words, as in "2 to 100 characters".
pub(super) fn bounds(schemas: &Schemas, ty: &Ty) -> Option<String> {
    match ty {
        Ty::Text { min, max, .. } => range(*min, *max, " characters"),
        Ty::Integer { min, max } => range(*min, *max, ""),
        Ty::Count { min, max } => range(Some(*min), Some(*max), ""),
        Ty::Array { min, max, .. } => range(*min, *max, " items"),
        ty => match schemas.kind(ty)? {
            Kind::Enum {
                values,
                closed: true,
            } => Some(format!("one of {}", known(values))),
            Kind::Reference(pattern) => Some(format!("of the form {}", code(&pattern.source))),
            _ => None,
        },
    }
}

fn known(values: &[Choice]) -> String {
    codes(values.iter().map(|choice| &choice.value)).join(", ")
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
    let mut text = prose(&operation.summary);
    let route = code(operation.route());
    let deprecated = if operation.deprecated {
        "Deprecated by the contract.".to_owned()
    } else {
        String::new()
    };
    for part in [
        prose(&operation.description),
        deprecated,
        route,
        guide(operation),
    ] {
        if !part.is_empty() {
            text.push_str("\n\n");
            text.push_str(&part);
        }
    }
    for (title, part) in [
        ("Arguments", arguments(operation)),
        ("Scope", scope(operation)),
        ("Limits and defaults", limits(schemas, operation)),
        ("Reply", reply(schemas, operation)),
        ("Reply headers", reply_headers(operation)),
        ("Errors", errors(operation)),
        ("Provenance", provenance::operation(operation)),
    ] {
        if !part.is_empty() {
            let _ = write!(text, "\n\n# {title}\n\n{part}");
        }
    }
    text
}

/// Where the guide says more.
fn guide(operation: &Operation) -> String {
    let leads: &[(&str, &str)] = if operation.auth == Auth::Client {
        &[("How a suite gets its own tokens", "tokens")]
    } else if operation.is_command() {
        &[
            ("How a command takes effect once", "commands"),
            ("What to do if its reply is lost", "unknown_effect"),
        ]
    } else if operation.is_list() {
        &[
            ("How to walk through a list", "walking"),
            ("How to read a record", "reading"),
        ]
    } else {
        &[("How to read a reply", "reading")]
    };
    let lead = |(what, page)| format!("{what}: [`guide::{page}`](sdk_core::guide::{page}).");
    let leads: Vec<String> = leads.iter().copied().map(lead).collect();
    leads.join(" ")
}

/// The scope that the caller's token needs, in one sentence.
pub(super) fn scope(operation: &Operation) -> String {
    match (operation.auth, codes(&operation.scopes).as_slice()) {
        (Auth::Public, _) => "None: no authentication is required.".into(),
        (Auth::Client, _) => "None: the client credential itself authenticates the call.".into(),
        (Auth::Bearer, []) => {
            "A bearer token is sent. The contract does not show its scope.".into()
        }
        (Auth::Bearer, [scope]) => format!("{scope}."),
        (Auth::Bearer, scopes) => format!("Any one of {}.", scopes.join(", ")),
    }
}

fn arguments(operation: &Operation) -> String {
    let parameters = operation.parameters.iter().filter(|it| it.required);
    let mut lines: Vec<String> = parameters
        .map(|parameter| item(&parameter.field, &parameter.description))
        .collect();
    if let Some(body) = operation.body.as_ref().filter(|body| body.required) {
        let own = Some(&body.description).filter(|text| !text.is_empty());
        lines.push(item("body", own.unwrap_or(&body.value.description)));
    }
    lines.join("\n")
}

/// An item of a list: a name, and what is said of it.
fn item(name: &str, text: &str) -> String {
    match line(text) {
        text if text.is_empty() => format!("- {}", code(name)),
        text => format!("- {}: {text}", code(name)),
    }
}

fn limits(schemas: &Schemas, operation: &Operation) -> String {
    let mut lines = Vec::new();
    for parameter in &operation.parameters {
        let value = &parameter.value;
        let default = value.default.as_ref();
        let default = default.map(|default| format!("{} if not set", code(default)));
        let parts = bounds(schemas, &value.ty).into_iter().chain(default);
        let parts: Vec<String> = parts.collect();
        if !parts.is_empty() {
            lines.push(format!(
                "- {}: {}.",
                code(&parameter.name),
                parts.join("; ")
            ));
        }
    }
    let body = operation.body.as_ref();
    if let Some(limits) = body.and_then(|body| limits_of(&body.value.ty)) {
        lines.push(format!("- `body`: {limits}."));
    }
    for (left, right) in &operation.exclusive {
        lines.push(format!("- `{left}` and `{right}` exclude each other."));
    }
    if !lines.is_empty() {
        lines.push("\nA value outside these limits fails before anything is sent.".into());
    }
    let values = operation.parameters.iter().map(|it| (&*it.name, &it.value));
    let body = operation.body.iter().map(|it| ("body", &it.value));
    for (name, value) in values.chain(body) {
        let rules = stated(value);
        if !rules.is_empty() {
            let name = code(name);
            lines.push(format!("\n{name}: {rules} {LEFT_TO_THE_SERVICE}"));
        }
    }
    lines.join("\n")
}

/// What the type of the reply does not say of it.
fn reply(schemas: &Schemas, operation: &Operation) -> String {
    let mut parts = Vec::new();
    match &operation.reply {
        Reply::Empty => parts.push("A success has no body.".to_owned()),
        Reply::Bytes(media) => parts.push(format!(
            "A success has a body of {}, which is returned as received.",
            code(media)
        )),
        Reply::Several { name, cases } => {
            let cases = cases
                .iter()
                .map(|case| format!("`{name}::{}` for {}", case.variant, case.status));
            let cases = cases.collect::<Vec<_>>().join(", ");
            parts.push(format!("By the status: {cases}."));
        }
        Reply::Json(value) => {
            if let Ty::Page {
                members: Some(members),
                ..
            } = &value.ty
            {
                parts.push(further(schemas, members));
            }
        }
    }
    let successes = operation.statuses.documented.iter();
    // One word says no more than the number.
    let successes = successes.filter(|(status, text)| *status < 300 && text.contains(' '));
    let lines = successes.map(|(status, meaning)| format!("- {status}: {}", line(meaning)));
    let lines: Vec<String> = lines.collect();
    if !lines.is_empty() {
        parts.push(lines.join("\n"));
    }
    parts.join("\n\n")
}

/// How the further members of a page are read.
fn further(schemas: &Schemas, members: &str) -> String {
    let component = Ty::Named(members.to_owned());
    let names = schemas.members(&component).iter();
    let names = codes(names.map(|member| &member.name)).join(", ");
    format!(
        "A page has further members ({names}): `page.members::<types::{members}>()?` reads them."
    )
}

fn reply_headers(operation: &Operation) -> String {
    let mut lines = Vec::new();
    for header in &operation.reply_headers {
        lines.push(item(&header.name, &header.description));
    }
    if let Some(first) = operation.reply_headers.first() {
        let name = if operation.is_command() {
            "receipt"
        } else {
            "response"
        };
        lines.push(format!("\n`{name}.header({:?})` reads one.", first.name));
    }
    lines.join("\n")
}

fn errors(operation: &Operation) -> String {
    let mut lines: Vec<String> = operation
        .statuses
        .documented
        .iter()
        .filter(|(status, _)| *status >= 300)
        .map(|(status, meaning)| format!("- {status}: {}", line(meaning)))
        .collect();
    if let Some(meaning) = &operation.statuses.otherwise {
        lines.push(format!("- {}", line(meaning)));
    }
    if lines.is_empty() {
        return "The contract documents none for this operation. The SDK reports any error status."
            .into();
    }
    lines.join("\n")
}
