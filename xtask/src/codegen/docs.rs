//! Texts of the specs as rustdoc.

use std::fmt::{Display, Write as _};

use super::provenance;
use super::schema::{Kind, Schemas, Shape, Use};
use super::spec::{Auth, Operation};

/// Where a line of a comment ends.
const WIDTH: usize = 108;

/// A doc comment. Paragraphs are wrapped; lists, headings and code stay as they are.
pub(crate) fn comment(text: &str) -> String {
    let (mut out, mut code) = (String::new(), false);
    for block in text.trim().split("\n\n") {
        if !out.is_empty() {
            out.push_str("///\n");
        }
        if code || block.starts_with("```") || block.starts_with(['#', '-']) {
            for line in block.lines() {
                code ^= line.starts_with("```");
                let _ = writeln!(out, "/// {line}");
            }
        } else {
            wrap(&mut out, block);
        }
    }
    out.replace("/// \n", "///\n")
}

fn wrap(out: &mut String, paragraph: &str) {
    let mut line = String::from("///");
    for word in paragraph.split_whitespace() {
        if line.len() > 3 && line.len() + 1 + word.len() > WIDTH {
            let _ = writeln!(out, "{line}");
            line.truncate(3);
        }
        let _ = write!(line, " {word}");
    }
    let _ = writeln!(out, "{line}");
}

/// Text of a spec, with brackets outside of code escaped, so that they become neither links nor tags.
pub(crate) fn prose(text: &str) -> String {
    let mut out = String::new();
    let mut code = false;
    for character in text.trim().chars() {
        code ^= character == '`';
        if !code && "[]<>".contains(character) {
            out.push('\\');
        }
        out.push(character);
    }
    out
}

/// Each text as code.
pub(crate) fn codes<T: Display>(texts: impl IntoIterator<Item = T>) -> Vec<String> {
    let texts = texts.into_iter();
    texts.map(|text| format!("`{text}`")).collect()
}

/// The description of a member, with its assumptions.
pub(crate) fn described(name: &str, value: &Use, extra: &str) -> String {
    let mut text = prose(&value.description);
    if text.is_empty() {
        text = format!("The member `{name}`.");
    }
    for addition in [extra, &provenance::member(value)] {
        if !addition.is_empty() {
            text.push_str("\n\n");
            text.push_str(addition);
        }
    }
    text
}

/// The bounds of a value in words, as in "2 to 100 characters".
pub(crate) fn bounds(schemas: &Schemas, value: &Use) -> Option<String> {
    match &value.shape {
        Shape::Text { min, max, .. } => {
            range(min.map(i64::from), max.map(i64::from), " characters")
        }
        Shape::Integer { min, max } => range(*min, *max, ""),
        Shape::Array { min, max, .. } => range(min.map(i64::from), max.map(i64::from), " items"),
        shape => match schemas.kind(shape)? {
            Kind::Enum {
                values,
                closed: true,
            } => Some(format!("one of {}", codes(values).join(", "))),
            Kind::Reference(pattern) => Some(format!("of the form `{pattern}`")),
            _ => None,
        },
    }
}

fn range(min: Option<i64>, max: Option<i64>, unit: &str) -> Option<String> {
    match (min, max) {
        (Some(min), Some(max)) => Some(format!("{min} to {max}{unit}")),
        (Some(min), None) => Some(format!("at least {min}{unit}")),
        (None, Some(max)) => Some(format!("at most {max}{unit}")),
        (None, None) => None,
    }
}

/// The documentation of an operation, without an example.
pub(crate) fn operation(schemas: &Schemas, operation: &Operation) -> String {
    let mut text = prose(&operation.summary);
    let route = format!("`{}`", operation.route());
    for part in [prose(&operation.description), route] {
        if !part.is_empty() {
            text.push_str("\n\n");
            text.push_str(&part);
        }
    }
    for (title, part) in [
        ("Arguments", arguments(operation)),
        ("Scope", scope(operation)),
        ("Limits and defaults", limits(schemas, operation)),
        ("Errors", errors(operation)),
        ("Provenance", provenance::operation(operation)),
    ] {
        if !part.is_empty() {
            let _ = write!(text, "\n\n# {title}\n\n{part}");
        }
    }
    text
}

/// The scope that the caller's token needs, in one sentence.
pub(crate) fn scope(operation: &Operation) -> String {
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
    let line = |name: &str, text: &str| format!("- `{name}`: {}", prose(text).replace('\n', " "));
    let parameters = operation.parameters.iter().filter(|it| it.required);
    let mut lines: Vec<String> = parameters
        .map(|parameter| line(&parameter.field, &parameter.description))
        .collect();
    if let Some(body) = &operation.body {
        let own = Some(&body.description).filter(|text| !text.is_empty());
        lines.push(line("body", own.unwrap_or(&body.value.description)));
    }
    lines.join("\n")
}

fn limits(schemas: &Schemas, operation: &Operation) -> String {
    let mut lines = Vec::new();
    for parameter in &operation.parameters {
        let value = &parameter.value;
        let default = value.default.as_ref();
        let default = default.map(|default| format!("`{default}` if not set"));
        let parts = bounds(schemas, value).into_iter().chain(default);
        let parts: Vec<String> = parts.collect();
        if !parts.is_empty() {
            lines.push(format!("- `{}`: {}.", parameter.name, parts.join("; ")));
        }
    }
    for (left, right) in &operation.exclusive {
        lines.push(format!("- `{left}` and `{right}` exclude each other."));
    }
    for (first, last) in &operation.ordered {
        lines.push(format!("- `{first}` must not be after `{last}`."));
    }
    if !lines.is_empty() {
        lines.push("\nA value outside these limits fails before anything is sent.".into());
    }
    lines.join("\n")
}

fn errors(operation: &Operation) -> String {
    let mut lines: Vec<String> = operation
        .statuses
        .documented
        .iter()
        .filter(|(status, _)| *status >= 300)
        .map(|(status, meaning)| format!("- {status}: {}", prose(meaning)))
        .collect();
    if let Some(meaning) = &operation.statuses.otherwise {
        lines.push(format!("- {}", prose(meaning)));
    }
    if lines.is_empty() {
        return "The contract documents none for this operation. The SDK reports any error status."
            .into();
    }
    lines.join("\n")
}
