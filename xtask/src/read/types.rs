//! Compares the type of each field with the one that progenitor found, so that neither reading can lose anything
//! unnoticed.

use super::graph::{Found, Objects};
use crate::findings::{Findings, Weight};
use crate::model::{Component, Kind, Operation, Schemas, Ty};
use crate::node::step;

/// Makes a field raw JSON of which progenitor makes something else, and says which fields are boxed and which
/// parameters count.
pub(super) fn set(
    schemas: &mut Schemas,
    operations: &mut [Operation],
    objects: &Objects,
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
            let ty = &member.value.ty;
            let field = fields.and_then(|it| it.get(&member.name));
            let fits = match field.map(|it| it.found.bare()) {
                Some(Found::Boxed(found)) => {
                    member.boxed = true;
                    is_for(&known, found, ty)
                }
                Some(found) => is_for(&known, found, ty),
                // The tag of a variant that does not describe it.
                None => known.named(ty).is_some_and(Component::is_stated),
            };
            if fits {
                continue;
            }
            let rule = match field {
                Some(field) => format!("progenitor makes {:?} of {ty:?}", field.found),
                None => {
                    "progenitor leaves no type of it: its schemas contradict each other".to_owned()
                }
            };
            findings.add(
                Weight::Raw,
                &step(&place, &member.name),
                rule,
                "it stays raw JSON, unless the overlay says more",
            );
            member.boxed = false;
            member.value.ty = Ty::Value;
        }
    }
    for parameter in operations.iter_mut().flat_map(|it| &mut it.parameters) {
        if let Ty::Integer {
            min: Some(min),
            max: Some(max),
        } = parameter.value.ty
            && let (Ok(min), Ok(max)) = (u32::try_from(min), u32::try_from(max))
        {
            parameter.value.ty = Ty::Count { min, max };
        }
    }
}

/// Whether progenitor found the type that was read.
fn is_for(schemas: &Schemas, found: &Found, ty: &Ty) -> bool {
    match (found, ty) {
        (Found::List(found), Ty::Array { items, .. }) => is_for(schemas, found, items),
        (Found::Map(found), Ty::Map(values)) => is_for(schemas, found, values),
        (Found::Option(found), Ty::Nullable(value)) => is_for(schemas, found, value),
        (Found::Schema(place), Ty::Named(_)) => {
            schemas.named(ty).is_some_and(|it| it.schema == *place)
        }
        (Found::Leaf | Found::Text, Ty::Named(_)) => {
            !matches!(schemas.kind(ty), None | Some(Kind::Struct(_)))
        }
        (Found::Own(own), _) if schemas.rust(ty) == *own => true,
        (Found::Merged(_), Ty::Named(_))
        | (Found::Text, Ty::Text { secret: false, .. })
        // What is kept raw can be anything, and so can the values of an enumeration.
        | (Found::Integer, Ty::Integer { .. })
        | (Found::Bool, Ty::Boolean)
        | (_, Ty::Value)
        | (
            Found::Leaf,
            Ty::Record
            | Ty::Text { .. }
            | Ty::Integer { .. }
            | Ty::Boolean
            | Ty::Number
            | Ty::Timestamp
            | Ty::Date,
        ) => true,
        _ => false,
    }
}
