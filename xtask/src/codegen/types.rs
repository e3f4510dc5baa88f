//! `types.rs` of a client: its structs, enumerations and references.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use syn::ItemStruct;

use super::pattern::Pattern;
use super::reach::Reach;
use super::schema::{Component, Kind, Property};
use super::spec::Spec;
use super::view::Generated;
use super::{Result, docs, inputs, names, provenance, rust};

/// A member that becomes a field.
pub(crate) struct Field<'a> {
    pub(crate) property: &'a Property,
    /// Its type without the `Option` that an optional or nullable member has.
    pub(crate) ty: String,
}

impl Field<'_> {
    /// Its name.
    pub(crate) fn ident(&self) -> &str {
        &self.property.field
    }

    /// Whether the field is an `Option`.
    pub(crate) fn is_option(&self) -> bool {
        !self.property.required || self.property.value.nullable
    }

    pub(crate) fn full_type(&self) -> String {
        if self.is_option() {
            format!("Option<{}>", self.ty)
        } else {
            self.ty.clone()
        }
    }
}

/// A struct of the client.
pub(crate) struct Object<'a> {
    pub(crate) component: &'a Component,
    /// Whether it occurs in requests, where constants are stated instead of stored.
    pub(crate) is_input: bool,
    pub(crate) constants: Vec<(&'a str, &'a str)>,
    pub(crate) fields: Vec<Field<'a>>,
}

/// Writes the file.
pub(crate) fn write(spec: &Spec, reach: &Reach, generated: &Generated) -> Result<String> {
    let mut code = String::new();
    for component in spec
        .schemas
        .components
        .values()
        .filter(|component| reach.contains(&component.name))
    {
        let name = &component.name;
        let item = match &component.kind {
            Kind::Struct(properties) => {
                let object = object(spec, reach, generated, component, properties)
                    .map_err(|rule| format!("schema `{name}`: {rule}"))?;
                structure(spec, reach, &object)
            }
            Kind::Enum { values, closed } => enumeration(component, values, *closed)
                .map_err(|rule| format!("schema `{name}`: {rule}"))?,
            Kind::Reference(pattern) => {
                let pattern =
                    Pattern::compile(pattern).map_err(|rule| format!("schema `{name}`: {rule}"))?;
                let docs = docs::comment(&format!(
                    "{}\n\nIts form is `{}`.\n\n{}",
                    docs::prose(&component.description),
                    pattern.source(),
                    provenance::component(component)
                ));
                format!(
                    "sdk_core::reference! {{\n{}    pub struct {name} = {};\n}}\n\n",
                    indented(&docs),
                    pattern.to_rust()
                )
            }
            Kind::Constant(_) | Kind::Plain => continue,
        };
        code.push_str(&item);
    }
    Ok(format!(
        "//! What the operations send and return.\n\n{}\n{code}",
        rust::imports(&code, [])
    ))
}

/// The fields of a struct: the types from progenitor, the order and the rest from the spec.
fn object<'a>(
    spec: &'a Spec,
    reach: &Reach,
    generated: &Generated,
    component: &'a Component,
    properties: &'a [Property],
) -> Result<Object<'a>> {
    let item = generated
        .structs
        .iter()
        .find(|item| item.ident == component.name)
        .ok_or("progenitor made no struct of it")?;
    if item.fields.len() != properties.len() {
        return Err(format!(
            "progenitor made {} fields of {} members",
            item.fields.len(),
            properties.len()
        ));
    }
    let is_input = reach.requests.contains(&component.name);
    let (mut constants, mut fields) = (Vec::new(), Vec::new());
    for property in properties {
        let ty = field_type(item, property)?;
        match spec.schemas.constant(&property.value.shape) {
            Some(value) if is_input => constants.push((&*property.name, value)),
            _ => fields.push(Field { property, ty }),
        }
    }
    Ok(Object {
        component,
        is_input,
        constants,
        fields,
    })
}

fn field_type(item: &ItemStruct, property: &Property) -> Result<String> {
    let field = item.fields.iter().find(|field| {
        field
            .ident
            .as_ref()
            .is_some_and(|ident| *ident == property.field)
    });
    let field = field.ok_or_else(|| {
        format!(
            "progenitor has no field `{}` for member `{}`",
            property.field, property.name
        )
    })?;
    rust::render(&field.ty)
}

