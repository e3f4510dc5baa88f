//! Objects: their members, and what may be in them besides.

use std::collections::BTreeSet;

use indexmap::IndexMap;

use super::reader::{Meaning, Reader};
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
    /// An object: of one schema, or of those that an `allOf` merges.
    pub(super) fn object(
        &mut self,
        leaves: &[Leaf],
        place: &str,
        name: &str,
        mut value: Use,
    ) -> Meaning {
        let members = self.members(leaves, place);
        if let ([], [leaf]) = (&*members, leaves) {
            value.ty = self.map(leaf, name, &mut value.stated);
            return Meaning::plain(value);
        }
        let mut required = BTreeSet::new();
        for Leaf { schema, place } in leaves {
            required.extend(schema.at("required").texts());
            let further = schema.at("additionalProperties");
            if matches!(further, Node::Object(inner) if !inner.is_empty()) {
                let rule = "further members of one type: they are kept as raw JSON";
                self.findings.note(place, rule);
            }
            if *further == Node::Bool(false) {
                value.stated.push("It has no members besides.".to_owned());
            }
            if schema.get("discriminator").is_some() {
                let rule = "a `discriminator` without `oneOf`: the members of what extends it are kept in `extra`";
                self.findings.note(place, rule);
            }
        }
        if members.is_empty() {
            value.ty = Ty::Record;
            return Meaning::plain(value);
        }
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
                let both = Node::List(vec![known.schema.clone(), schema.clone()]);
                known.schema = Node::Object([("allOf".to_owned(), both)].into_iter().collect());
                known.place = step(&step(place, "allOf"), name);
                let fields = self.objects.get(place);
                if let Some(field) = fields.and_then(|it| it.get(name)).cloned() {
                    self.keep_merged(&field.found, &known.place);
                }
            }
        }
        members.into_values().collect()
    }

    /// An object without fields: a map, if its schema says what its values are.
    fn map(&mut self, leaf: &Leaf, name: &str, stated: &mut Vec<String>) -> Ty {
        let Leaf { schema, place } = leaf;
        let further = schema.at("additionalProperties");
        if further.members().next().is_none() {
            return Ty::Record;
        }
        let place = step(place, "additionalProperties");
        let values = self.used(further, &place, &format!("{name}Value"));
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
