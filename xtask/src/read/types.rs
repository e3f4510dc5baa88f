//! Gives each field and each parameter its type. That of a field comes from the type graph, and must be one for the
//! shape that was read, so that neither reading can lose anything unnoticed.

use super::graph::{Found, Objects};
use crate::findings::{Findings, Weight};
use crate::model::{Component, Kind, Operation, Schemas, Shape};
use crate::node::step;

/// Sets the types of fields and parameters. A field of which progenitor makes something else is raw JSON.
pub(super) fn set(
    schemas: &mut Schemas,
    operations: &mut [Operation],
    objects: &Objects,
    own: bool,
    findings: &mut Findings,
) {
    let known = schemas.clone();
    for component in schemas.components.values_mut() {
        let place = step(&component.schema, "properties");
        let fields = objects.get(&component.schema);
        let Kind::Struct(members) = &mut component.kind else {
            continue;
        };
        for member in members {
            let shape = &member.value.shape;
            let field = fields.and_then(|it| it.get(&member.name));
            let fits = match field.map(|it| it.found.bare()) {
                Some(Found::Boxed(found)) => {
                    member.boxed = true;
                    is_for(&known, found, shape)
                }
                Some(found) => is_for(&known, found, shape),
                // The tag of a variant that does not describe it.
                None => known.named(shape).is_some_and(Component::is_stated),
            };
            if fits {
                continue;
            }
            let weight = if own { Weight::Refused } else { Weight::Raw };
            let rule = match field {
                Some(field) => format!("progenitor makes {:?} of {shape:?}", field.found),
                None => {
                    "progenitor leaves no type of it: its schemas contradict each other".to_owned()
                }
            };
            findings.add(
                weight,
                &step(&place, &member.name),
                rule,
                "it stays raw JSON, unless the overlay says more",
            );
            member.boxed = false;
            member.value.shape = Shape::Value;
        }
    }
    for parameter in operations.iter_mut().flat_map(|it| &mut it.parameters) {
        if let Shape::Integer {
            min: Some(min),
            max: Some(max),
        } = parameter.value.shape
            && let (Ok(min), Ok(max)) = (u32::try_from(min), u32::try_from(max))
        {
            parameter.value.shape = Shape::Count { min, max };
        }
    }
}

/// Whether the type that was found is one for the shape.
fn is_for(schemas: &Schemas, found: &Found, shape: &Shape) -> bool {
    match (found, shape) {
        (Found::List(found), Shape::Array { items, .. }) => is_for(schemas, found, items),
        (Found::Map(found), Shape::Map(values)) => is_for(schemas, found, values),
        (Found::Option(found), Shape::Nullable(value)) => is_for(schemas, found, value),
        (Found::Schema(place), Shape::Named(_)) => {
            schemas.named(shape).is_some_and(|it| it.schema == *place)
        }
        (Found::Leaf | Found::Text, Shape::Named(_)) => {
            !matches!(schemas.kind(shape), None | Some(Kind::Struct(_)))
        }
        (Found::Own(own), _) if schemas.rust(shape) == *own => true,
        (Found::Merged(_), Shape::Named(_))
        | (Found::Text, Shape::Text { secret: false, .. })
        // What is kept raw can be anything, and so can the values of an enumeration.
        | (Found::Integer, Shape::Integer { .. })
        | (Found::Bool, Shape::Boolean)
        | (_, Shape::Value)
        | (
            Found::Leaf,
            Shape::Record
            | Shape::Text { .. }
            | Shape::Integer { .. }
            | Shape::Boolean
            | Shape::Number
            | Shape::Timestamp
            | Shape::Date,
        ) => true,
        _ => false,
    }
}
