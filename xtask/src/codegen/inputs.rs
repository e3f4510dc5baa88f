//! The parts of `types.rs` that only types of requests have: constructors, setters and checks.

use std::fmt::Write as _;

use super::schema::{Kind, Property, Schemas, Shape};
use super::spec::Spec;
use super::types::{Field, Object};
use super::{docs, rust};

/// Writes them for one struct.
pub(crate) fn write(spec: &Spec, object: &Object<'_>) -> String {
    let name = &object.component.name;
    let mut code = format!("impl {name} {{\n{}", constructor(spec, object));
    for field in object
        .fields
        .iter()
        .filter(|field| !field.property.required)
    {
        code.push_str(&setter(spec, field));
    }
    code.push_str("}\n\n");
    let checks: String = object
        .fields
        .iter()
        .map(|field| member(&spec.schemas, field))
        .collect();
    let check = if checks.contains("check") {
        "check"
    } else {
        "_check"
    };
    let _ = writeln!(
        code,
        "impl Validate for {name} {{\n\
         fn validate(&self, {check}: &Check<'_>) -> Result<(), Error> {{\n{checks}Ok(())\n}}\n}}\n"
    );
    code
}

fn argument(spec: &Spec, field: &Field<'_>) -> rust::Argument {
    let is_reference = |shape: &Shape| is_reference(&spec.schemas, shape);
    rust::argument(
        &field.property.value.shape,
        &is_reference,
        &field.ty,
        field.ident(),
    )
}

/// Whether values of a shape are references, which are made from text.
pub(crate) fn is_reference(schemas: &Schemas, shape: &Shape) -> bool {
    schemas
        .named(shape)
        .is_some_and(|component| matches!(component.kind, Kind::Reference(_)))
}

fn constructor(spec: &Spec, object: &Object<'_>) -> String {
    let (mut arguments, mut members) = (Vec::new(), Vec::new());
    for field in &object.fields {
        let name = field.ident();
        if !field.property.required {
            members.push(format!("{name}: None"));
        } else if field.is_option() {
            arguments.push(format!("{name}: Option<{}>", field.ty));
            members.push(name.to_owned());
        } else {
            let argument = argument(spec, field);
            arguments.push(format!("{name}: {}", argument.ty));
            members.push(if argument.value == name {
                argument.value
            } else {
                format!("{name}: {}", argument.value)
            });
        }
    }
    let (docs, body) = if arguments.is_empty() {
        ("With no member set.", "Self::default()".to_owned())
    } else {
        members.push("extra: Members::new()".to_owned());
        (
            "With the required members.",
            format!("Self {{ {} }}", members.join(", ")),
        )
    };
    format!(
        "/// {docs}\n#[must_use]\npub fn new({}) -> Self {{\n{body}\n}}\n\n",
        arguments.join(", ")
    )
}

fn setter(spec: &Spec, field: &Field<'_>) -> String {
    let (
        name,
        Property {
            name: member,
            value,
            ..
        },
    ) = (field.ident(), field.property);
    let argument = argument(spec, field);
    let docs = docs::comment(&docs::described(member, value, ""));
    format!(
        "{docs}#[must_use]\npub fn {name}(mut self, {name}: {}) -> Self {{\nself.{name} = Some({});\nself\n}}\n\n",
        argument.ty, argument.value
    )
}

/// The checks of one member.
fn member(schemas: &Schemas, field: &Field<'_>) -> String {
    let Property {
        name: member,
        value,
        ..
    } = field.property;
    let name = field.ident();
    if field.is_option() {
        let checks = checks(schemas, &value.shape, member, "value");
        if checks.is_empty() {
            String::new()
        } else {
            format!("if let Some(value) = &self.{name} {{\n{checks}}}\n")
        }
    } else {
        checks(schemas, &value.shape, member, &format!("self.{name}"))
    }
}

/// The checks of a value, given as a place expression.
fn checks(schemas: &Schemas, shape: &Shape, member: &str, place: &str) -> String {
    let borrowed = if place.starts_with("self.") {
        format!("&{place}")
    } else {
        place.to_owned()
    };
    match shape {
        Shape::Text { min, max, .. } if min.is_some() || max.is_some() => {
            let (min, max) = (min.unwrap_or(0), limit("usize", *max));
            format!("check.length({member:?}, Some({borrowed}), {min}, {max})?;\n")
        }
        Shape::Integer { min, max } if min.is_some() || max.is_some() => {
            let min = min.map_or("i64::MIN".to_owned(), |min| min.to_string());
            let max = max.map_or("i64::MAX".to_owned(), |max| max.to_string());
            let value = if place.starts_with("self.") {
                place.to_owned()
            } else {
                format!("*{place}")
            };
            format!("check.integer({member:?}, {value}, {min}, {max})?;\n")
        }
        Shape::Array { items, min, max } => {
            let mut code = String::new();
            if min.is_some() || max.is_some() {
                let (min, max) = (min.unwrap_or(0), limit("usize", *max));
                let _ = writeln!(
                    code,
                    "check.items({member:?}, {place}.len(), {min}, {max})?;"
                );
            }
            let inner = checks(schemas, items, member, "item");
            if !inner.is_empty() {
                let _ = writeln!(code, "for item in {borrowed} {{\n{inner}}}");
            }
            code
        }
        shape => match schemas.named(shape).map(|component| &component.kind) {
            Some(Kind::Enum { closed: true, .. }) => {
                format!("check.known({member:?}, Some({borrowed}))?;\n")
            }
            Some(Kind::Reference(_)) => format!("check.reference({member:?}, {borrowed})?;\n"),
            Some(Kind::Struct(_)) => {
                format!("Validate::validate({borrowed}, &check.member({member:?}))?;\n")
            }
            _ => String::new(),
        },
    }
}

/// An upper bound as Rust writes it.
pub(crate) fn limit(ty: &str, max: Option<u32>) -> String {
    max.map_or_else(|| format!("{ty}::MAX"), |max| max.to_string())
}
