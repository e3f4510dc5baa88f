//! The generator view of a spec, and what progenitor makes of it.
//!
//! The published spec stays honest; progenitor gets a smaller document that holds only what it can take: one
//! success response per operation, no header, no bounds, no defaults, and instead of every special shape a
//! reference to a component that is replaced by a type of ours. Names of the replacing types stand under the
//! root [`OWN`], which the writers turn into what the generated file imports.

use std::collections::BTreeSet;

use progenitor::{GenerationSettings, Generator, InterfaceStyle, TypeImpl};
use serde_json::{Map, Value, json};
use syn::{File, ImplItem, ImplItemFn, Item, ItemStruct};

use super::schema::{Component, Kind, Shape};
use super::spec::{Method, Operation, Place, Spec};
use super::{Result, names};

/// The root of the paths of replacing types; no crate of this name exists.
pub(crate) const OWN: &str = "own_types";

/// Replacements for shapes without a component: the name in the view, and the type.
const SHAPES: [(&str, &str); 7] = [
    ("ViewValue", "RawJson"),
    ("ViewRecord", "Record"),
    ("ViewPage", "Page"),
    ("ViewTimestamp", "Timestamp"),
    ("ViewDate", "Date"),
    ("ViewNumber", "Number"),
    ("ViewSecret", "Secret"),
];

/// What progenitor generated.
pub(crate) struct Generated {
    /// The structs of the module `types`.
    pub(crate) structs: Vec<ItemStruct>,
    /// The calls of its client, by name in snake case.
    pub(crate) calls: Vec<ImplItemFn>,
}

/// Runs progenitor over the view, and makes sure that nothing of it got lost or was not replaced.
pub(crate) fn generate(spec: &Spec) -> Result<Generated> {
    let document = serde_json::from_value(document(spec))
        .map_err(|error| format!("the generator view: {error}"))?;
    let mut settings = GenerationSettings::default();
    settings.with_interface(InterfaceStyle::Positional);
    let own = spec
        .schemas
        .components
        .values()
        .filter(|component| is_replaced(component))
        .map(|component| &*component.name);
    for (name, replacement) in SHAPES.into_iter().chain(own.map(|name| (name, name))) {
        settings.with_replacement(
            name,
            format!("::{OWN}::{replacement}"),
            [TypeImpl::Display].into_iter(),
        );
    }
    let tokens = Generator::new(&settings)
        .generate_tokens(&document)
        .map_err(|error| format!("progenitor: {error}"))?;
    let file: File = syn::parse2(tokens)
        .map_err(|error| format!("progenitor's output does not parse: {error}"))?;
    let generated = Generated {
        structs: structs(&file),
        calls: calls(&file),
    };

    let found: BTreeSet<String> = generated
        .structs
        .iter()
        .map(|item| item.ident.to_string())
        .chain(enums(&file))
        .collect();
    let expected = spec
        .schemas
        .components
        .values()
        .filter(|component| matches!(component.kind, Kind::Struct(_)));
    compare(
        "types",
        &expected.map(|component| component.name.clone()).collect(),
        &found,
    )?;
    let found = generated
        .calls
        .iter()
        .map(|call| call.sig.ident.to_string())
        .collect();
    compare(
        "calls",
        &spec
            .operations
            .iter()
            .map(|operation| names::snake(&operation.id))
            .collect(),
        &found,
    )?;
    Ok(generated)
}

fn compare(what: &str, expected: &BTreeSet<String>, found: &BTreeSet<String>) -> Result<()> {
    if expected == found {
        return Ok(());
    }
    let difference: Vec<&String> = expected.symmetric_difference(found).collect();
    Err(format!(
        "progenitor made other {what} than the spec has; they differ in {difference:?}"
    ))
}

fn is_replaced(component: &Component) -> bool {
    matches!(component.kind, Kind::Enum { .. } | Kind::Reference(_))
}

