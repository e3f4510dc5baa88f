//! What a schema means where it is used. Schemas that need a type become components, inline ones too, under a name
//! that says where they stand.

use super::keywords::stated;
use super::reader::{Meaning, Reader, annotated, annotations, ids};
use super::structure::{Leaf, follow, inferred, is_annotation};
use crate::model::{Component, Kind, Provenance, Ty, Use};
use crate::names;
use crate::node::Node;

/// Keywords whose schemas may need a type of their own.
const TYPED: [&str; 8] = [
    "properties",
    "enum",
    "const",
    "pattern",
    "oneOf",
    "anyOf",
    "allOf",
    "x-known-values",
];

/// Parts of a place that do not tell one schema from another.
const STRUCTURE: [&str; 11] = [
    "components",
    "schemas",
    "parameters",
    "definitions",
    "$defs",
    "properties",
    "items",
    "allOf",
    "oneOf",
    "anyOf",
    "schema",
];

/// Keywords that add something to a schema that stands beside them.
const ADDING: [&str; 9] = [
    "properties",
    "required",
    "allOf",
    "oneOf",
    "anyOf",
    "enum",
    "const",
    "additionalProperties",
    "items",
];

impl Reader<'_> {
    /// Reads the components in the order of the document, so that they have their names before any inline schema.
    pub(super) fn components(&mut self) {
        let root = self.root;
        let schemas = root.at("components").at("schemas");
        let places: Vec<(String, &Node)> = schemas
            .members()
            .map(|(name, node)| (crate::node::step("/components/schemas", name), node))
            .collect();
        for (place, node) in &places {
            let hint = place.rsplit('/').next().unwrap_or_default();
            self.reserve(place, node.text_at("x-sdk-name").unwrap_or(hint));
        }
        for (place, node) in places {
            self.component(&place, node);
        }
    }

    /// What a schema means where it stands. `hint` names the type that an inline one may need.
    pub(super) fn used(&mut self, schema: &Node, place: &str, hint: &str) -> Use {
        if let Some(reference) = schema.text_at("$ref") {
            return self.referred(schema, reference, place, hint);
        }
        let mut value = if self.entries.contains_key(place) {
            self.component(place, schema)
        } else if TYPED.iter().any(|key| schema.get(key).is_some()) {
            self.reserve(place, schema.text_at("x-sdk-name").unwrap_or(hint));
            let value = self.component(place, schema);
            if self.entries[place].component.is_none() {
                self.release(place);
            }
            value
        } else {
            self.meaning(schema, place, hint).value
        };
        value.assumptions.extend(ids(schema, "x-assumption"));
        value
    }

    /// The schema that a reference points to, with what stands beside the reference.
    fn referred(&mut self, schema: &Node, reference: &str, place: &str, hint: &str) -> Use {
        let root = self.root;
        let Some((target_place, target)) = follow(root, reference) else {
            let rule = format!("`{reference}` refers to nothing in this document");
            self.raw(place, &rule);
            return annotations(schema);
        };
        let adds = |key: &String| ADDING.contains(&key.as_str());
        let besides = |(key, _): (&String, &Node)| key != "$ref" && !is_annotation(key);
        if schema.members().any(besides) && !schema.members().any(|(key, _)| adds(key)) {
            let rule = "keywords beside a `$ref` that add nothing to its schema";
            self.findings
                .note(place, format!("{rule}: left to the service"));
        } else if schema.members().any(besides) {
            let rest: Node = Node::Object(
                schema
                    .members()
                    .filter(|(key, _)| *key != "$ref")
                    .map(|(key, value)| (key.clone(), value.clone()))
                    .collect(),
            );
            let reference = [("$ref".to_owned(), Node::Text(reference.to_owned()))];
            let branches = vec![Node::Object(reference.into_iter().collect()), rest];
            let both = [("allOf".to_owned(), Node::List(branches))];
            return self.used(&Node::Object(both.into_iter().collect()), place, hint);
        }
        if !self.entries.contains_key(&target_place) {
            let name = name_at(&target_place).unwrap_or_else(|| hint.to_owned());
            let given = target.text_at("x-sdk-name");
            self.reserve(&target_place, given.unwrap_or(&name));
        }
        let value = self.component(&target_place, target);
        annotated(value, schema)
    }

    /// The component at a place, read if it was not yet.
    pub(super) fn component(&mut self, place: &str, schema: &Node) -> Use {
        let entry = &self.entries[place];
        let name = entry.name.clone();
        if let Some(value) = &entry.used {
            return value.clone();
        }
        if entry.component.is_some() {
            // It is being read: it contains itself.
            let mut value = annotations(schema);
            value.ty = Ty::Named(name);
            return value;
        }
        let begun = self.begun(&name, place, schema);
        self.entries[place].component = Some(begun);
        let meaning = if schema.text_at("$ref").is_some() {
            let reference = schema.text_at("$ref").unwrap_or_default().to_owned();
            Meaning::plain(self.referred(schema, &reference, place, &name))
        } else {
            self.meaning(schema, place, &name)
        };
        let mut value = meaning.value;
        let keep = meaning.kind.is_some() || place.starts_with("/components/schemas/");
        let version = self.schema_version(schema);
        let entry = &mut self.entries[place];
        if let Some(component) = &mut entry.component {
            component.schema_version = version;
            component.schema = meaning.place.unwrap_or_else(|| place.to_owned());
            if component.description.is_empty() {
                component.description.clone_from(&value.description);
            }
            component.kind = match meaning.kind {
                Some(kind) => {
                    value.ty = Ty::Named(name);
                    kind
                }
                None => Kind::Plain(value.ty.clone()),
            };
        }
        entry.component.take_if(|_| !keep);
        entry.used = Some(value.clone());
        value
    }

    fn begun(&mut self, name: &str, place: &str, schema: &Node) -> Component {
        let provenance = match schema.text_at("x-provenance") {
            None | Some("documented") => Provenance::Documented,
            Some("assumed") => {
                if schema.get("x-assumption").is_none() {
                    self.refuse(place, "`x-provenance: assumed` needs an `x-assumption`");
                }
                Provenance::Assumed
            }
            Some("name-only") => {
                if TYPED.iter().any(|key| schema.get(key).is_some()) {
                    self.refuse(
                        place,
                        "what is known by name only has no members, values or form",
                    );
                }
                Provenance::NameOnly
            }
            Some(other) => {
                let rule = format!(
                    "`x-provenance: {other}` is none of `documented`, `assumed` and `name-only`"
                );
                self.refuse(place, &rule);
                Provenance::Documented
            }
        };
        Component {
            name: name.to_owned(),
            place: place.to_owned(),
            schema: place.to_owned(),
            description: annotations(schema).description,
            deprecated: schema.is_set("deprecated"),
            provenance,
            kind: Kind::Plain(Ty::Value),
            assumptions: ids(schema, "x-assumption"),
            schema_version: None,
        }
    }

    /// The constant of a member `schemaVersion`.
    fn schema_version(&self, schema: &Node) -> Option<String> {
        let version = schema.at("properties").get("schemaVersion")?;
        let target = match version.text_at("$ref") {
            Some(reference) => follow(self.root, reference)?.1,
            None => version,
        };
        if let Some(text) = target.text_at("const") {
            return Some(text.to_owned());
        }
        let values = target.at("enum").texts();
        target
            .is_set("x-const")
            .then(|| values.first().cloned())
            .flatten()
    }

    pub(super) fn meaning(&mut self, schema: &Node, place: &str, name: &str) -> Meaning {
        match schema {
            Node::Bool(true) => return Meaning::plain(Use::of(Ty::Value)),
            Node::Object(_) => {}
            _ => {
                self.refuse(place, "a schema is an object here");
                return Meaning::plain(Use::of(Ty::Value));
            }
        }
        self.keywords(schema, place);
        let mut value = annotations(schema);
        stated(schema, &mut value.stated);
        if schema.get("allOf").is_some() {
            return self.all_of(schema, place, name, value);
        }
        for key in ["oneOf", "anyOf"] {
            if !schema.at(key).items().is_empty() {
                return self.one_of(schema, key, place, name, value);
            }
        }
        if let Some(constant) = schema.get("const") {
            return self.constant(schema, constant, place, value);
        }
        if schema.get("enum").is_some() || schema.get("x-known-values").is_some() {
            return self.enumeration(schema, place, value);
        }
        match self.type_of(schema, place).as_deref() {
            Some("object") => {
                let (schema, place) = (schema.clone(), place.to_owned());
                self.object(
                    &[Leaf {
                        schema,
                        place: place.clone(),
                    }],
                    &place,
                    name,
                    value,
                )
            }
            Some("array") => {
                value.ty = self.array(schema, place, name, &mut value.stated);
                Meaning::plain(value)
            }
            Some("string") => self.text(schema, place, value),
            Some(other) => {
                value.ty = self.scalar(schema, other, place, &mut value.stated);
                Meaning::plain(value)
            }
            None => Meaning::plain(value),
        }
    }

    /// The one type of a schema besides null; none if it may be anything.
    fn type_of(&mut self, schema: &Node, place: &str) -> Option<String> {
        let mut types = schema.at("type").texts();
        types.retain(|kind| kind != "null");
        if types.len() == 2
            && ["integer", "number"]
                .iter()
                .all(|it| types.contains(&(*it).to_owned()))
        {
            return Some("number".to_owned());
        }
        match types.as_slice() {
            [] => inferred(schema).map(str::to_owned),
            [one] => Some(one.clone()),
            several => {
                let rule = format!("a value of several types ({})", several.join(", "));
                self.raw(place, &rule);
                None
            }
        }
    }

    fn array(&mut self, schema: &Node, place: &str, name: &str, stated: &mut Vec<String>) -> Ty {
        let bound = |key| {
            schema
                .at(key)
                .integer()
                .and_then(|it| u64::try_from(it).ok())
        };
        if schema.get("prefixItems").is_some() {
            self.raw(place, "a list whose items differ by their place");
        }
        let items = match schema
            .get("items")
            .filter(|_| schema.get("prefixItems").is_none())
        {
            Some(items) => self.used(items, &crate::node::step(place, "items"), &item_name(name)),
            None => Use::of(Ty::Value),
        };
        stated.extend(items.of_each("item"));
        Ty::Array {
            items: Box::new(items.within()),
            min: bound("minItems"),
            max: bound("maxItems"),
        }
    }
}

/// A name for a schema inside of another one or of a parameter, which a reference points to: that of a definition, or its own
/// after that of its owner.
fn name_at(place: &str) -> Option<String> {
    let parts: Vec<&str> = place.split('/').collect();
    if let [.., "schemas" | "definitions" | "$defs", name] = parts.as_slice() {
        return Some((*name).to_owned());
    }
    let mut telling = parts;
    telling.retain(|it| !STRUCTURE.contains(it) && it.parse::<u32>().is_err());
    match telling.as_slice() {
        [_, "paths", ..] | [_] | [] => None,
        [.., parent, name] => Some(names::pascal(parent) + &names::pascal(name)),
    }
}

/// `OrderLines` as `OrderLine`, the name of one of them.
fn item_name(name: &str) -> String {
    match name.strip_suffix("ies") {
        Some(stem) => format!("{stem}y"),
        None if ["ss", "us", "is"].iter().any(|end| name.ends_with(end))
            || !name.ends_with('s') =>
        {
            format!("{name}Item")
        }
        None => name[..name.len() - 1].to_owned(),
    }
}
