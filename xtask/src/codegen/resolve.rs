//! Reads the schemas of a spec: what they mean, and what of them is not understood.

use std::collections::BTreeSet;

use super::document::{Map, RawSchema};
use super::schema::{Component, Kind, Property, Provenance, Schemas, Shape, Use};
use super::{Result, names};
use crate::{assumptions, at};

/// Reads the components; an error names the one at fault.
pub(crate) fn components(raw: &Map<RawSchema>) -> Result<Schemas> {
    let mut components = Map::new();
    for (name, schema) in raw {
        let component = component(raw, name, schema);
        let component = component.map_err(at(format!("schema `{name}`")))?;
        components.insert(name.clone(), component);
    }
    Ok(Schemas { components })
}

fn component(raw: &Map<RawSchema>, name: &str, schema: &RawSchema) -> Result<Component> {
    if !names::is_pascal(name) {
        return Err("its name must be in Pascal case".into());
    }
    let version = schema.properties.get("schemaVersion");
    let version = version.and_then(|it| raw.get(component_name(it.reference.as_deref()?)));
    let version = version.filter(|target| target.constant);
    Ok(Component {
        name: name.to_owned(),
        description: schema.description.trim().to_owned(),
        provenance: provenance(schema)?,
        kind: kind(raw, schema)?,
        assumptions: own_assumptions(schema),
        schema_version: version.and_then(|target| target.values.first().cloned()),
    })
}

fn provenance(schema: &RawSchema) -> Result<Provenance> {
    match schema.provenance.as_deref() {
        None | Some("documented") => Ok(Provenance::Documented),
        Some("assumed") if schema.assumption.is_some() => Ok(Provenance::Assumed),
        Some("assumed") => Err("`x-provenance: assumed` needs an `x-assumption`".into()),
        Some("name-only") if !has_own_type(schema) => Ok(Provenance::NameOnly),
        Some("name-only") => {
            Err("what is known by name only has no members, values or form".into())
        }
        Some(other) => Err(format!(
            "`x-provenance: {other}` is none of `documented`, `assumed` and `name-only`"
        )),
    }
}

fn kind(raw: &Map<RawSchema>, schema: &RawSchema) -> Result<Kind> {
    if schema.constant {
        return match schema.values.as_slice() {
            [value] => Ok(Kind::Constant(value.clone())),
            _ => Err("`x-const` needs an `enum` of exactly one value".into()),
        };
    }
    if !schema.values.is_empty() {
        if !schema.open_enum {
            return Err("an `enum` needs `x-open-enum: true` or `x-const: true`".into());
        }
        return Ok(Kind::Enum {
            values: schema.values.clone(),
            closed: true,
        });
    }
    if !schema.known_values.is_empty() {
        return Ok(Kind::Enum {
            values: schema.known_values.clone(),
            closed: false,
        });
    }
    if let Some(pattern) = &schema.pattern {
        return Ok(Kind::Reference(pattern.clone()));
    }
    if schema.is_reference {
        return Err("`x-reference` needs a `pattern`".into());
    }
    if has_own_type(schema) {
        return properties(raw, schema).map(Kind::Struct);
    }
    plain(raw, schema).map(|_| Kind::Plain)
}

/// Whether a component becomes a type.
fn has_own_type(schema: &RawSchema) -> bool {
    !schema.page && is_nameworthy(schema)
}

/// Whether a schema must be a component with a name.
fn is_nameworthy(schema: &RawSchema) -> bool {
    schema.pattern.is_some()
        || !schema.values.is_empty()
        || !schema.known_values.is_empty()
        || !schema.properties.is_empty()
}

fn plain(raw: &Map<RawSchema>, schema: &RawSchema) -> Result<Shape> {
    if schema.page {
        Ok(Shape::Page)
    } else {
        shape(raw, schema)
    }
}

fn properties(raw: &Map<RawSchema>, schema: &RawSchema) -> Result<Vec<Property>> {
    let open = schema.additional_properties.as_ref();
    let open = open.and_then(serde_yaml_ng::Value::as_mapping);
    if !open.is_some_and(serde_yaml_ng::Mapping::is_empty) {
        return Err("an object with members needs `additionalProperties: {}`, or unknown members would be lost".into());
    }
    let mut required = schema.required.iter();
    if let Some(name) = required.find(|name| !schema.properties.contains_key(*name)) {
        return Err(format!(
            "it requires `{name}`, which is not among its members"
        ));
    }
    let mut members = Vec::new();
    for (name, property) in &schema.properties {
        let field = names::snake(name);
        if field == "extra" {
            return Err("a member must not be called `extra`".into());
        }
        let value = used(raw, property).map_err(at(format!("member `{name}`")))?;
        let required = schema.required.contains(name);
        if required && !value.type_assumptions.is_empty() {
            return Err(format!(
                "member `{name}`: one of an assumed type must be optional, since another type is read as its absence"
            ));
        }
        members.push(Property {
            name: name.clone(),
            field,
            required,
            value,
        });
    }
    Ok(members)
}

