//! Strings, numbers, constants and enums.

use super::reader::{Meaning, Reader};
use crate::model::pattern::Pattern;
use crate::model::{Choice, Kind, Ty, Use};
use crate::names;
use crate::node::Node;

impl Reader<'_> {
    pub(super) fn text(&mut self, schema: &Node, place: &str, mut value: Use) -> Meaning {
        let bound = |key| u64::try_from(schema.at(key).integer()?).ok();
        value.ty = match schema.text_at("format") {
            Some("date-time") => Ty::Timestamp,
            Some("date") => Ty::Date,
            Some("password") => Ty::Text {
                min: None,
                max: None,
                secret: true,
            },
            _ => Ty::Text {
                min: bound("minLength"),
                max: bound("maxLength"),
                secret: false,
            },
        };
        if let Some(pattern) = schema.text_at("pattern") {
            match Pattern::compile(pattern) {
                Ok(pattern) if matches!(value.ty, Ty::Text { secret: false, .. }) => {
                    return Meaning::of(value, Kind::Reference(pattern));
                }
                Ok(_) => {}
                Err(rule) => {
                    let rule = format!("{rule}; only the server checks it");
                    self.findings.note(place, rule);
                }
            }
        }
        Meaning::plain(value)
    }

    /// A constant or an enum.
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
            _ if is_const => self.reject(place, "`x-const` needs an `enum` of exactly one string"),
            _ => {}
        }
        let kind = schema.text_at("type").unwrap_or_default();
        let all = |of: fn(&Node) -> bool| listed.iter().all(of);
        value.ty = if listed.is_empty() {
            Ty::Value
        } else if all(|it| it.text().is_some()) || kind == "string" {
            // YAML reads `no` and `1` in a list of strings as other types.
            let values: Vec<Node> = listed.iter().map(|it| Node::Text(it.plain())).collect();
            let values = choices(&values);
            let closed = schema.get("x-extensible-enum").is_none();
            return Meaning::of(value, Kind::Enum { values, closed });
        } else if all(|it| matches!(it, Node::Number(it) if it.is_i64())) && kind != "number"
            || all(|it| it.integer().is_some()) && kind == "integer"
        {
            // `1.0` is preserved, unless the type is integer.
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
            self.raw(place, "values of several types, or lists or objects");
            Ty::Value
        };
        Meaning::plain(value)
    }
}

/// The values of an enum with the unique names of their variants.
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

/// An integer with its bounds, including the bounds of its format.
pub(super) fn integer(schema: &Node) -> Ty {
    let bound = |key, exclusive, step: i64| {
        let plain = schema.at(key).integer();
        let beyond = |it: i64| it.saturating_add(step);
        match schema.at(exclusive) {
            // In 3.0, `exclusiveMinimum: true` excludes `minimum` itself.
            Node::Bool(true) => plain.map(beyond),
            other => {
                let both = plain.into_iter().chain(other.integer().map(beyond));
                both.max_by_key(|it| it.saturating_mul(step))
            }
        }
    };
    let implied = match schema.text_at("format") {
        Some("int32") => Some((i64::from(i32::MIN), i64::from(i32::MAX))),
        Some("uint32") => Some((0, i64::from(u32::MAX))),
        _ => None,
    };
    Ty::Integer {
        min: bound("minimum", "exclusiveMinimum", 1).or(implied.map(|it| it.0)),
        max: bound("maximum", "exclusiveMaximum", -1).or(implied.map(|it| it.1)),
    }
}
