//! Compares the types of fields with the types that progenitor found. Both start from `form`, so this doesn't detect errors in
//! `form`. `tests/probe.rs` does.

use super::graph::{Found, Objects};
use crate::findings::{Findings, Weight};
use crate::model::{Component, Kind, Operation, Schemas, Ty};
use crate::node::step;

/// Turns a field into raw JSON if progenitor finds another type, and decides which fields are boxed and which parameters
/// are counts.
pub(super) fn compare(
    schemas: &mut Schemas,
    operations: &mut [Operation],
    objects: &Objects,
    findings: &mut Findings,
) {
    let known = schemas.clone();
    for component in schemas.components.values_mut() {
        let place = step(&component.fields_at, "properties");
        let fields = objects.get(&component.fields_at);
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
                // The tag of a variant whose schema does not describe it.
                None => known.named(ty).is_some_and(Component::is_stated),
            };
            if fits {
                continue;
            }
            let rule = match field {
                Some(field) => format!("progenitor reads {ty:?} as {:?}", field.found),
                None => {
                    "progenitor finds no type, because its schemas contradict each other".to_owned()
                }
            };
            findings.add(
                Weight::Raw,
                &step(&place, &member.name),
                rule,
                "it is raw JSON, unless the overlay describes it further",
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

/// Whether progenitor found the type that was read. Raw JSON matches any type.
fn is_for(schemas: &Schemas, found: &Found, ty: &Ty) -> bool {
    let is_object = matches!(schemas.kind(ty), Some(Kind::Struct(_)));
    match (found, ty) {
        (_, Ty::Value) => true,
        (Found::List(found), Ty::Array { items, .. }) => is_for(schemas, found, items),
        (Found::Map(found), Ty::Map(values)) => is_for(schemas, found, values),
        (Found::Option(found), Ty::Nullable(value)) => is_for(schemas, found, value),
        (Found::Schema(place), _) => schemas.named(ty).is_some_and(|it| it.fields_at == *place),
        (Found::Merged(_), _) => is_object,
        (Found::Own(own), _) => schemas.rust(ty) == *own,
        (Found::Integer, _) => matches!(ty, Ty::Integer { .. }),
        (Found::Bool, _) => *ty == Ty::Boolean,
        (Found::Text, Ty::Integer { .. } | Ty::Number | Ty::Boolean) => false,
        (Found::Text | Found::Opaque, _) => {
            !is_object && !matches!(ty, Ty::Array { .. } | Ty::Map(_))
        }
        _ => false,
    }
}