pub(crate) fn document(spec: &Spec) -> Value {
    let mut paths = Map::new();
    for operation in &spec.operations {
        let method = match operation.method {
            Method::Get => "get",
            Method::Post => "post",
        };
        let item = paths
            .entry(operation.path.clone())
            .or_insert_with(|| json!({}));
        item[method] = call(spec, operation);
    }
    let mut schemas = Map::new();
    for (name, _) in SHAPES {
        schemas.insert(name.to_owned(), json!({"type": "string"}));
    }
    for component in spec.schemas.components.values() {
        if is_replaced(component) {
            schemas.insert(component.name.clone(), json!({"type": "string"}));
        } else if let Kind::Struct(properties) = &component.kind {
            // All members are required here, so that the types come bare; whether one is optional is known from
            // the spec. So are unknown members.
            let required: Vec<&str> = properties.iter().map(|property| &*property.name).collect();
            let members: Map<String, Value> = properties
                .iter()
                .map(|property| (property.name.clone(), shape(spec, &property.value.shape)))
                .collect();
            let schema = json!({"type": "object", "required": required, "properties": members});
            schemas.insert(component.name.clone(), schema);
        }
    }
    json!({
        "openapi": "3.0.3",
        "info": {"title": spec.title, "version": spec.version},
        "paths": paths,
        "components": {"schemas": schemas},
    })
}

fn call(spec: &Spec, operation: &Operation) -> Value {
    // progenitor knows no hook that could add a header to one call; the builder does that.
    let parameters: Vec<Value> = operation
        .parameters
        .iter()
        .filter(|parameter| parameter.place != Place::Header)
        .map(|parameter| {
            let schema = match &parameter.value.shape {
                Shape::Integer { .. } => json!({"type": "integer", "format": "uint32"}),
                other => shape(spec, other),
            };
            json!({"name": parameter.name, "in": parameter.place.name(), "required": parameter.required, "schema": schema})
        })
        .collect();
    let reply = shape(spec, &operation.reply.shape);
    let mut call = json!({
        "operationId": operation.id,
        "parameters": parameters,
        "responses": {"200": {"description": "", "content": {"application/json": {"schema": reply}}}},
    });
    if let Some(body) = &operation.body {
        let media = if body.form {
            "application/x-www-form-urlencoded"
        } else {
            "application/json"
        };
        let content = json!({media: {"schema": shape(spec, &body.value.shape)}});
        call["requestBody"] = json!({"required": true, "content": content});
    }
    call
}

fn shape(spec: &Spec, shape: &Shape) -> Value {
    let refer = |name: &str| json!({"$ref": format!("#/components/schemas/{name}")});
    match shape {
        Shape::Named(_) if spec.schemas.constant(shape).is_some() => json!({"type": "string"}),
        Shape::Named(name) => refer(name),
        Shape::Value => refer("ViewValue"),
        Shape::Record => refer("ViewRecord"),
        Shape::Page => refer("ViewPage"),
        Shape::Timestamp => refer("ViewTimestamp"),
        Shape::Date => refer("ViewDate"),
        Shape::Number => refer("ViewNumber"),
        Shape::Text { secret: true, .. } => refer("ViewSecret"),
        Shape::Text { secret: false, .. } => json!({"type": "string"}),
        Shape::Integer { .. } => json!({"type": "integer", "format": "int64"}),
        Shape::Boolean => json!({"type": "boolean"}),
        Shape::Array { items, .. } => json!({"type": "array", "items": self::shape(spec, items)}),
    }
}

fn types(file: &File) -> impl Iterator<Item = &Item> {
    let module = file.items.iter().find_map(|item| match item {
        Item::Mod(module) if module.ident == "types" => module.content.as_ref(),
        _ => None,
    });
    module.into_iter().flat_map(|(_, items)| items)
}

fn structs(file: &File) -> Vec<ItemStruct> {
    types(file)
        .filter_map(|item| {
            if let Item::Struct(item) = item {
                Some(item.clone())
            } else {
                None
            }
        })
        .collect()
}

fn enums(file: &File) -> impl Iterator<Item = String> {
    types(file).filter_map(|item| {
        if let Item::Enum(item) = item {
            Some(item.ident.to_string())
        } else {
            None
        }
    })
}

fn calls(file: &File) -> Vec<ImplItemFn> {
    let items = file.items.iter().filter_map(|item| match item {
        Item::Impl(item) if item.trait_.is_none() => Some(&item.items),
        _ => None,
    });
    let functions = items.flatten().filter_map(|item| {
        if let ImplItem::Fn(function) = item {
            Some(function)
        } else {
            None
        }
    });
    functions
        .filter(|function| function.sig.asyncness.is_some())
        .cloned()
        .collect()
}
