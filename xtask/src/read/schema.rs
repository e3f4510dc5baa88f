//! Reads the meaning of a schema. Schemas that need a type become components, including inline schemas, whose names are derived
//! from their places.

use super::form::{Form, adds_to_reference, form, is_null_within, nothing_at};
use super::keywords::stated;
use super::reader::{Meaning, Reader, annotated, annotations, ids};
use super::scalar::integer;
use super::structure::{follow, is_annotation, says_nothing};
use crate::model::{Component, Kind, Provenance, Ty, Use};
use crate::names;
use crate::node::{Node, step};

/// Keywords whose schemas may need a named type.
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

/// Parts of a place that do not distinguish schemas.
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

impl Reader<'_> {
    /// Reads the components in the order of the document, so that they get their names before any inline schema.
    pub(super) fn components(&mut self) {
        let root = self.root;
        let schemas = root.at("components").at("schemas");
        let places: Vec<(String, &Node)> = schemas
            .members()
            .map(|(name, node)| (step("/components/schemas", name), node))
            .collect();
        for (place, node) in &places {
            let hint = place.rsplit('/').next().unwrap_or_default();
            self.reserve(place, node.text_at("x-sdk-name").unwrap_or(hint));
        }
        for (place, node) in places {
            self.component(&place, node);
        }
    }

    /// The meaning of a schema at its place. `hint` is the name of the type that an inline schema may need.
    pub(super) fn used(&mut self, schema: &Node, place: &str, hint: &str) -> Use {
        if let Some(reference) = plain_reference(schema) {
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

    /// The target of a reference, with the siblings of the reference.
    fn referred(&mut self, schema: &Node, reference: &str, place: &str, hint: &str) -> Use {
        let root = self.root;
        let Some((target_place, target)) = follow(root, reference) else {
            self.raw(place, &nothing_at(reference));
            return annotations(schema);
        };
        if schema
            .members()
            .any(|(key, _)| key != "$ref" && !is_annotation(key))
        {
            let rule = "keywords next to a `$ref` that add nothing to its schema";
            self.findings
                .note(place, format!("{rule}, so only the server checks them"));
        }
        if !self.entries.contains_key(&target_place) {
            let name = name_at(&target_place).unwrap_or_else(|| hint.to_owned());
            let given = target.text_at("x-sdk-name");
            self.reserve(&target_place, given.unwrap_or(&name));
        }
        let value = self.component(&target_place, target);
        annotated(value, schema)
    }

    /// The component at a place, which is read at the first use.
    pub(super) fn component(&mut self, place: &str, schema: &Node) -> Use {
        let entry = &self.entries[place];
        let name = entry.name.clone();
        if let Some(value) = &entry.used {
            return value.clone();
        }
        if entry.component.is_some() {
            // It is currently being read, so it contains itself.
            let mut value = annotations(schema);
            value.ty = Ty::Named(name);
            return value;
        }
        self.entries[place].component = Some(begun(&name, place, schema));
        let meaning = match plain_reference(schema) {
            Some(reference) => Meaning::plain(self.referred(schema, reference, place, &name)),
            None => self.meaning(schema, place, &name),
        };
        let mut value = meaning.value;
        let keep = meaning.kind.is_some() || place.starts_with("/components/schemas/");
        let entry = &mut self.entries[place];
        if let Some(component) = &mut entry.component {
            component.fields_at = meaning.place.unwrap_or_else(|| place.to_owned());
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

    pub(super) fn meaning(&mut self, schema: &Node, place: &str, name: &str) -> Meaning {
        match schema {
            Node::Bool(true) => return Meaning::plain(Use::of(Ty::Value)),
            Node::Object(_) => {}
            _ => {
                self.raw(place, "a schema must be an object or `true`");
                return Meaning::plain(Use::of(Ty::Value));
            }
        }
        self.keywords(schema, place);
        let form = form(self.root, schema, place);
        let merges = matches!(form, Form::Object(..) | Form::Merged(_));
        let is_null = is_null_within(self.root, &form);
        let mut meaning = self.formed(form, schema, place, name);
        meaning.value.nullable |= is_null;
        if !merges {
            let rules = stated(schema, &meaning.value.ty, meaning.kind.as_ref());
            meaning.value.stated.extend(rules);
        }
        meaning
    }

    fn formed(&mut self, form: Form<'_>, schema: &Node, place: &str, name: &str) -> Meaning {
        let mut value = annotations(schema);
        match form {
            Form::Same(at, only) => return self.same(schema, &at, only, place, name),
            Form::Object(leaves, fields) => {
                return self.object(schema, (&leaves, &fields), place, name, value);
            }
            Form::Map(at, values) => value.ty = self.map(&values, &at, name, &mut value.stated),
            Form::Record => value.ty = Ty::Record,
            Form::Choice(key, branches) => {
                return self.choice(schema, key, &branches, place, name, value);
            }
            Form::Merged(merged) => {
                let mut meaning = self.meaning(&merged, place, name);
                if !value.description.is_empty() {
                    meaning.value.description = value.description;
                }
                return meaning;
            }
            Form::Raw(rule, ty) => {
                self.raw(place, &rule);
                value.ty = ty;
            }
            Form::Circle => {
                let rule = "`allOf` contains itself";
                self.findings
                    .reject(place, rule, "break the cycle in the overlay");
            }
            Form::Plain(kind) => return self.plain(schema, kind, place, name, value),
        }
        Meaning::plain(value)
    }

    /// The schema that another schema is an alias of, with the surrounding descriptions.
    fn same(&mut self, schema: &Node, at: &str, only: &Node, place: &str, name: &str) -> Meaning {
        if let Some(fields) = self.objects.get(place).cloned() {
            self.objects.entry(at.to_owned()).or_insert(fields);
        }
        let mut meaning = match plain_reference(only) {
            Some(_) => Meaning::plain(self.used(only, at, name)),
            None => self.meaning(only, at, name),
        };
        // A separate branch may have the description.
        let branches = schema.at("allOf").items().iter();
        for around in branches.filter(|it| says_nothing(it)).chain([schema]) {
            meaning.value = annotated(meaning.value, around);
        }
        meaning
    }

    /// A value of one JSON type, such as a constant, an enum, a list, a string or a number, or of any type.
    fn plain(
        &mut self,
        schema: &Node,
        kind: Option<&str>,
        place: &str,
        name: &str,
        mut value: Use,
    ) -> Meaning {
        let of_values = ["const", "enum", "x-known-values"];
        if of_values.iter().any(|key| schema.get(key).is_some()) {
            return self.values(schema, place, value);
        }
        match kind {
            Some("array") => value.ty = self.array(schema, place, name, &mut value.stated),
            Some("string") => return self.text(schema, place, value),
            Some("integer") => value.ty = integer(schema),
            Some("boolean") => value.ty = Ty::Boolean,
            Some(_) => value.ty = Ty::Number,
            None => {
                let types = schema.at("type").texts();
                if types.iter().any(|it| it != "null") {
                    let rule = format!("it has no single known type: {}", types.join(", "));
                    self.raw(place, &rule);
                }
            }
        }
        Meaning::plain(value)
    }

    fn array(&mut self, schema: &Node, place: &str, name: &str, stated: &mut Vec<String>) -> Ty {
        let bound = |key| u64::try_from(schema.at(key).integer()?).ok();
        if schema.get("prefixItems").is_some() {
            self.raw(place, "a list whose items have different types by position");
        }
        let mut items = match schema
            .get("items")
            .filter(|_| schema.get("prefixItems").is_none())
        {
            Some(items) => self.used(items, &step(place, "items"), &item_name(name)),
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

/// An incomplete component, before its schema is read.
fn begun(name: &str, place: &str, schema: &Node) -> Component {
    let provenance = match schema.text_at("x-provenance") {
        Some("assumed") => Provenance::Assumed,
        Some("name-only") => Provenance::NameOnly,
        _ => Provenance::Documented,
    };
    Component {
        name: name.to_owned(),
        place: place.to_owned(),
        fields_at: place.to_owned(),
        description: annotations(schema).description,
        deprecated: schema.is_set("deprecated"),
        provenance,
        kind: Kind::Plain(Ty::Value),
        assumptions: ids(schema, "x-assumption"),
    }
}

/// The reference of a schema that is only a reference.
fn plain_reference(schema: &Node) -> Option<&str> {
    schema
        .text_at("$ref")
        .filter(|_| !adds_to_reference(schema))
}

/// A name for a referenced schema inside another schema or a parameter. This is the name of a definition, or the names of the
/// owner and the schema.
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

/// The name of an item, such as `OrderLine` for `OrderLines`.
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
