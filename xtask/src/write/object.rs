//! A struct of the client, with its fields, serialization and deserialization. Structs that occur in requests also have a
//! constructor, setters and checks.

use std::fmt::Write as _;

use crate::model::{Component, Kind, Property, Reach, Schemas, Spec, Ty};

use super::text::comment;
use super::{checks, docs, rust};

pub(super) struct Object<'a> {
    name: &'a str,
    /// Whether it occurs in requests.
    is_input: bool,
    /// Constants of the JSON that the struct does not store. Only types that occur in no response have them.
    constants: Vec<(&'a str, &'a str)>,
    fields: Vec<&'a Property>,
}

impl<'a> Object<'a> {
    pub(super) fn new(spec: &'a Spec, reach: &Reach, component: &'a Component) -> Self {
        let name = &*component.name;
        let is_input = reach.requests.contains(name);
        // A response may have another constant, which must be preserved.
        let states = is_input && !reach.replies.contains(name);
        // A variant of a union always needs its tag.
        let is_tag = |property: &Property| {
            let mut components = spec.schemas.components.values();
            components.any(|it| match &it.kind {
                Kind::Union { tag, variants } => {
                    *tag == property.name && variants.iter().any(|it| it.component == name)
                }
                _ => false,
            })
        };
        let (mut constants, mut fields) = (Vec::new(), Vec::new());
        for property in component.members() {
            match spec.schemas.constant(&property.value.ty) {
                Some(value) if states && (property.required || is_tag(property)) => {
                    constants.push((&*property.name, value));
                }
                _ => fields.push(property),
            }
        }
        Self {
            name,
            is_input,
            constants,
            fields,
        }
    }

    /// Whether a value with no field set makes sense.
    fn has_default(&self) -> bool {
        self.is_input && self.fields.iter().all(|field| field.is_option())
    }

    fn optional(&self) -> impl Iterator<Item = &Property> {
        let optional = self.fields.iter().filter(|field| !field.required);
        optional.copied()
    }

    /// The struct without its docs, and its impls.
    pub(super) fn write(&self, schemas: &Schemas) -> String {
        let name = self.name;
        // If a known field is secret, unknown fields may be secret too.
        let is_redacted = self.fields.iter().any(|it| it.value.ty.is_secret());
        let debug = if is_redacted { "" } else { " Debug," };
        let default = if self.has_default() { " Default," } else { "" };
        let (mut declared, mut described) = (String::new(), String::new());
        for field in &self.fields {
            let (ident, ty) = (&field.field, schemas.field(field));
            declared += &documented(schemas, field);
            let _ = writeln!(declared, "pub {ident}: {ty},");
            let kind = kind(schemas, field);
            let _ = writeln!(described, "    {ident}: {kind} {:?},", field.name);
        }
        let mut code = format!(
            "#[derive(Clone,{debug}{default} PartialEq)]\n#[non_exhaustive]\npub struct {name} {{\n{declared}\
             /// Undocumented fields, which are preserved and sent back unchanged.\npub extra: Members,\n}}\n\n\
             sdk_core::json_object!({name} {{\n{described}}}"
        );
        if !self.constants.is_empty() {
            code += " constants {\n";
            for (field, value) in &self.constants {
                let _ = writeln!(code, "    {field:?} = {value:?},");
            }
            code += "}";
        }
        code += ");\n\n";
        if is_redacted {
            code += &self.debug();
        }
        if self.is_input {
            code += &self.input(schemas);
        }
        code
    }

    /// `Debug` of a struct with a secret. `extra` may contain secrets too, so only its names are shown.
    fn debug(&self) -> String {
        let name = self.name;
        let field = |it: &&Property| format!(".field(\"{0}\", &self.{0})\n", it.field);
        let fields: String = self.fields.iter().map(field).collect();
        format!(
            "impl std::fmt::Debug for {name} {{\n\
             fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {{\n\
             let names: Vec<&str> = self.extra.iter().map(|(name, _)| name).collect();\n\
             f.debug_struct({name:?})\n{fields}.field(\"extra\", &names)\n.finish()\n}}\n}}\n\n"
        )
    }