/// What a schema means where it is used.
pub(crate) fn used(raw: &Map<RawSchema>, schema: &RawSchema) -> Result<Use> {
    if let [only] = schema.all_of.as_slice() {
        let mut inner = used(raw, only)?;
        inner.nullable |= schema.nullable;
        inner.assumptions.extend(own_assumptions(schema));
        inner.assumptions.extend(type_assumptions(schema));
        inner.type_assumptions.extend(type_assumptions(schema));
        if !schema.description.is_empty() {
            schema.description.trim().clone_into(&mut inner.description);
        }
        return Ok(inner);
    }
    if let Some(reference) = &schema.reference {
        let name = component_name(reference);
        let target = raw.get(name);
        let target = target.ok_or_else(|| format!("`{reference}` refers to nothing"))?;
        // The members of the target are not read here: a type may contain itself.
        let shape = if has_own_type(target) {
            Shape::Named(name.to_owned())
        } else {
            plain(raw, target)?
        };
        return Ok(as_used(shape, target));
    }
    if schema.page || is_nameworthy(schema) {
        return Err(
            "an object with members, an enumeration and a pattern must be components with a name"
                .into(),
        );
    }
    let mut value = as_used(shape(raw, schema)?, schema);
    value.assumptions.extend(own_assumptions(schema));
    Ok(value)
}

/// A shape with what its schema says of it.
fn as_used(shape: Shape, schema: &RawSchema) -> Use {
    Use {
        shape,
        nullable: schema.nullable,
        description: schema.description.trim().to_owned(),
        default: schema.default.as_ref().map(plain_text),
        assumptions: type_assumptions(schema).collect(),
        type_assumptions: type_assumptions(schema).collect(),
    }
}

fn shape(raw: &Map<RawSchema>, schema: &RawSchema) -> Result<Shape> {
    if !schema.all_of.is_empty() {
        return Err("`allOf` is understood around a single `$ref` only".into());
    }
    match (schema.kind.as_deref(), schema.format.as_deref()) {
        (None, None) => Ok(Shape::Value),
        (Some("object"), None) => Ok(Shape::Record),
        (Some("string"), Some("date-time")) => Ok(Shape::Timestamp),
        (Some("string"), Some("date")) => Ok(Shape::Date),
        (Some("string"), None | Some("password")) => {
            let (min, max) = (schema.min_length, schema.max_length);
            let secret = schema.format.is_some();
            if secret && (min, max) != (None, None) {
                return Err("a password has no bounds: they are not checked".into());
            }
            Ok(Shape::Text { min, max, secret })
        }
        (Some("integer"), None | Some("int64")) => Ok(Shape::Integer {
            min: schema.minimum,
            max: schema.maximum,
        }),
        (Some("number"), None) => Ok(Shape::Number),
        (Some("boolean"), None) => Ok(Shape::Boolean),
        (Some("array"), None) => {
            let items = schema.items.as_deref().ok_or("an array needs `items`")?;
            let items = used(raw, items)?;
            if items.nullable {
                return Err("items of an array must not be nullable".into());
            }
            Ok(Shape::Array {
                items: Box::new(items.shape),
                min: schema.min_items,
                max: schema.max_items,
            })
        }
        (kind, format) => Err(format!(
            "type {kind:?} with format {format:?} is not understood"
        )),
    }
}

/// `#/components/schemas/Person` as `Person`.
pub(crate) fn component_name(reference: &str) -> &str {
    reference.rsplit('/').next().unwrap_or(reference)
}

fn own_assumptions(schema: &RawSchema) -> BTreeSet<String> {
    assumptions::ids(schema.assumption.as_ref())
        .map(str::to_owned)
        .collect()
}

fn type_assumptions(schema: &RawSchema) -> impl Iterator<Item = String> {
    assumptions::ids(schema.type_assumption.as_ref()).map(str::to_owned)
}

fn plain_text(value: &serde_yaml_ng::Value) -> String {
    match value {
        serde_yaml_ng::Value::String(text) => text.clone(),
        other => serde_yaml_ng::to_string(other)
            .unwrap_or_default()
            .trim()
            .to_owned(),
    }
}
