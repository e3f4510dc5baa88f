//! Texts, numbers, constants and enumerations.

use super::reader::{Meaning, Reader};
use crate::model::pattern::Pattern;
use crate::model::{Choice, Kind, Ty, Use};
use crate::names;
use crate::node::Node;

/// Formats of texts that have a type of their own or need none.
const PLAIN: [&str; 5] = ["date-time", "date", "password", "", "string"];

impl Reader<'_> {
    pub(super) fn text(&mut self, schema: &Node, place: &str, mut value: Use) -> Meaning {
        let format = schema.text_at("format").unwrap_or_default();
        let bound = |key| {
            schema
                .at(key)
                .integer()
                .and_then(|it| u64::try_from(it).ok())
        };
        let (min, max) = (bound("minLength"), bound("maxLength"));
        value.ty = match format {
            "date-time" => Ty::Timestamp,
            "date" => Ty::Date,
            _ => Ty::Text {
                min,
                max,
                secret: format == "password",
            },
        };
        if matches!(format, "password" | "date-time" | "date") && (min, max) != (None, None) {
            if let Ty::Text { min, max, .. } = &mut value.ty {
                (*min, *max) = (None, None);
            }
            value.stated.push(bounds_of(min, max));
        }
        if !PLAIN.contains(&format) {
            value.stated.push(format!("Its format is `{format}`."));
        }
        let Some(pattern) = schema.text_at("pattern") else {
            return Meaning::plain(value);
        };
        let shown = pattern.replace(char::is_control, " ");
        match Pattern::compile(pattern) {
            Ok(pattern) if matches!(value.ty, Ty::Text { secret: false, .. }) => {
                if (min, max) != (None, None) {
                    value.stated.push(bounds_of(min, max));
                }
                Meaning::of(value, Kind::Reference(pattern))
            }
            Ok(_) => {
                value.stated.push(format!("It matches `{shown}`."));
                Meaning::plain(value)
            }
            Err(rule) => {
                self.findings
                    .note(place, format!("{rule}; the service alone checks it"));
                value.stated.push(format!("It matches `{shown}`."));
                Meaning::plain(value)
            }
        }
    }

    /// A constant, or one of a few values.
    pub(super) fn values(&mut self, schema: &Node, place: &str, mut value: Use) -> Meaning {
        if let known @ [_, ..] = schema.at("x-known-values").items() {
            let values = choices(known);
            let closed = false;
            return Meaning::of(value, Kind::Enum { values, closed });
        }
        let constant = schema.get("const");
        let listed = constant.into_iter().chain(schema.at("enum").items());
        let listed: Vec<Node> = listed.filter(|it| !it.is_null()).cloned().collect();
        let is_const = schema.is_set("x-const");
        match listed.as_slice() {
            [Node::Text(only)] if is_const || constant.is_some() => {
                return Meaning::of(value, Kind::Constant(only.clone()));
            }
            _ if is_const => self.refuse(place, "`x-const` needs an `enum` of exactly one text"),
            _ => {}
        }
        let kind = schema.text_at("type").unwrap_or_default();
        let all = |of: fn(&Node) -> bool| listed.iter().all(of);
        value.ty = if listed.is_empty() {
            Ty::Value
        } else if all(|it| it.text().is_some()) || kind == "string" {
            // YAML reads `no` and `1` among texts as something else.
            let values: Vec<Node> = listed.iter().map(|it| Node::Text(it.plain())).collect();
            let values = choices(&values);
            let closed = schema.get("x-extensible-enum").is_none();
            return Meaning::of(value, Kind::Enum { values, closed });
        } else if all(|it| matches!(it, Node::Number(it) if it.is_i64())) && kind != "number"
            || all(|it| it.integer().is_some()) && kind == "integer"
        {
            // `1.0` comes back as it was, unless it is said to be an integer.
            let bound = listed[0].integer().filter(|_| listed.len() == 1);
            Ty::Integer {
                min: bound,
                max: bound,
            }
        } else if all(|it| matches!(it, Node::Number(_))) {
            Ty::Number
        } else if all(|it| matches!(it, Node::Bool(_))) {
            Ty::Boolean
        } else {
            self.raw(
                place,
                "values of several types, or that are lists or objects",
            );
            Ty::Value
        };
        let shown: Vec<String> = listed
            .iter()
            .map(|it| format!("`{}`", it.plain()))
            .collect();
        value.stated.push(match shown.as_slice() {
            [] => "It is null.".to_owned(),
            [only] => format!("It is always {only}."),
            several => format!("It is one of {}.", several.join(", ")),
        });
        Meaning::plain(value)
    }
}

