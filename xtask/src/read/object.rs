//! Objects, with their properties and additional properties.

use std::collections::BTreeSet;

use super::fields::Field;
use super::keywords::stated;
use super::reader::{Meaning, Reader, annotated, annotations};
use super::structure::{Leaf, follow};
use crate::findings::Weight;
use crate::model::taken::is_taken_field;
use crate::model::{Kind, Property, Ty, Use};
use crate::names;
use crate::node::{Node, step};

impl Reader<'_> {
    /// An object of one schema, or of the schemas that an `allOf` merges.
    pub(super) fn object(
        &mut self,
        schema: &Node,
        (leaves, fields): (&[Leaf], &[Field]),
        place: &str,
        name: &str,
        mut value: Use,
    ) -> Meaning {
        let mut required = BTreeSet::new();
        for Leaf { schema, place: at } in leaves {
            required.extend(schema.at("required").texts());
            let values = schema.at("additionalProperties");
            if values.members().next().is_some() {
                let rule = "additional properties with a type, which are preserved as raw JSON";
                self.findings.note(at, rule);
            }
            if schema.get("discriminator").is_some() {
                let rule = "a `discriminator` without `oneOf`, so the fields of its extensions are preserved in `extra`";
                self.findings.note(at, rule);
            }
            value.stated.extend(stated(schema, &Ty::Record, None));
            if at.starts_with(&step(place, "")) {
                // The siblings of references describe this use.
                self.keywords(schema, at);
                if value.description.is_empty() {
                    value.description = annotations(schema).description;
                }
            }
        }
        // Inherited schemas come first, so that their inline types are named after them.
        let root = self.root;
        for reference in schema.at("allOf").items().iter().chain([schema]) {
            let target = reference.text_at("$ref").and_then(|it| follow(root, it));
            if let Some((place, target)) = target
                && self.entries.contains_key(&place)
            {
                self.component(&place, target);
            }
        }
        let kind = self.structure(fields, &required, place, name);
        Meaning {
            place: Some(place.to_owned()),
            ..Meaning::of(value, kind)
        }
    }

    pub(super) fn map(
        &mut self,
        values: &Node,
        place: &str,
        name: &str,
        stated: &mut Vec<String>,
    ) -> Ty {
        let mut values = self.used(values, place, &format!("{name}Value"));
        stated.extend(values.of_each("value"));
        Ty::Map(Box::new(values.within()))
    }

    /// The fields of an object, with the results of progenitor.
    fn structure(
        &mut self,
        fields: &[Field],
        required: &BTreeSet<String>,
        place: &str,
        name: &str,
    ) -> Kind {
        for missing in required {
            if fields.iter().all(|it| it.name != *missing) {
                let rule = format!("it requires `{missing}`, which is not one of its properties");
                self.findings
                    .note(place, format!("{rule}, so it is preserved in `extra`"));
            }
        }
        let merged = self.objects.get(place).cloned().unwrap_or_default();
        let mut names = BTreeSet::new();
        let mut properties = Vec::new();
        for field in fields {
            let found = merged.get(&field.name);
            if let Some(rule) = &field.odd {
                self.raw(&step(&step(place, "properties"), &field.name), rule);
            }
            if let Some(found) = found {
                self.keep_merged(&found.found, &field.place);
            }
            let hint = format!("{name}{}", names::pascal(&field.name));
            let mut value = self.used(&field.schema, &field.place, &hint);
            for around in &field.around {
                value = annotated(value, around);
            }
            let is_required =
                found.map_or_else(|| required.contains(&field.name), |it| it.required);
            value.nullable = found.is_none_or(|it| it.nullable);
            if is_required && !value.type_assumptions.is_empty() {
                let rule = format!(
                    "property `{}`: with an assumed type, it must be optional, because a value of another type is read as absent",
                    field.name
                );
                self.reject(place, &rule);
            }
            let schemas = || field.around.iter().chain([&field.schema]);
            properties.push(Property {
                name: field.name.clone(),
                field: self.name_of(&field.name, is_taken_field, &field.place, &mut names),
                required: is_required,
                deprecated: schemas().any(|it| self.flag(it, "deprecated")),
                read_only: schemas().any(|it| self.flag(it, "readOnly")),
                write_only: schemas().any(|it| self.flag(it, "writeOnly")),
                value,
                boxed: false,
            });
        }
        Kind::Struct(properties)
    }

    /// The name of a field, an argument or a setter, which differs from the others and from names in generated code.
    pub(super) fn name_of(
        &mut self,
        name: &str,
        is_reserved: fn(&str) -> bool,
        place: &str,
        others: &mut BTreeSet<String>,
    ) -> String {
        let wanted = names::snake(name);
        let plain = wanted.trim_end_matches('_');
        let reserved = if is_reserved(&wanted) { "_" } else { "" };
        let is_taken = |it: &str| others.contains(it);
        let found = names::free(&format!("{wanted}{reserved}"), is_taken, |next| {
            format!("{plain}_{next}")
        });
        others.insert(found.clone());
        if found != wanted {
            let rule = format!("`{name}` becomes `{found}`");
            self.findings.add(Weight::Renamed, place, rule, "");
        }
        found
    }

    /// Whether a schema, or the target of its reference, sets a flag.
    pub(super) fn flag(&self, schema: &Node, key: &str) -> bool {
        let is_set = |schema: &Node| {
            schema.is_set(key)
                || schema
                    .text_at("$ref")
                    .and_then(|reference| follow(self.root, reference))
                    .is_some_and(|(_, target)| target.is_set(key))
        };
        is_set(schema) || schema.at("allOf").items().iter().any(is_set)
    }
}
