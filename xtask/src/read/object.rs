//! Objects: their members, and what may be in them besides.

use std::collections::BTreeSet;

use super::reader::{Meaning, Reader};
use super::structure::follow;
use crate::model::taken::is_taken_field;
use crate::model::{Kind, Property, Ty, Use};
use crate::names;
use crate::node::{Node, step};

/// A member as it is written.
pub(super) struct Member {
    pub(super) name: String,
    pub(super) schema: Node,
    pub(super) place: String,
}

impl Reader<'_> {
    pub(super) fn object(
        &mut self,
        schema: &Node,
        place: &str,
        name: &str,
        mut value: Use,
    ) -> Meaning {
        let further = schema.at("additionalProperties");
        let members = members(schema, place);
        if members.is_empty() {
            value.ty = match further {
                Node::Object(inner) if !inner.is_empty() => {
                    let inner = self.used(
                        further,
                        &step(place, "additionalProperties"),
                        &format!("{name}Value"),
                    );
                    value.stated.extend(inner.of_each("value"));
                    Ty::Map(Box::new(inner.within()))
                }
                _ => Ty::Record,
            };
            return Meaning::plain(value);
        }
        if matches!(further, Node::Object(inner) if !inner.is_empty()) {
            let rule = "further members of one type beside named ones: they are kept in `extra`, as raw JSON";
            self.findings.note(place, rule);
        }
        if *further == Node::Bool(false) {
            value.stated.push("It has no members besides.".to_owned());
        }
        if schema.get("discriminator").is_some() {
            let rule = "a `discriminator` without `oneOf`: the members of what extends it are kept in `extra`";
            self.findings.note(place, rule);
        }
        let required = schema.at("required").texts();
        let kind = self.structure(&members, &required.into_iter().collect(), place, name);
        Meaning {
            place: Some(place.to_owned()),
            ..Meaning::of(value, kind)
        }
    }

    /// The members of an object as fields.
    pub(super) fn structure(
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
        let wanted = field.clone();
        let mut next = 2;
        while !fields.insert(field.clone()) {
            field = format!("{}_{next}", wanted.trim_end_matches('_'));
            next += 1;
        }
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

/// The members of a schema as they are written.
pub(super) fn members(schema: &Node, place: &str) -> Vec<Member> {
    let place = step(place, "properties");
    schema
        .at("properties")
        .members()
        .map(|(name, schema)| Member {
            name: name.clone(),
            schema: schema.clone(),
            place: step(&place, name),
        })
        .collect()
}
