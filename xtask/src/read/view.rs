//! The view of a document that progenitor reads. The view has only the structure of the schemas: references, types, fields,
//! required fields, null, items, map values and `allOf`. Names are neutral. A value with a type of the runtime is a placeholder
//! of the same JSON type.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::{Map, Value, json};

use super::form::{Form, form, is_null_within};
use super::structure::{Leaf, is_nullable, type_of};
use crate::model::Ty;
use crate::node::{Node, step};

/// The types of the runtime, each with the name in the view, the type, and the JSON type of the placeholder.
pub(super) const OWN: [(&str, &str, &str); 6] = [
    ("ViewValue", "RawJson", "string"),
    ("ViewRecord", "Record", "object"),
    ("ViewTimestamp", "Timestamp", "string"),
    ("ViewDate", "Date", "string"),
    ("ViewNumber", "Number", "number"),
    ("ViewSecret", "Secret", "string"),
];

pub(super) struct View<'a> {
    root: &'a Node,
    /// Whether each field is required, which shows whether optional fields may be null.
    all_required: bool,
    /// The names of schemas, by place.
    pub(super) types: BTreeMap<String, String>,
    /// The names in the view, by the original names of fields.
    pub(super) members: BTreeMap<String, String>,
    /// Schemas that are not objects, such as enums, patterns and constants.
    pub(super) opaque: BTreeSet<String>,
    /// Objects that are not written yet, by their names.
    pending: VecDeque<(String, Vec<Leaf>)>,
    schemas: Map<String, Value>,
}

impl<'a> View<'a> {
    pub(super) fn of(root: &'a Node, all_required: bool) -> Self {
        let mut view = Self {
            root,
            all_required,
            types: BTreeMap::new(),
            members: BTreeMap::new(),
            opaque: BTreeSet::new(),
            pending: VecDeque::new(),
            schemas: Map::new(),
        };
        for (name, _, kind) in OWN {
            view.schemas.insert(name.to_owned(), json!({"type": kind}));
        }
        for (name, schema) in root.at("components").at("schemas").members() {
            let place = step("/components/schemas", name);
            view.used(schema, &place, &mut vec![]);
        }
        let contents = contents(root);
        for (place, schema) in &contents {
            view.used(schema, place, &mut vec![]);
        }
        while let Some((name, leaves)) = view.pending.pop_front() {
            let objects = leaves.iter().map(|it| view.members(&it.schema, &it.place));
            let mut objects: Vec<Value> = objects.collect();
            // Progenitor merges them.
            let object = match objects.len() {
                1 => objects.remove(0),
                _ => json!({ "allOf": objects }),
            };
            view.schemas.insert(name, object);
        }
        view
    }

    pub(super) fn document(&self) -> Value {
        json!({
            "openapi": "3.0.3",
            "info": {"title": "View", "version": "1"},
            "paths": {},
            "components": {"schemas": self.schemas},
        })
    }

    /// The use of a schema. `within` has the places on the way to it without an object in between.
    fn used(&mut self, schema: &Node, place: &str, within: &mut Vec<String>) -> Value {
        if within.iter().any(|it| it == place) {
            return own("ViewValue");
        }
        within.push(place.to_owned());
        let form = form(self.root, schema, place);
        let is_null = is_nullable(schema) || is_null_within(self.root, &form);
        let value = self.formed(form, schema, place, within);
        within.pop();
        nullable(value, is_null)
    }

    fn formed(
        &mut self,
        form: Form<'_>,
        schema: &Node,
        place: &str,
        within: &mut Vec<String>,
    ) -> Value {
        match form {
            Form::Same(place, schema) => self.used(schema, &place, within),
            Form::Object(leaves, _) => self.component(place, leaves),
            Form::Map(place, values) => {
                let values = self.used(&values, &place, within);
                json!({"type": "object", "additionalProperties": values})
            }
            Form::Record | Form::Raw(_, Ty::Record) => own("ViewRecord"),
            Form::Choice(_, branches) => {
                let is_new = !self.types.contains_key(place);
                let union = self.opaque(place, type_of(schema));
                for (place, branch) in branches.into_iter().filter(|_| is_new) {
                    self.used(branch, &place, &mut vec![]);
                }
                union
            }
            Form::Merged(merged) => {
                let form = self::form(self.root, &merged, place);
                self.formed(form, &merged, place, within)
            }
            Form::Circle | Form::Raw(..) => own("ViewValue"),
            Form::Plain(Some("array")) => {
                let items = match schema.get("items") {
                    Some(items) => self.used(items, &step(place, "items"), within),
                    None => own("ViewValue"),
                };
                json!({"type": "array", "items": items})
            }
            Form::Plain(kind) => self.plain(schema, kind, place),
        }
    }