/// A boolean or a number.
pub(super) fn scalar(schema: &Node, kind: &str, stated: &mut Vec<String>) -> Ty {
    let format = schema.text_at("format").unwrap_or_default();
    let (ty, known): (_, &[&str]) = match kind {
        "boolean" => (Ty::Boolean, &[""]),
        "integer" => {
            let (min, max) = integer_bounds(schema, format, stated);
            (Ty::Integer { min, max }, &["", "int32", "int64", "uint32"])
        }
        _ => {
            number_bounds(schema, stated);
            (Ty::Number, &["", "float", "double"])
        }
    };
    if !known.contains(&format) {
        stated.push(format!("Its format is `{format}`."));
    }
    ty
}

/// The values of an enumeration with the names of their variants, no two of them alike.
pub(super) fn choices(values: &[Node]) -> Vec<Choice> {
    let mut choices: Vec<Choice> = Vec::new();
    for value in values {
        let value = value.plain();
        if choices.iter().any(|known| known.value == value) {
            continue;
        }
        let name = names::variant(&value);
        let is_taken = |name: &str| choices.iter().any(|known| known.variant == name);
        let variant = names::free(&name, is_taken, |next| format!("{name}{next}"));
        choices.push(Choice { value, variant });
    }
    choices
}

fn integer_bounds(
    schema: &Node,
    format: &str,
    stated: &mut Vec<String>,
) -> (Option<i64>, Option<i64>) {
    let exclusive = |key: &str| schema.at(key).integer();
    // In 3.0 `exclusiveMinimum: true` makes `minimum` exclusive.
    let shift = |key: &str| i64::from(schema.is_set(key));
    let minimum = schema.at("minimum").integer();
    let maximum = schema.at("maximum").integer();
    let minimum = minimum.map(|it| it.saturating_add(shift("exclusiveMinimum")));
    let maximum = maximum.map(|it| it.saturating_sub(shift("exclusiveMaximum")));
    let minimum = exclusive("exclusiveMinimum").map_or(minimum, |it| Some(it.saturating_add(1)));
    let maximum = exclusive("exclusiveMaximum").map_or(maximum, |it| Some(it.saturating_sub(1)));
    for key in ["minimum", "maximum"] {
        let bound = schema.at(key);
        if !bound.is_null() && bound.integer().is_none() {
            stated.push(format!("Its {key} is {}.", bound.plain()));
        }
    }
    match format {
        "int32" => (
            Some(minimum.unwrap_or(i32::MIN.into())),
            Some(maximum.unwrap_or(i32::MAX.into())),
        ),
        "uint32" => (
            Some(minimum.unwrap_or(0)),
            Some(maximum.unwrap_or(u32::MAX.into())),
        ),
        _ => (minimum, maximum),
    }
}

fn number_bounds(schema: &Node, stated: &mut Vec<String>) {
    for (key, text) in [
        ("minimum", "at least"),
        ("exclusiveMinimum", "more than"),
        ("maximum", "at most"),
        ("exclusiveMaximum", "less than"),
    ] {
        match schema.at(key) {
            Node::Number(bound) => stated.push(format!("It is {text} {bound}.")),
            Node::Bool(true) => stated.push("The bound itself is excluded.".to_owned()),
            _ => {}
        }
    }
}

fn bounds_of(min: Option<u64>, max: Option<u64>) -> String {
    match (min, max) {
        (Some(min), Some(max)) => format!("It has {min} to {max} characters."),
        (Some(min), None) => format!("It has at least {min} characters."),
        (None, Some(max)) => format!("It has at most {max} characters."),
        (None, None) => String::new(),
    }
}
