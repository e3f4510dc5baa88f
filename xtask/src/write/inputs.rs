//! The parts of `types.rs` that only types of requests have: constructors, setters and checks.

use std::fmt::Write as _;

use crate::model::{Property, Schemas};

use super::object::Object;
use super::text::comment;
use super::{checks, docs, rust};

/// Writes them for one struct.
pub(super) fn write(schemas: &Schemas, object: &Object<'_>) -> String {
    let name = &object.component.name;
    let mut code = format!("impl {name} {{\n{}", constructor(schemas, object));
    let optional = object.fields.iter().filter(|field| !field.required);
    code.extend(optional.map(|field| setter(schemas, field)));
    code.push_str(&member(object));
    code.push_str("}\n\n");
    let checks = object.fields.iter();
    let checks: String = checks.map(|field| checks::member(schemas, field)).collect();
    let constants = object.constants.iter().map(|(member, _)| *member);
    let fields = object.fields.iter().map(|field| &*field.name);
    let known: Vec<&str> = constants.chain(fields).collect();
    let optional = object.fields.iter().filter(|field| !field.required);
    let clearable: Vec<&str> = optional.map(|field| &*field.name).collect();
    let _ = writeln!(
        code,
        "impl Validate for {name} {{\n\
         fn validate(&self, check: &Check<'_>) -> Result<(), Error> {{\n{checks}\
         check.extra(&self.extra, &{known:?}, &{clearable:?})\n}}\n}}\n"
    );
    code
}

/// The setter for members that the contract does not show. An explicit null takes the place of what was set before.
fn member(object: &Object<'_>) -> String {
    let optional = object.fields.iter().filter(|field| !field.required);
    let cleared =
        optional.map(|field| format!("{:?} => self.{} = None,\n", field.name, field.field));
    let cleared: String = cleared.collect();
    let clears = if cleared.is_empty() {
        String::new()
    } else {
        format!("if value.is_null() {{\nmatch name.as_str() {{\n{cleared}_ => {{}}\n}}\n}}\n")
    };
    format!(
        "/// Sets a member that the contract does not show, such as the record that a command is about.\n\
         ///\n\
         /// One that has a method of its own is set by that. Only an explicit null, `RawJson::null()`, can be set here for an\n\
         /// optional one, which it clears.\n\
         #[must_use]\n\
         pub fn member(mut self, name: impl Into<String>, value: impl Into<RawJson>) -> Self {{\n\
         let (name, value) = (name.into(), value.into());\n{clears}self.extra.insert(name, value);\nself\n}}\n"
    )
}

fn argument(schemas: &Schemas, field: &Property) -> rust::Argument {
    rust::argument(schemas, &field.value.ty, field.boxed, &field.field)
}

fn constructor(schemas: &Schemas, object: &Object<'_>) -> String {
    let (mut arguments, mut members) = (Vec::new(), Vec::new());
    for field in &object.fields {
        let name = &field.field;
        let constant = schemas.constant(&field.value.ty);
        if !field.required {
            members.push(format!("{name}: None"));
        } else if let Some(constant) = constant {
            let value = format!("{constant:?}.to_owned()");
            members.push(if field.is_option() {
                format!("{name}: Some({value})")
            } else {
                format!("{name}: {value}")
            });
        } else if field.is_option() {
            let ty = schemas.rust(&field.value.ty);
            arguments.push(format!("{name}: Option<{ty}>"));
            members.push(if field.boxed {
                format!("{name}: {name}.map(Box::new)")
            } else {
                name.clone()
            });
        } else {
            let argument = argument(schemas, field);
            arguments.push(format!("{name}: {}", argument.ty));
            members.push(argument.field(name));
        }
    }
    let (docs, body) = if arguments.is_empty() && object.has_default() {
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

fn setter(schemas: &Schemas, field: &Property) -> String {
    let name = &field.field;
    let argument = argument(schemas, field);
    format!(
        "{}{}#[must_use]\npub fn {name}(mut self, {name}: {}) -> Self {{\nself.{name} = Some({});\nself\n}}\n\n",
        comment(&docs::field(schemas, field)),
        docs::deprecated(field.deprecated),
        argument.ty,
        argument.value
    )
}