fn structure(spec: &Spec, reach: &Reach, object: &Object<'_>) -> String {
    let Component {
        name, description, ..
    } = object.component;
    let defaults = object.is_input && object.fields.iter().all(Field::is_option);
    // Unknown members may be secret where known ones are.
    let redacted = object
        .fields
        .iter()
        .any(|field| field.ty.contains("Secret"));
    let derives = match (redacted, defaults) {
        (false, true) => "Clone, Debug, Default, PartialEq",
        (false, false) => "Clone, Debug, PartialEq",
        (true, true) => "Clone, Default, PartialEq",
        (true, false) => "Clone, PartialEq",
    };
    let mut code = docs::comment(&format!(
        "{}\n\n{}",
        docs::prose(description),
        provenance::component(object.component)
    ));
    let _ = writeln!(
        code,
        "#[derive({derives})]\n#[non_exhaustive]\npub struct {name} {{"
    );
    let mut description = format!("sdk_core::json_object!({name} {{\n");
    for field in &object.fields {
        let Property {
            name: member,
            value,
            ..
        } = field.property;
        code.push_str(&docs::comment(&docs::described(member, value, "")));
        let _ = writeln!(code, "pub {}: {},", field.ident(), field.full_type());
        // A schema version has its own check and its own error.
        let constant = spec
            .schemas
            .constant(&value.shape)
            .filter(|_| member != "schemaVersion")
            .map(|constant| format!("{constant:?}"));
        let kind = match (field.property.required, value.nullable) {
            (true, false) => constant.as_deref().unwrap_or("required"),
            (true, true) => "nullable",
            (false, _) if !value.type_assumptions.is_empty() => "assumed",
            // The contract does not state the bounds of `i64`.
            (false, _) if field.ty == "i64" => "bounded",
            (false, _) => "optional",
        };
        let _ = writeln!(description, "    {}: {kind} {member:?},", field.ident());
    }
    code.push_str("/// Members that the contract does not show, kept and written back unchanged.\npub extra: Members,\n}\n\n");
    code.push_str(&description);
    code.push('}');
    if !object.constants.is_empty() {
        code.push_str(" constants {\n");
        for (member, value) in &object.constants {
            let _ = writeln!(code, "    {member:?} = {value:?},");
        }
        code.push('}');
    }
    code.push_str(");\n\n");
    if redacted {
        let fields: Vec<&str> = object.fields.iter().map(Field::ident).collect();
        let _ = write!(
            code,
            "sdk_core::redacted_debug!({name} {{ {} }});\n\n",
            fields.join(", ")
        );
    }
    if object.is_input {
        code.push_str(&inputs::write(spec, object));
    }
    if reach.whole_replies.contains(name) {
        code.push_str(&reply(object));
    }
    code
}

fn reply(object: &Object<'_>) -> String {
    let version = object
        .fields
        .iter()
        .find(|field| field.property.name == "schemaVersion" && field.ty == "String");
    let body = version.map(|field| {
        let value = if field.is_option() {
            "self.schema_version.as_deref()"
        } else {
            "Some(&self.schema_version)"
        };
        format!("fn schema_version(&self) -> Option<&str> {{ {value} }}")
    });
    format!(
        "impl FromReply for {} {{ {} }}\n\n",
        object.component.name,
        body.unwrap_or_default()
    )
}

fn enumeration(component: &Component, values: &[String], closed: bool) -> Result<String> {
    let Component {
        name, description, ..
    } = component;
    let mut variants = BTreeSet::from(["Unknown".to_owned()]);
    let set = if closed { "closed" } else { "open" };
    let docs = docs::comment(&format!(
        "{}\n\n{}",
        docs::prose(description),
        provenance::component(component)
    ));
    let mut code = format!(
        "sdk_core::open_enum! {{\n    {set}\n{}    pub enum {name} {{\n",
        indented(&docs)
    );
    for value in values {
        let variant = names::pascal(value);
        if !names::is_pascal(&variant) {
            return Err(format!("its value `{value}` gives no name of a variant"));
        }
        let _ = writeln!(
            code,
            "        /// `{value}`.\n        {variant} = {value:?},"
        );
        if !variants.insert(variant) {
            return Err(format!(
                "its value `{value}` gives a variant that already exists"
            ));
        }
    }
    Ok(code + "    }\n}\n\n")
}

/// Indents a macro body, which rustfmt does not touch.
fn indented(text: &str) -> String {
    text.lines().flat_map(|line| ["    ", line, "\n"]).collect()
}
