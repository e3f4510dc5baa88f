//! Texts of the specs as rustdoc.

use std::fmt::Write as _;

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
        shape => match &schemas.named(shape)?.kind {
            Kind::Enum {
                values,
                closed: true,
            } => {
                let values: Vec<String> = values.iter().map(|value| format!("`{value}`")).collect();
                Some(format!("one of {}", values.join(", ")))
            }
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
    for part in [
        prose(&operation.description),
        format!("`{} {}`", operation.method.name(), operation.path),
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
    let scopes: Vec<String> = operation
        .scopes
        .iter()
        .map(|scope| format!("`{scope}`"))
        .collect();
    match (operation.auth, scopes.as_slice()) {
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
    let parameters = operation
        .parameters
        .iter()
        .filter(|parameter| parameter.required);
    let mut lines: Vec<String> = parameters
        .map(|parameter| {
            format!(
                "- `{}`: {}",
                parameter.field,
                prose(&parameter.description).replace('\n', " ")
            )
        })
        .collect();
    if let Some(body) = &operation.body {
        let text = if body.description.is_empty() {
            &body.value.description
        } else {
            &body.description
        };
        lines.push(format!("- `body`: {}", prose(text).replace('\n', " ")));
    }
    lines.join("\n")
}

fn limits(schemas: &Schemas, operation: &Operation) -> String {
    let mut lines = Vec::new();
    for parameter in &operation.parameters {
        let default = parameter
            .value
            .default
            .as_ref()
            .map(|default| format!("`{default}` if not set"));
        let parts: Vec<String> = bounds(schemas, &parameter.value)
            .into_iter()
            .chain(default)
            .collect();
        if !parts.is_empty() {
            lines.push(format!("- `{}`: {}.", parameter.name, parts.join("; ")));
        }
    }
    lines.extend(
        operation
            .exclusive
            .iter()
            .map(|(left, right)| format!("- `{left}` and `{right}` exclude each other.")),
    );
    lines.extend(
        operation
            .ordered
            .iter()
            .map(|(first, last)| format!("- `{first}` must not be after `{last}`.")),
    );
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
