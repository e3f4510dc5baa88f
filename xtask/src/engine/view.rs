//! The view of a model that progenitor gets: every name is neutral, every bound and description is left out, and what has
//! a type of ours is a text that is replaced by it. So nothing of it can collide, be refused or be read in another way.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::model::{Component, Kind, Parameter, Schemas, Shape, Spec};

/// The types of the runtime that stand for a shape: the name in the view, and the type.
pub(super) const OWN: [(&str, &str); 7] = [
    ("ViewValue", "RawJson"),
    ("ViewRecord", "Record"),
    ("ViewTimestamp", "Timestamp"),
    ("ViewDate", "Date"),
    ("ViewNumber", "Number"),
    ("ViewSecret", "Secret"),
    ("ViewPage", "Page"),
];

/// What the names of the view stand for.
#[derive(Default)]
pub(super) struct Names {
    /// Components and operations, `T17`.
    pub(super) types: BTreeMap<String, String>,
    /// Members and parameters, `m42`, by their own names.
    pub(super) members: BTreeMap<String, String>,
}

impl Names {
    pub(super) fn of_type(&mut self, name: &str) -> String {
        let next = self.types.len();
        let known = self.types.entry(name.to_owned());
        known.or_insert_with(|| format!("T{next}")).clone()
    }

    pub(super) fn of_member(&mut self, name: &str) -> String {
        let next = self.members.len();
        let known = self.members.entry(name.to_owned());
        known.or_insert_with(|| format!("m{next}")).clone()
    }
}

/// The document for progenitor, and the names in it that are replaced.
pub(super) fn document(spec: &Spec, names: &mut Names) -> (Value, Vec<String>) {
    let mut schemas = Map::new();
    let mut replaced = Vec::new();
    for (name, _) in OWN {
        schemas.insert(name.to_owned(), json!({"type": "string"}));
    }
    for component in spec.schemas.components.values().filter(|it| it.is_type()) {
        let name = names.of_type(&component.name);
        // An object whose members all stand in the other direction would become a map.
        if matches!(&component.kind, Kind::Struct(members) if !members.is_empty()) {
            let schema = object(&spec.schemas, component, names);
            schemas.insert(name, schema);
        } else {
            replaced.push(component.name.clone());
            schemas.insert(name, json!({"type": "string"}));
        }
    }
    for operation in &spec.operations {
        let name = names.of_type(&format!("{}()", operation.id));
        let schema = arguments(&spec.schemas, &operation.parameters, names);
        schemas.insert(name, schema);
    }
    let document = json!({
        "openapi": "3.0.3",
        "info": {"title": "View", "version": "1"},
        "paths": {},
        "components": {"schemas": schemas},
    });
    (document, replaced)
}

fn object(schemas: &Schemas, component: &Component, names: &mut Names) -> Value {
    let members = component.members();
    let required = members.iter().filter(|it| it.required);
    let required: Vec<String> = required.map(|it| names.of_member(&it.name)).collect();
    // What is inherited unchanged is left to progenitor's merging.
    let merges: Vec<&Component> = component
        .merges
        .iter()
        .filter_map(|name| schemas.components.get(name))
        .filter(|it| {
            !it.members().is_empty()
                && it.members().iter().all(|inherited| {
                    members.iter().any(|own| {
                        own.name == inherited.name
                            && own.value.shape == inherited.value.shape
                            && own.value.nullable == inherited.value.nullable
                    })
                })
        })
        .collect();
    let is_inherited = |name: &String| {
        merges
            .iter()
            .any(|it| it.members().iter().any(|inherited| inherited.name == *name))
    };
    let mut properties = Map::new();
    for member in members.iter().filter(|it| !is_inherited(&it.name)) {
        let schema = nullable(
            shape(schemas, &member.value.shape, names),
            member.value.nullable,
        );
        properties.insert(names.of_member(&member.name), schema);
    }
    if merges.is_empty() || merges.len() == 1 && properties.is_empty() {
        // Of one schema and nothing else it would make another name for that.
        for member in members {
            let schema = nullable(
                shape(schemas, &member.value.shape, names),
                member.value.nullable,
            );
            properties.insert(names.of_member(&member.name), schema);
        }
        return json!({"type": "object", "required": required, "properties": properties});
    }
    let own = json!({"type": "object", "required": required, "properties": properties});
    let inherited = merges.iter().map(|it| refer(&names.of_type(&it.name)));
    let mut all: Vec<Value> = inherited.collect();
    all.push(own);
    json!({ "allOf": all })
}

fn arguments(schemas: &Schemas, parameters: &[Parameter], names: &mut Names) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for parameter in parameters {
        let name = names.of_member(&parameter.field);
        if parameter.required {
            required.push(name.clone());
        }
        let shape = match &parameter.value.shape {
            // Limits and offsets: never negative, and handed in as they are counted.
            Shape::Integer {
                min: Some(0..),
                max: Some(max),
            } if u32::try_from(*max).is_ok() => {
                json!({"type": "integer", "format": "uint32"})
            }
            other => shape(schemas, other, names),
        };
        properties.insert(name, shape);
    }
    json!({"type": "object", "required": required, "properties": properties})
}

fn refer(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

fn nullable(schema: Value, is_nullable: bool) -> Value {
    match (is_nullable, schema.get("$ref").is_some()) {
        (false, _) => schema,
        (true, true) => json!({"nullable": true, "allOf": [schema]}),
        (true, false) => {
            let mut schema = schema;
            schema["nullable"] = json!(true);
            schema
        }
    }
}

fn shape(schemas: &Schemas, shape: &Shape, names: &mut Names) -> Value {
    match shape {
        Shape::Named(_) if schemas.constant(shape).is_some() => json!({"type": "string"}),
        Shape::Named(name) => refer(&names.of_type(name)),
        Shape::Value => refer("ViewValue"),
        Shape::Record => refer("ViewRecord"),
        Shape::Page { .. } => refer("ViewPage"),
        Shape::Timestamp => refer("ViewTimestamp"),
        Shape::Date => refer("ViewDate"),
        Shape::Number => refer("ViewNumber"),
        Shape::Text { secret: true, .. } => refer("ViewSecret"),
        Shape::Text { secret: false, .. } => json!({"type": "string"}),
        Shape::Integer { .. } => json!({"type": "integer", "format": "int64"}),
        Shape::Boolean => json!({"type": "boolean"}),
        Shape::Array { items, .. } => {
            json!({"type": "array", "items": self::shape(schemas, items, names)})
        }
        Shape::Map(inner) => {
            json!({"type": "object", "additionalProperties": self::shape(schemas, inner, names)})
        }
        Shape::Nullable(inner) => nullable(self::shape(schemas, inner, names), true),
    }
}
