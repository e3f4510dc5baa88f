//! The view of a document that progenitor gets. It has the structure of the schemas and nothing else: references, types,
//! fields, required fields, null, items, map values and `allOf`. Names are neutral, what has a type of the runtime is
//! a placeholder of the same JSON type, and each field carries its JSON pointer as its description.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::{Map, Value, json};

use super::structure::{
    follow, is_null, is_nullable, leaves, says_nothing, telling, type_of, without,
};
use crate::node::{Node, step};

/// The types of the runtime: the name in the view, the type, and the JSON type of the placeholder.
pub(super) const OWN: [(&str, &str, &str); 6] = [
    ("ViewValue", "RawJson", "string"),
    ("ViewRecord", "Record", "object"),
    ("ViewTimestamp", "Timestamp", "string"),
    ("ViewDate", "Date", "string"),
    ("ViewNumber", "Number", "number"),
    ("ViewSecret", "Secret", "string"),
];

/// Keywords with which a schema may need a type of its own.
const TYPED: [&str; 8] = [
    "properties",
    "allOf",
    "oneOf",
    "anyOf",
    "enum",
    "const",
    "pattern",
    "x-known-values",
];

/// A document as progenitor gets it.
pub(super) struct View<'a> {
    root: &'a Node,
    /// Whether each field is required, which reveals the null of optional ones.
    all_required: bool,
    /// The names of schemas, by place.
    pub(super) types: BTreeMap<String, String>,
    /// The names of fields, by their own.
    pub(super) members: BTreeMap<String, String>,
    /// Schemas that are no object: enumerations, patterns, constants.
    pub(super) leaves: BTreeSet<String>,
    pending: VecDeque<String>,
    schemas: Map<String, Value>,
}

