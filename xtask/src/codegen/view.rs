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
use super::spec::{Operation, Place, Spec};
use super::{Result, names};
use crate::at;

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
    let document = serde_json::from_value(document(spec)).map_err(at("the generator view"))?;
    let mut settings = GenerationSettings::default();
    settings.with_interface(InterfaceStyle::Positional);
    let components = || spec.schemas.components.values();
    let own = components()
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
        .map_err(at("progenitor"))?;
    let file: File = syn::parse2(tokens).map_err(at("progenitor's output does not parse"))?;
    let (mut structs, mut found) = (Vec::new(), Vec::new());
    for item in types(&file) {
        match item {
            Item::Struct(item) => {
                found.push(item.ident.to_string());
                structs.push(item.clone());
            }
            Item::Enum(item) => found.push(item.ident.to_string()),
            _ => {}
        }
    }
    let objects = components().filter(|component| matches!(component.kind, Kind::Struct(_)));
    compare(
        "types",
        objects.map(|component| component.name.clone()),
        found,
    )?;
    let calls = calls(&file);
    let found = calls.iter().map(|call| call.sig.ident.to_string());
    let expected = spec.operations.iter();
    compare(
        "calls",
        expected.map(|operation| names::snake(&operation.id)),
        found,
    )?;
    Ok(Generated { structs, calls })
}

fn compare(
    what: &str,
    expected: impl IntoIterator<Item = String>,
    found: impl IntoIterator<Item = String>,
) -> Result<()> {
    let expected = BTreeSet::from_iter(expected);
    let found = BTreeSet::from_iter(found);
    if expected == found {
        return Ok(());
    }
    let difference: Vec<&String> = expected.symmetric_difference(&found).collect();
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
        let item = paths
            .entry(operation.path.clone())
            .or_insert_with(|| json!({}));
        item[operation.method.key()] = call(spec, operation);
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

fn calls(file: &File) -> Vec<ImplItemFn> {
    let items = file.items.iter().filter_map(|item| match item {
        Item::Impl(item) if item.trait_.is_none() => Some(&item.items),
        _ => None,
    });
    let functions = items.flatten().filter_map(|item| match item {
        ImplItem::Fn(function) if function.sig.asyncness.is_some() => Some(function.clone()),
        _ => None,
    });
    functions.collect()
}
