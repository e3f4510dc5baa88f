//! The parts of `types.rs` that only types of requests have: constructors, setters and checks.

use std::fmt::{Display, Write as _};

use super::schema::{Kind, Schemas, Shape, Use};
use super::spec::Spec;
use super::types::{Field, Object};
use super::{docs, rust};

/// Writes them for one struct.
pub(crate) fn write(spec: &Spec, object: &Object<'_>) -> String {
    let name = &object.component.name;
    let mut code = format!("impl {name} {{\n{}", constructor(spec, object));
    let optional = object
        .fields
        .iter()
        .filter(|field| !field.property.required);
    code.extend(optional.map(|field| setter(spec, field)));
    code.push_str(MEMBER);
    code.push_str("}\n\n");
    let checks = object.fields.iter();
    let checks: String = checks.map(|field| member(&spec.schemas, field)).collect();
    let constants = object.constants.iter().map(|(member, _)| *member);
    let fields = object.fields.iter().map(|field| &*field.property.name);
    let known: Vec<&str> = constants.chain(fields).collect();
    let _ = writeln!(
        code,
        "impl Validate for {name} {{\n\
         fn validate(&self, check: &Check<'_>) -> Result<(), Error> {{\n{checks}\
         check.extra(&self.extra, &{known:?})\n}}\n}}\n"
    );
    code
}

/// The setter for members that the contract does not show.
const MEMBER: &str = "\
/// Sets a member that the contract does not show, such as the record that a command is about.
///
/// One that has a method of its own is set by that. Only an explicit null, `RawJson::null()`, can be set here for an
/// optional one.
#[must_use]
pub fn member(mut self, name: impl Into<String>, value: impl Into<RawJson>) -> Self {
self.extra.insert(name, value);
self
}
";

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
    matches!(schemas.kind(shape), Some(Kind::Reference(_)))
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
    let (name, property) = (field.ident(), field.property);
    let argument = argument(spec, field);
    let docs = docs::comment(&docs::described(&property.name, &property.value, ""));
    format!(
        "{docs}#[must_use]\npub fn {name}(mut self, {name}: {}) -> Self {{\nself.{name} = Some({});\nself\n}}\n\n",
        argument.ty, argument.value
    )
}

/// The checks of one member.
fn member(schemas: &Schemas, field: &Field<'_>) -> String {
    let (member, value) = (&field.property.name, &field.property.value);
    let name = field.ident();
    if field.is_option() {
        let checks = checks(schemas, value, member, "value");
        if checks.is_empty() {
            String::new()
        } else {
            format!("if let Some(value) = &self.{name} {{\n{checks}}}\n")
        }
    } else {
        checks(schemas, value, member, &format!("self.{name}"))
    }
}

/// The checks of a member's value, given as a place expression.
fn checks(schemas: &Schemas, value: &Use, member: &str, place: &str) -> String {
    if value.shape == Shape::Record {
        let borrowed = if place.starts_with("self.") { "&" } else { "" };
        return format!(
            "check.object({member:?}, {borrowed}{place}, {})?;\n",
            value.nullable
        );
    }
    shape_checks(schemas, &value.shape, member, place)
}

fn shape_checks(schemas: &Schemas, shape: &Shape, member: &str, place: &str) -> String {
    let own = place.starts_with("self.");
    let borrowed = format!("{}{place}", if own { "&" } else { "" });
    match shape {
        Shape::Text { min, max, .. } if min.is_some() || max.is_some() => {
            let (min, max) = (min.unwrap_or(0), limit("usize", *max));
            format!("check.length({member:?}, Some({borrowed}), {min}, {max})?;\n")
        }
        Shape::Integer { min, max } if min.is_some() || max.is_some() => {
            let min = min.map_or("i64::MIN".to_owned(), |min| min.to_string());
            let (star, max) = (if own { "" } else { "*" }, limit("i64", *max));
            format!("check.integer({member:?}, {star}{place}, {min}, {max})?;\n")
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
            let inner = shape_checks(schemas, items, member, "item");
            if !inner.is_empty() {
                let _ = writeln!(code, "for item in {borrowed} {{\n{inner}}}");
            }
            code
        }
        Shape::Timestamp | Shape::Date => {
            format!("check.rfc3339({member:?}, Some({borrowed}))?;\n")
        }
        shape => match schemas.kind(shape) {
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
pub(crate) fn limit(ty: &str, max: Option<impl Display>) -> String {
    max.map_or_else(|| format!("{ty}::MAX"), |max| max.to_string())
}