    /// The parts that only types of requests have.
    fn input(&self, schemas: &Schemas) -> String {
        let name = self.name;
        let mut code = format!("impl {name} {{\n{}", self.constructor(schemas));
        for field in self.optional() {
            code += &documented(schemas, field);
            code += "#[must_use]\n";
            code += &argument(schemas, field).setter(&field.field);
        }
        code += &self.setter_of_extra();
        let checks = self.fields.iter();
        let checks: String = checks.map(|field| checks::field(schemas, field)).collect();
        let constants = self.constants.iter().map(|(field, _)| *field);
        let fields = self.fields.iter().map(|field| &*field.name);
        let known: Vec<&str> = constants.chain(fields).collect();
        let clearable: Vec<&str> = self.optional().map(|field| &*field.name).collect();
        let _ = writeln!(
            code,
            "}}\n\nimpl Validate for {name} {{\n\
             fn validate(&self, check: &Check<'_>) -> Result<(), Error> {{\n{checks}\
             check.extra(&self.extra, &{known:?}, &{clearable:?})\n}}\n}}\n"
        );
        code
    }

    fn constructor(&self, schemas: &Schemas) -> String {
        let (mut arguments, mut fields) = (Vec::new(), Vec::new());
        for field in &self.fields {
            let name = &field.field;
            fields.push(if !field.required {
                format!("{name}: None")
            } else if field.is_option() {
                let ty = schemas.rust(&field.value.ty);
                arguments.push(format!("{name}: Option<{ty}>"));
                if field.boxed {
                    format!("{name}: {name}.map(Box::new)")
                } else {
                    name.clone()
                }
            } else if let Some(constant) = schemas.constant(&field.value.ty) {
                format!("{name}: {constant:?}.to_owned()")
            } else {
                let argument = argument(schemas, field);
                arguments.push(format!("{name}: {}", argument.ty));
                argument.field(name)
            });
        }
        let (docs, body) = if arguments.is_empty() && self.has_default() {
            (
                "Creates a value with no field set.",
                "Self::default()".to_owned(),
            )
        } else {
            fields.push("extra: Members::new()".to_owned());
            let body = format!("Self {{ {} }}", fields.join(", "));
            ("Creates a value with the required fields.", body)
        };
        format!(
            "/// {docs}\n#[must_use]\npub fn new({}) -> Self {{\n{body}\n}}\n\n",
            arguments.join(", ")
        )
    }

    /// The setter for undocumented fields. An explicit null replaces the value that was set before.
    fn setter_of_extra(&self) -> String {
        let clear = |it: &Property| format!("{:?} => self.{} = None,\n", it.name, it.field);
        let mut clears: String = self.optional().map(clear).collect();
        if !clears.is_empty() {
            clears = format!(
                "if value.is_null() {{\nmatch name.as_str() {{\n{clears}_ => {{}}\n}}\n}}\n"
            );
        }
        format!(
            "/// Sets an undocumented field, such as the record that a command changes.\n\
             ///\n\
             /// A field that has its own method can't be set here, with one exception: `RawJson::null()` clears an optional field\n\
             /// and sends an explicit null.\n\
             #[must_use]\n\
             pub fn member(mut self, name: impl Into<String>, value: impl Into<RawJson>) -> Self {{\n\
             let (name, value) = (name.into(), value.into());\n{clears}self.extra.insert(name, value);\nself\n}}\n"
        )
    }
}

fn documented(schemas: &Schemas, field: &Property) -> String {
    comment(&docs::field(schemas, field)) + docs::deprecated(field.deprecated)
}

fn argument(schemas: &Schemas, field: &Property) -> rust::Argument {
    rust::argument(schemas, &field.value.ty, field.boxed, &field.field)
}

/// How `json_object!` reads and writes a field.
fn kind(schemas: &Schemas, field: &Property) -> String {
    let value = &field.value;
    // A schema version has its own check and its own error.
    let constant = schemas
        .constant(&value.ty)
        .filter(|_| field.name != "schemaVersion");
    let is_integer = matches!(value.ty, Ty::Integer { .. });
    match (field.required, value.nullable, constant) {
        (true, false, Some(constant)) => return format!("{constant:?}"),
        (true, false, None) if is_integer => "integral",
        (true, false, None) => "required",
        (true, true, _) => "nullable",
        (false, ..) if !value.type_assumptions.is_empty() => "assumed",
        // The bounds of `i64` are not bounds of the contract.
        (false, ..) if is_integer => "bounded",
        (false, ..) => "optional",
    }
    .to_owned()
}
