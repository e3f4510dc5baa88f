//! What the types of a spec leave open.

use super::row::{Row, row};
use crate::Result;
use crate::model::{Component, Kind, Property, Provenance, Ty, Use};
use crate::write::provenance;

/// The rows of a type and its members. A member that is left open without a word is an error.
pub(super) fn of_type(component: &Component, strict: bool) -> Result<Vec<Row>> {
    let name = &component.name;
    let Kind::Struct(members) = &component.kind else {
        let treatment = match &component.kind {
            Kind::Enum { closed: false, .. } => {
                "another value is `Unknown`, and written back as it came"
            }
            Kind::Enum { closed: true, .. } => "any move is tried, and the service decides",
            _ => "text",
        };
        let row = row(name, &component.description, treatment);
        return Ok(row.into_iter().collect());
    };
    let treatment = of_members(component, members);
    let whole = row(name, &component.description, &treatment);
    let told = whole.is_some();
    let mut rows: Vec<Row> = whole.into_iter().collect();
    for member in members {
        let value = &member.value;
        let place = format!("{name}.{}", member.name);
        let own = row(&place, &value.description, &treatment_of(value));
        if strict && own.is_none() && is_open(&value.ty) && !told {
            return Err(format!(
                "schema `{name}`: member `{}` is left open, and no description says what is not shown",
                member.name
            ));
        }
        // What has a type of its own has a row of its own, and what the type says is not said twice.
        let elsewhere = value.ty.name().is_some() || told && is_open(&value.ty);
        if !elsewhere {
            rows.extend(own);
        }
    }
    Ok(rows)
}

fn is_open(ty: &Ty) -> bool {
    match ty {
        Ty::Array { items, .. } => is_open(items),
        ty => matches!(ty, Ty::Value | Ty::Record),
    }
}

/// What becomes of the members of a type about which something is not shown.
fn of_members(component: &Component, members: &[Property]) -> String {
    if component.provenance == Provenance::Assumed {
        let ids = provenance::list(&component.assumptions);
        return format!("its members are assumed ({ids})");
    }
    let mut treatment: Vec<String> = members
        .iter()
        .filter(|member| is_open(&member.value.ty))
        .map(|member| format!("`{}`: {}", member.name, treatment_of(&member.value)))
        .collect();
    if component.description.contains("required") {
        treatment.push("a member is required only where that is documented".into());
    }
    if treatment.is_empty() {
        treatment.extend(members.first().map(|member| treatment_of(&member.value)));
    }
    treatment.join("; ")
}

/// What the SDK does about a value.
pub(super) fn treatment_of(value: &Use) -> String {
    let text = match &value.ty {
        Ty::Value => "any JSON, as `RawJson`",
        Ty::Record => "an open object, as `Record`",
        Ty::Array { items, .. } => match **items {
            Ty::Value => "a list of any JSON, as `RawJson`",
            Ty::Record => "a list of open objects, as `Record`",
            _ => "a list of any text",
        },
        _ => "any text",
    };
    if value.type_assumptions.is_empty() {
        text.to_owned()
    } else {
        let ids = provenance::list(&value.type_assumptions);
        format!("{text}; that it is text is assumed ({ids})")
    }
}