impl<'a> View<'a> {
    pub(super) fn of(root: &'a Node, all_required: bool) -> Self {
        let mut view = Self {
            root,
            all_required,
            types: BTreeMap::new(),
            members: BTreeMap::new(),
            leaves: BTreeSet::new(),
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
        while let Some(place) = view.pending.pop_front() {
            let Some(schema) = root.pointer(&place) else {
                continue;
            };
            let name = view.types[&place].clone();
            let value = view.object(schema, &place);
            view.schemas.insert(name, value);
        }
        view
    }

    /// The document for progenitor.
    pub(super) fn document(&self) -> Value {
        json!({
            "openapi": "3.0.3",
            "info": {"title": "View", "version": "1"},
            "paths": {},
            "components": {"schemas": self.schemas},
        })
    }

    /// A schema where it is used. `within` has the places that lead here without an object in between.
    fn used(&mut self, schema: &Node, place: &str, within: &mut Vec<String>) -> Value {
        if within.iter().any(|it| it == place) {
            return own("ViewValue");
        }
        within.push(place.to_owned());
        let value = self.meaning(schema, place, within);
        within.pop();
        nullable(value, is_nullable(schema))
    }

    fn meaning(&mut self, schema: &Node, place: &str, within: &mut Vec<String>) -> Value {
        let rest = without(schema, &["$ref"]);
        if let Some(reference) = schema.text_at("$ref") {
            let Some((target_place, target)) = follow(self.root, reference) else {
                return own("ViewValue");
            };
            // Only what adds fields makes another type of it.
            if !["properties", "required", "allOf"]
                .iter()
                .any(|it| rest.get(it).is_some())
            {
                return self.used(target, &target_place, within);
            }
            return self.component(place);
        }
        if schema.get("allOf").is_some() {
            return self.all_of(schema, place, within);
        }
        for key in ["oneOf", "anyOf"] {
            let branches = schema.at(key).items().iter().enumerate();
            let mut some = branches.filter(|(_, it)| !is_null(it));
            let (first, second) = (some.next(), some.next());
            if let (Some((at, only)), None) = (first, second) {
                return self.used(only, &step(&step(place, key), &at.to_string()), within);
            }
            if first.is_none() {
                continue;
            }
            let of_rules = |it: &Node| {
                it.members()
                    .all(|(key, _)| key == "required" || key == "not")
            };
            if schema.at(key).items().iter().all(of_rules) {
                continue;
            }
            let is_known = self.types.contains_key(place);
            let union = self.leaf(place, type_of(schema));
            for (at, branch) in schema.at(key).items().iter().enumerate() {
                if !is_known {
                    let place = step(&step(place, key), &at.to_string());
                    self.used(branch, &place, &mut vec![]);
                }
            }
            return union;
        }
        match type_of(schema) {
            Some("object") if schema.at("properties").members().next().is_some() => {
                self.component(place)
            }
            Some("object") => match schema.at("additionalProperties") {
                Node::Object(inner) if !inner.is_empty() => {
                    let place = step(place, "additionalProperties");
                    let values = self.used(schema.at("additionalProperties"), &place, within);
                    json!({"type": "object", "additionalProperties": values})
                }
                _ => own("ViewRecord"),
            },
            Some("array") => {
                let items = match schema.get("items") {
                    Some(items) => self.used(items, &step(place, "items"), within),
                    None => own("ViewValue"),
                };
                json!({"type": "array", "items": items})
            }
            kind if TYPED.iter().any(|it| schema.get(it).is_some()) => self.leaf(place, kind),
            Some("string") => match schema.text_at("format") {
                Some("date-time") => own("ViewTimestamp"),
                Some("date") => own("ViewDate"),
                Some("password") => own("ViewSecret"),
                _ => json!({"type": "string"}),
            },
            Some("integer") => json!({"type": "integer", "format": "int64"}),
            Some("number") => own("ViewNumber"),
            Some("boolean") => json!({"type": "boolean"}),
            _ => own("ViewValue"),
        }
    }

    fn all_of(&mut self, schema: &Node, place: &str, within: &mut Vec<String>) -> Value {
        let rest = without(schema, &["allOf"]);
        if let [(at, only)] = telling(schema).as_slice()
            && says_nothing(&without(&rest, &["nullable"]))
        {
            let place = step(&step(place, "allOf"), &at.to_string());
            return self.used(only, &place, within);
        }
        let Some(leaves) = leaves(self.root, schema, place) else {
            return own("ViewValue");
        };
        let has = |key| leaves.iter().any(|it| it.schema.get(key).is_some());
        let types: Vec<_> = leaves.iter().filter_map(|it| type_of(&it.schema)).collect();
        if has("properties") {
            if types.iter().any(|it| *it != "object") {
                return own("ViewValue");
            }
            let is_union = has("oneOf") || has("anyOf");
            return if is_union {
                own("ViewRecord")
            } else {
                self.component(place)
            };
        }
        if types.contains(&"object") {
            return own("ViewRecord");
        }
        self.leaf(place, types.first().copied())
    }

    /// The fields of an object and of what it merges, which is left to progenitor.
    fn object(&mut self, schema: &Node, place: &str) -> Value {
        let leaves = leaves(self.root, schema, place).unwrap_or_default();
        let objects = leaves.iter().map(|it| self.members(&it.schema, &it.place));
        let mut objects: Vec<Value> = objects.collect();
        match objects.len() {
            1 => objects.remove(0),
            _ => json!({ "allOf": objects }),
        }
    }

    fn members(&mut self, schema: &Node, place: &str) -> Value {
        let mut properties = Map::new();
        let place = step(place, "properties");
        for (name, member) in schema.at("properties").members() {
            let place = step(&place, name);
            let mut value = self.used(member, &place, &mut vec![]);
            if value.get("$ref").is_some() {
                value = json!({ "allOf": [value] });
            }
            value["description"] = json!(place);
            properties.insert(self.member(name), value);
        }
        let mut required: Vec<String> = schema.at("required").texts();
        if self.all_required {
            required = schema
                .at("properties")
                .members()
                .map(|(name, _)| name.clone())
                .collect();
        }
        let required: Vec<String> = required.iter().map(|it| self.member(it)).collect();
        json!({"type": "object", "required": required, "properties": properties})
    }

    fn component(&mut self, place: &str) -> Value {
        let next = self.types.len();
        if !self.types.contains_key(place) {
            self.types.insert(place.to_owned(), format!("S{next}"));
            self.pending.push_back(place.to_owned());
        }
        own(&self.types[place])
    }

    /// A schema whose values are looked up at its place.
    fn leaf(&mut self, place: &str, kind: Option<&str>) -> Value {
        let next = self.types.len();
        let name = self
            .types
            .entry(place.to_owned())
            .or_insert_with(|| format!("S{next}"));
        let kind = kind.filter(|it| *it != "null").unwrap_or("string");
        self.schemas.insert(name.clone(), json!({"type": kind}));
        self.leaves.insert(name.clone());
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
