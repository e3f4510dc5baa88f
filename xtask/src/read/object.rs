//! Objects: their members, and what may be in them besides.

use std::collections::BTreeSet;

use indexmap::IndexMap;

use super::form::both;
use super::keywords::stated;
use super::reader::{Meaning, Reader, annotations};
use super::structure::{Leaf, follow};
use crate::model::taken::is_taken_field;
use crate::model::{Kind, Property, Ty, Use};
use crate::names;
use crate::node::{Node, step};

/// A field as it is written.
struct Member {
    name: String,
    schema: Node,
    place: String,
}

impl Reader<'_> {
    /// An object of one schema, or of those that an `allOf` merges.
    pub(super) fn object(
        &mut self,
        schema: &Node,
        leaves: &[Leaf],
        place: &str,
        name: &str,
        mut value: Use,
    ) -> Meaning {
        let mut required = BTreeSet::new();
        for Leaf { schema, place: at } in leaves {
            if let Some(reference) = schema.text_at("$ref") {
                let rule = format!("`{reference}` refers to nothing in this document");
                self.refuse(at, &rule);
            }
            required.extend(schema.at("required").texts());
            let further = schema.at("additionalProperties");
            if further.members().next().is_some() {
                let rule = "further members of one type: they are kept as raw JSON";
                self.findings.note(at, rule);
            }
            if schema.get("discriminator").is_some() {
                let rule = "a `discriminator` without `oneOf`: the members of what extends it are kept in `extra`";
                self.findings.note(at, rule);
            }
            value.stated.extend(stated(schema, &Ty::Record, None));
            if at.starts_with(&step(place, "")) {
                // What stands beside the references is about this use of them.
                self.keywords(schema, at);
                if value.description.is_empty() {
                    value.description = annotations(schema).description;
                }
            }
        }
        // What is inherited has its names from there.
        let root = self.root;
        for reference in schema.at("allOf").items().iter().chain([schema]) {
            let target = reference.text_at("$ref").and_then(|it| follow(root, it));
            if let Some((place, target)) = target
                && self.entries.contains_key(&place)
            {
                self.component(&place, target);
            }
        }
        let members = self.members(leaves, place);
        let kind = self.structure(&members, &required, place, name);
        Meaning {
            place: Some(place.to_owned()),
            ..Meaning::of(value, kind)
        }
    }

    /// The fields in the order of the document, each once.
    fn members(&mut self, leaves: &[Leaf], place: &str) -> Vec<Member> {
        let mut members: IndexMap<String, Member> = IndexMap::new();
        for leaf in leaves {
            let properties = step(&leaf.place, "properties");
            for (name, schema) in leaf.schema.at("properties").members() {
                let Some(known) = members.get_mut(name) else {
                    let member = Member {
                        name: name.clone(),
                        schema: schema.clone(),
                        place: step(&properties, name),
                    };
                    members.insert(name.clone(), member);
                    continue;
                };
                if known.schema == *schema {
                    continue;
                }
                // What several schemas describe is one with all of them, at a place of its own.
                known.schema = both(&known.schema, schema);
                known.place = step(&step(place, "allOf"), name);
                let fields = self.objects.get(place);
                if let Some(field) = fields.and_then(|it| it.get(name)).cloned() {
                    self.keep_merged(&field.found, &known.place);
                }
            }
        }
        members.into_values().collect()
    }

    /// An object with values of one type under any name.
    pub(super) fn map(
        &mut self,
        values: &Node,
        place: &str,
        name: &str,
        stated: &mut Vec<String>,
    ) -> Ty {
        let values = self.used(values, place, &format!("{name}Value"));
        stated.extend(values.of_each("value"));
        Ty::Map(Box::new(values.within()))
    }

    /// The members of an object as fields.
    fn structure(
        &mut self,
        members: &[Member],
        required: &BTreeSet<String>,
        place: &str,
        name: &str,
    ) -> Kind {
        for missing in required {
            if members.iter().all(|member| member.name != *missing) {
                let rule = format!("it requires `{missing}`, which is not among its members");
                self.findings
                    .note(place, format!("{rule}: it is kept in `extra`"));
            }
        }
        let root = self.root;
        let merged = self.objects.get(place).cloned().unwrap_or_default();
        let mut fields = BTreeSet::new();
        let mut properties = Vec::new();
        for member in members {
            let hint = format!("{name}{}", names::pascal(&member.name));
            let field = merged.get(&member.name);
            // Unless several branches describe it, its schema stands where progenitor took it from.
            let source = field.and_then(|it| Some((root.pointer(&it.place)?, &it.place)));
            let source = source.filter(|(_, place)| !place.is_empty());
            let (schema, place_of) = source.unwrap_or((&member.schema, &member.place));
            let mut value = self.used(schema, place_of, &hint);
            let is_required = field.is_some_and(|it| it.required);
            value.nullable = field.is_none_or(|it| it.nullable);
            if is_required && !value.type_assumptions.is_empty() {
                let rule = format!(
                    "member `{}`: one of an assumed type must be optional, since another type is read as its absence",
                    member.name
                );
                self.refuse(place, &rule);
            }
            properties.push(Property {
                name: member.name.clone(),
                field: self.field(&member.name, place_of, &mut fields),
                required: is_required,
                deprecated: self.flag(schema, "deprecated"),
                read_only: self.flag(schema, "readOnly"),
                write_only: self.flag(schema, "writeOnly"),
                value,
                boxed: false,
            });
        }
        Kind::Struct(properties)
    }

    /// The name of the field of a member: unlike all others and all methods.
    fn field(&mut self, name: &str, place: &str, fields: &mut BTreeSet<String>) -> String {
        let mut field = names::snake(name);
        if is_taken_field(&field) {
            field.push('_');
        }
        let plain = field.trim_end_matches('_');
        let is_taken = |field: &str| fields.contains(field);
        let field = names::free(&field, is_taken, |next| format!("{plain}_{next}"));
        fields.insert(field.clone());
        if field.trim_end_matches('_') != names::snake(name).trim_end_matches('_') {
            let rule = format!("the field of the member `{name}` is `{field}`");
            self.findings
                .add(crate::findings::Weight::Renamed, place, rule, "");
        }
        field
    }

    /// Whether a schema says something of itself, or the one that it refers to does.
    pub(super) fn flag(&self, schema: &Node, key: &str) -> bool {
        let said = |schema: &Node| {
            schema.is_set(key)
                || schema
                    .text_at("$ref")
                    .and_then(|reference| follow(self.root, reference))
                    .is_some_and(|(_, target)| target.is_set(key))
        };
        said(schema) || schema.at("allOf").items().iter().any(said)
    }
}