    fn plain(&mut self, schema: &Node, kind: Option<&str>, place: &str) -> Value {
        if ["enum", "const", "pattern", "x-known-values"]
            .iter()
            .any(|it| schema.get(it).is_some())
        {
            return self.opaque(place, kind);
        }
        match (kind, schema.text_at("format")) {
            (Some("string"), Some("date-time")) => own("ViewTimestamp"),
            (Some("string"), Some("date")) => own("ViewDate"),
            (Some("string"), Some("password")) => own("ViewSecret"),
            (Some("string"), _) => json!({"type": "string"}),
            (Some("integer"), _) => json!({"type": "integer", "format": "int64"}),
            (Some("number"), _) => own("ViewNumber"),
            (Some("boolean"), _) => json!({"type": "boolean"}),
            _ => own("ViewValue"),
        }
    }

    fn members(&mut self, schema: &Node, place: &str) -> Value {
        let mut properties = Map::new();
        let place = step(place, "properties");
        for (name, member) in schema.at("properties").members() {
            let place = step(&place, name);
            let value = self.used(member, &place, &mut vec![]);
            properties.insert(self.member(name), value);
        }
        let mut required: Vec<String> = schema.at("required").texts();
        if self.all_required {
            let names = schema.at("properties").members();
            required.extend(names.map(|(name, _)| name.clone()));
        }
        let required: Vec<String> = required.iter().map(|it| self.member(it)).collect();
        json!({"type": "object", "required": required, "properties": properties})
    }

    fn component(&mut self, place: &str, leaves: Vec<Leaf>) -> Value {
        let next = self.types.len();
        if !self.types.contains_key(place) {
            let name = format!("S{next}");
            self.types.insert(place.to_owned(), name.clone());
            self.pending.push_back((name, leaves));
        }
        own(&self.types[place])
    }

    /// A schema whose values are read from its place.
    fn opaque(&mut self, place: &str, kind: Option<&str>) -> Value {
        let next = self.types.len();
        let name = self
            .types
            .entry(place.to_owned())
            .or_insert_with(|| format!("S{next}"));
        let kind = kind.filter(|it| *it != "null").unwrap_or("string");
        self.schemas.insert(name.clone(), json!({"type": kind}));
        self.opaque.insert(name.clone());
        own(name)
    }

    fn member(&mut self, name: &str) -> String {
        let next = self.members.len();
        let known = self.members.entry(name.to_owned());
        known.or_insert_with(|| format!("m{next}")).clone()
    }
}

/// The schemas of parameters, bodies and responses, with their places.
fn contents(root: &Node) -> Vec<(String, &Node)> {
    let mut found = Vec::new();
    for part in ["paths", "components"] {
        search(root.at(part), &step("", part), &mut found);
    }
    found
}

fn search<'a>(node: &'a Node, place: &str, found: &mut Vec<(String, &'a Node)>) {
    for (key, value) in node.members() {
        let place = step(place, key);
        match key.as_str() {
            "schema" => found.push((place, value)),
            "schemas" | "example" | "examples" => {}
            _ => search(value, &place, found),
        }
    }
    for (at, item) in node.items().iter().enumerate() {
        search(item, &format!("{place}/{at}"), found);
    }
}

pub(super) fn own(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

fn nullable(mut schema: Value, is_nullable: bool) -> Value {
    if !is_nullable {
        return schema;
    }
    if schema.get("$ref").is_some() {
        schema = json!({ "allOf": [schema] });
    }
    schema["nullable"] = json!(true);
    schema
}
