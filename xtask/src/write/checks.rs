//! The checks of parameters and of the fields of a body, as code.

use std::fmt::Write as _;

use crate::model::{Kind, Parameter, Place, Property, Schemas, Ty};

use super::rust::{limit, optional, range};

/// The expressions of a value that is checked.
struct Checked {
    value: String,
    borrowed: String,
    /// An `Option` of the borrowed value.
    optional: String,
}

impl Checked {
    fn of(value: String, borrowed: String) -> Self {
        Self {
            optional: format!("Some({borrowed})"),
            value,
            borrowed,
        }
    }

    /// A variable with a reference.
    fn variable(name: &str) -> Self {
        Self::of(format!("*{name}"), name.to_owned())
    }
}

pub(super) fn field(schemas: &Schemas, property: &Property) -> String {
    let (name, value, field) = (&property.name, &property.value, &property.field);
    let mut checked = if property.is_option() {
        Checked::variable("value")
    } else {
        Checked::of(format!("self.{field}"), format!("&self.{field}"))
    };
    if property.boxed {
        checked.borrowed = format!("&*{}", checked.value);
    }
    let checks = if value.ty == Ty::Record {
        let (nullable, borrowed) = (value.nullable, &checked.borrowed);
        format!("check.object({name:?}, {borrowed}, {nullable})?;\n")
    } else {
        checks(schemas, &value.ty, name, &checked)
    };
    if !property.is_option() {
        return checks;
    }
    if_set(field, &checks)
}

pub(super) fn parameter(schemas: &Schemas, parameter: &Parameter, is_cursor: bool) -> String {
    let Parameter { name, field, .. } = parameter;
    let checked = Checked {
        value: format!("self.{field}"),
        borrowed: format!("&self.{field}"),
        optional: optional(schemas, parameter, is_cursor),
    };
    let (ty, optional) = (&parameter.value.ty, &checked.optional);
    match (ty, schemas.kind(ty)) {
        (Ty::Count { min, max }, _) => {
            format!("check.range({name:?}, {optional}, {min}, {max})?;\n")
        }
        (Ty::Array { items, min, max }, _) => {
            let (style, range) = (parameter.style, range(*min, *max));
            let list =
                format!("check.list({name:?}, {optional}, ListStyle::{style:?}, {range})?;\n");
            let each = checks(schemas, items, name, &Checked::variable("item"));
            let head = format!("for item in {optional}.into_iter().flatten()");
            list + &wrapped(&head, &each)
        }
        (Ty::Integer { .. }, _) | (_, Some(Kind::Enum { .. } | Kind::Reference(_)))
            if !parameter.required =>
        {
            let checks = checks(schemas, ty, name, &Checked::variable("value"));
            if_set(field, &checks)
        }
        _ => segment(schemas, parameter) + &checks(schemas, ty, name, &checked),
    }
}

/// The check that a parameter is a single segment of the path.
fn segment(schemas: &Schemas, parameter: &Parameter) -> String {
    let Parameter { name, field, .. } = parameter;
    // A value with such a first character is not `..`.
    let is_plain = |first: char| first.is_ascii_alphanumeric();
    let ty = &parameter.value.ty;
    let value = match (ty, schemas.kind(ty)) {
        _ if parameter.place != Place::Path => return String::new(),
        (Ty::Text { .. }, _) => format!("&self.{field}"),
        (_, Some(Kind::Enum { .. })) => format!("self.{field}.as_str()"),
        (_, Some(Kind::Reference(pattern))) if !pattern.sample().starts_with(is_plain) => {
            format!("self.{field}.as_str()")
        }
        _ => return String::new(),
    };
    format!("check.segment({name:?}, {value})?;\n")
}

fn checks(schemas: &Schemas, ty: &Ty, name: &str, checked: &Checked) -> String {
    let Checked {
        value,
        borrowed,
        optional,
    } = checked;
    let text = format!("{}.as_str()", value.trim_start_matches('*'));
    let validate = format!("Validate::validate({borrowed}, &check.member({name:?}))?;\n");
    let item = |item: &Ty, head: &str| {
        let checks = checks(schemas, item, name, &Checked::variable("item"));
        wrapped(&format!("{head} {borrowed}"), &checks)
    };
    match ty {
        Ty::Text { min, max, .. } if min.is_some() || max.is_some() => {
            let range = range(*min, *max);
            format!("check.length({name:?}, {optional}, {range})?;\n")
        }
        Ty::Integer { min, max } if min.is_some() || max.is_some() => {
            let min = min.map_or("i64::MIN".to_owned(), |min| min.to_string());
            let max = limit("i64", *max);
            format!("check.integer({name:?}, {value}, {min}, {max})?;\n")
        }
        Ty::Array { items, min, max } => {
            let mut code = String::new();
            if min.is_some() || max.is_some() {
                let (list, range) = (borrowed.trim_start_matches('&'), range(*min, *max));
                let _ = writeln!(code, "check.items({name:?}, {list}.len(), {range})?;");
            }
            code + &if has_rules(schemas, items) {
                validate
            } else {
                item(items, "for item in")
            }
        }
        Ty::Map(values) if has_rules(schemas, values) => validate,
        Ty::Map(values) => item(values, "for (_, item) in"),
        Ty::Nullable(inner) => item(inner, "if let Some(item) ="),
        Ty::Timestamp | Ty::Date => format!("check.rfc3339({name:?}, {optional})?;\n"),
        Ty::Named(component) => match schemas.kind(ty) {
            Some(Kind::Enum { closed: true, .. }) => {
                format!("check.known({name:?}, Some({text}), {component}::KNOWN)?;\n")
            }
            Some(Kind::Reference(_)) => {
                format!("check.pattern({name:?}, {text}, &{component}::FORM)?;\n")
            }
            Some(Kind::Constant(constant)) => {
                format!("check.known({name:?}, {optional}, &[{constant:?}])?;\n")
            }
            Some(Kind::Struct(_) | Kind::Union { .. }) => validate,
            _ => String::new(),
        },
        _ => String::new(),
    }
}

pub(super) fn if_set(field: &str, code: &str) -> String {
    wrapped(&format!("if let Some(value) = &self.{field}"), code)
}

/// Code in a block, or nothing if the code is empty.
fn wrapped(head: &str, code: &str) -> String {
    if code.is_empty() {
        return String::new();
    }
    format!("{head} {{\n{code}}}\n")
}

/// Whether values of a type implement `Validate`.
pub(super) fn has_rules(schemas: &Schemas, ty: &Ty) -> bool {
    matches!(schemas.kind(ty), Some(Kind::Struct(_) | Kind::Union { .. }))
}
