//! The checks of a body's members, as code.

use std::fmt::Write as _;

use crate::model::{Kind, Property, Schemas, Ty};

use super::rust::limit;

/// A value that is checked: as an expression, and borrowed.
struct Place {
    value: String,
    borrowed: String,
}

impl Place {
    /// What it is on the wire, where that is a string.
    fn text(&self) -> String {
        format!("{}.as_str()", self.value.trim_start_matches('*'))
    }

    /// A variable that holds a borrow.
    fn of(variable: &str) -> Self {
        Self {
            value: format!("*{variable}"),
            borrowed: variable.to_owned(),
        }
    }
}

/// The checks of one member.
pub(super) fn field(schemas: &Schemas, property: &Property) -> String {
    let (member, value, field) = (&property.name, &property.value, &property.field);
    let mut place = if property.is_option() {
        Place::of("value")
    } else {
        Place {
            value: format!("self.{field}"),
            borrowed: format!("&self.{field}"),
        }
    };
    if property.boxed {
        place.borrowed = format!("&*{}", place.value);
    }
    let checks = if value.ty == Ty::Record {
        let (nullable, borrowed) = (value.nullable, &place.borrowed);
        format!("check.object({member:?}, {borrowed}, {nullable})?;\n")
    } else {
        checks(schemas, &value.ty, member, &place)
    };
    if checks.is_empty() || !property.is_option() {
        return checks;
    }
    format!("if let Some(value) = &self.{field} {{\n{checks}}}\n")
}

/// The checks of an item of a list, in the variable `item`.
pub(super) fn item(schemas: &Schemas, items: &Ty, name: &str) -> String {
    checks(schemas, items, name, &Place::of("item"))
}

fn checks(schemas: &Schemas, ty: &Ty, member: &str, place: &Place) -> String {
    let Place { value, borrowed } = place;
    let each = |items: &Ty, head: &str| {
        let inner = checks(schemas, items, member, &Place::of("item"));
        if inner.is_empty() {
            return inner;
        }
        format!("{head} {borrowed} {{\n{inner}}}\n")
    };
    let validate = format!("Validate::validate({borrowed}, &check.member({member:?}))?;\n");
    match ty {
        Ty::Text { min, max, .. } if min.is_some() || max.is_some() => {
            let (min, max) = (min.unwrap_or(0), limit("usize", *max));
            format!("check.length({member:?}, Some({borrowed}), {min}, {max})?;\n")
        }
        Ty::Integer { min, max } if min.is_some() || max.is_some() => {
            let min = min.map_or("i64::MIN".to_owned(), |min| min.to_string());
            let max = limit("i64", *max);
            format!("check.integer({member:?}, {value}, {min}, {max})?;\n")
        }
        Ty::Array { items, min, max } => {
            let mut code = String::new();
            if min.is_some() || max.is_some() {
                let list = borrowed.trim_start_matches('&');
                let (min, max) = (min.unwrap_or(0), limit("usize", *max));
                let _ = writeln!(
                    code,
                    "check.items({member:?}, {list}.len(), {min}, {max})?;"
                );
            }
            if has_rules(schemas, items) {
                return code + &validate;
            }
            code + &each(items, "for item in")
        }
        Ty::Map(values) if has_rules(schemas, values) => validate,
        Ty::Map(values) => each(values, "for (_, item) in"),
        Ty::Nullable(inner) => each(inner, "if let Some(item) ="),
        Ty::Timestamp | Ty::Date => {
            format!("check.rfc3339({member:?}, Some({borrowed}))?;\n")
        }
        ty => match schemas.kind(ty) {
            Some(Kind::Enum { closed: true, .. }) => {
                let (text, name) = (place.text(), ty.name().map_or("", String::as_str));
                format!("check.known({member:?}, Some({text}), {name}::KNOWN)?;\n")
            }
            Some(Kind::Reference(_)) => {
                let (text, name) = (place.text(), ty.name().map_or("", String::as_str));
                format!("check.pattern({member:?}, {text}, &{name}::FORM)?;\n")
            }
            Some(Kind::Constant(constant)) => {
                format!("check.known({member:?}, Some({borrowed}), &[{constant:?}])?;\n")
            }
            _ if has_rules(schemas, ty) => validate,
            _ => String::new(),
        },
    }
}

/// Whether values of a type check themselves.
pub(super) fn has_rules(schemas: &Schemas, ty: &Ty) -> bool {
    matches!(schemas.kind(ty), Some(Kind::Struct(_) | Kind::Union { .. }))
}
