//! Gives each field and each parameter its type. That of a field comes from the type graph, and must be one for the
//! shape that was read, so that neither reading can lose anything unnoticed.

use super::graph::{Found, Objects};
use crate::findings::{Findings, Weight};
use crate::model::{Kind, Operation, Schemas, Shape, Ty};
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
            let is_option = !member.required || member.value.nullable;
            let shape = member.value.shape.clone();
            let field = fields.and_then(|it| it.get(&member.name));
            let ty = match field.map(|it| it.found.bare()) {
                Some(found) => of_found(&known, found, &shape),
                // The tag of a variant that does not describe it.
                None => known
                    .named(&shape)
                    .filter(|it| it.is_stated())
                    .map(|_| known.ty(&shape)),
            };
            let ty = ty.unwrap_or_else(|| {
                let weight = if own { Weight::Refused } else { Weight::Raw };
                let rule = match field {
                    Some(field) => format!("progenitor makes {:?} of {shape:?}", field.found),
                    None => "progenitor leaves no type of it: its schemas contradict each other"
                        .to_owned(),
                };
                findings.add(
                    weight,
                    &step(&place, &member.name),
                    rule,
                    "it stays raw JSON, unless the overlay says more",
                );
                member.value.shape = Shape::Value;
                known.ty(&Shape::Value)
            });
            member.ty = optional(ty, is_option);
        }
    }
    for parameter in operations.iter_mut().flat_map(|it| &mut it.parameters) {
        let ty = match &parameter.value.shape {
            // Limits and offsets: never negative, and handed in as they are counted.
            Shape::Integer {
                min: Some(0..),
                max: Some(max),
            } if u32::try_from(*max).is_ok() => Ty::U32,
            shape => known.ty(shape),
        };
        parameter.ty = optional(ty, !parameter.required);
    }
}

fn optional(ty: Ty, is_option: bool) -> Ty {
    if is_option {
        Ty::Option(Box::new(ty))
    } else {
        ty
    }
}

/// The type that was found, if it is one for the shape.
fn of_found(schemas: &Schemas, found: &Found, shape: &Shape) -> Option<Ty> {
    let inner = |found: &Found, shape: &Shape| of_found(schemas, found, shape).map(Box::new);
    let plain = || Some(schemas.ty(shape));
    match (found, shape) {
        (Found::Boxed(found), _) => inner(found, shape).map(Ty::Boxed),
        (Found::List(found), Shape::Array { items, .. }) => inner(found, items).map(Ty::List),
        (Found::Map(found), Shape::Map(values)) => inner(found, values).map(Ty::Map),
        (Found::Option(found), Shape::Nullable(value)) => inner(found, value).map(Ty::Option),
        (Found::Schema(place), Shape::Named(_)) => {
            (schemas.named(shape)?.schema == *place).then(plain)?
        }
        (Found::Leaf | Found::Text, Shape::Named(_)) => {
            let is_object = matches!(schemas.kind(shape)?, Kind::Struct(_));
            (!is_object).then(plain)?
        }
        (Found::Merged(_), Shape::Named(_)) | (Found::Text, Shape::Text { secret: false, .. }) => {
            plain()
        }
        (Found::Own(own), _) if schemas.ty(shape) == Ty::Own(own) => plain(),
        // What is kept raw can be anything, and so can the values of an enumeration.
        (Found::Integer, Shape::Integer { .. })
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
        ) => plain(),
        _ => None,
    }
}
