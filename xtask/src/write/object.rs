//! A struct of the client: which members become fields, and how it is written and read.

use std::fmt::Write as _;

use crate::model::{Component, Kind, Property, Reach, Schemas, Spec, Ty};

use super::text::comment;
use super::{docs, provenance};

/// A struct of the client.
pub(super) struct Object<'a> {
    pub(super) component: &'a Component,
    /// Whether it occurs in requests.
    pub(super) is_input: bool,
    /// Members that are stated instead of stored: the constants of what occurs in requests alone.
    pub(super) constants: Vec<(&'a str, &'a str)>,
    pub(super) fields: Vec<&'a Property>,
}

impl<'a> Object<'a> {
    pub(super) fn new(spec: &'a Spec, reach: &Reach, component: &'a Component) -> Self {
        let is_input = reach.requests.contains(&component.name);
        // A reply may bring another constant, which is kept.
        let states = is_input && !reach.replies.contains(&component.name);
        // The union that it is a variant of is nothing without its tag.
        let is_tag = |property: &Property| {
            spec.schemas.components.values().any(|it| match &it.kind {
                Kind::Union { tag, variants } => {
                    *tag == property.name
                        && variants.iter().any(|it| it.component == component.name)
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
            component,
            is_input,
            constants,
            fields,
        }
    }

    /// Whether a value with no member set makes sense.
    pub(super) fn has_default(&self) -> bool {
        self.is_input && self.fields.iter().all(|field| field.is_option())
    }

    /// The struct with its traits.
    pub(super) fn write(&self, schemas: &Schemas) -> String {
        let Component { name, .. } = self.component;
        // Unknown members may be secret where known ones are.
        let redacted = self.fields.iter().any(|it| it.value.ty.is_secret());
        let derives = match (redacted, self.has_default()) {
            (false, true) => "Clone, Debug, Default, PartialEq",
            (false, false) => "Clone, Debug, PartialEq",
            (true, true) => "Clone, Default, PartialEq",
            (true, false) => "Clone, PartialEq",
        };
        let mut code = comment(&provenance::described(self.component));
        let _ = writeln!(
            code,
            "#[derive({derives})]\n#[non_exhaustive]\npub struct {name} {{"
        );
        let mut description = format!("sdk_core::json_object!({name} {{\n");
        for field in &self.fields {
            let (ident, ty) = (&field.field, schemas.field(field));
            code.push_str(&comment(&docs::field(schemas, field)));
            code.push_str(docs::deprecated(field.deprecated));
            let _ = writeln!(code, "pub {ident}: {ty},");
            let (kind, member) = (kind(schemas, field), &field.name);
            let _ = writeln!(description, "    {ident}: {kind} {member:?},");
        }
        code.push_str("/// Members that the contract does not show, kept and written back unchanged.\npub extra: Members,\n}\n\n");
        code.push_str(&description);
        code.push('}');
        if !self.constants.is_empty() {
            code.push_str(" constants {\n");
            for (member, value) in &self.constants {
                let _ = writeln!(code, "    {member:?} = {value:?},");
            }
            code.push('}');
        }
        code.push_str(");\n\n");
        if redacted {
            code.push_str(&self.debug());
        }
        code
    }

    /// `Debug` of a struct with a secret. `extra` may hold another one, so only its names are shown.
    fn debug(&self) -> String {
        let name = &self.component.name;
        let mut fields = String::new();
        for Property { field, .. } in &self.fields {
            let _ = writeln!(fields, ".field(\"{field}\", &self.{field})");
        }
        format!(
            "impl std::fmt::Debug for {name} {{\n\
             fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {{\n\
             let names: Vec<&str> = self.extra.iter().map(|(name, _)| name).collect();\n\
             f.debug_struct({name:?})\n{fields}.field(\"extra\", &names)\n.finish()\n}}\n}}\n\n"
        )
    }
}

/// How `json_object!` reads and writes a member.
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
        // The contract does not state the bounds of `i64`.
        (false, ..) if is_integer => "bounded",
        (false, ..) => "optional",
    }
    .to_owned()
}
