//! Objects: their members, and what may be in them besides.

use std::collections::BTreeSet;

use super::reader::{Meaning, Reader, annotations, follow};
use crate::model::taken::is_taken_field;
use crate::model::{Kind, Property, Shape, Ty, Use};
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
        if self.own && schema.is_set("x-page") {
            value.shape = Shape::Page {
                items: Box::new(Shape::Record),
                members: None,
            };
            return Meaning::plain(value);
        }
        let further = schema.at("additionalProperties");
        let members = members(schema, place);
        if members.is_empty() {
            value.shape = match further {
                Node::Object(inner) if !inner.is_empty() => {
                    let inner = self.used(
                        further,
                        &step(place, "additionalProperties"),
                        &format!("{name}Value"),
                    );
                    value.stated.extend(inner.of_each("value"));
                    Shape::Map(Box::new(inner.within()))
                }
                _ => Shape::Record,
            };
            return Meaning::plain(value);
        }
        let is_open = matches!(further, Node::Object(inner) if inner.is_empty());
        if self.own && !is_open {
            self.refuse(
                place,
                "an object with members needs `additionalProperties: {}`, or unknown members would be lost",
            );
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
        Meaning::of(value, kind)
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
                if self.own {
                    self.refuse(place, &rule);
                } else {
                    self.findings
                        .note(place, format!("{rule}: it is kept in `extra`"));
                }
            }
        }
        let mut fields = BTreeSet::new();
        let mut properties = Vec::new();
        for member in members {
            let hint = format!("{name}{}", names::pascal(&member.name));
            let value = self.used(&member.schema, &member.place, &hint);
            let is_required = required.contains(&member.name);
            if self.own && is_required && !value.type_assumptions.is_empty() {
                let rule = format!(
                    "member `{}`: one of an assumed type must be optional, since another type is read as its absence",
                    member.name
                );
                self.refuse(place, &rule);
            }
            properties.push(Property {
                name: member.name.clone(),
                field: self.field(&member.name, &member.place, &mut fields),
                required: is_required,
                deprecated: self.flag(&member.schema, "deprecated"),
                read_only: self.flag(&member.schema, "readOnly"),
                write_only: self.flag(&member.schema, "writeOnly"),
                value,
                ty: Ty::Bool,
            });
        }
        Kind::Struct(properties)
    }

    /// The name of the field of a member: unlike all others and all methods.
    fn field(&mut self, name: &str, place: &str, fields: &mut BTreeSet<String>) -> String {
        let mut field = names::snake(name);
        if is_taken_field(&field) {
            if self.own {
                self.refuse(place, &format!("a member must not be called `{field}`"));
            }
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

/// A schema that says nothing but what a person reads.
pub(super) fn says_nothing(schema: &Node) -> bool {
    let said = |(key, _): (&String, &Node)| !super::keywords::is_annotation(key);
    !schema.members().any(said) && !annotations(schema).nullable
}
