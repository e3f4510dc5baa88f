//! The provenance of operations and types: documented, assumed, or known by name only.

use std::collections::BTreeSet;

use crate::model::{Component, Kind, Operation, Provenance, Use};

use super::docs::DEPRECATED;
use super::text::{code, joined, prose, prose_or};

/// Where the entries of `specs/ASSUMPTIONS.md` are in the documentation.
const REGISTER: &str = "[assumptions](sdk_core::guide::gaps#assumptions)";

/// The provenance of an operation, in one line.
pub(super) fn operation(operation: &Operation) -> String {
    let known = if operation.name_only {
        "Known by name only"
    } else {
        "Documented"
    };
    let known = format!("{known}: {}.", prose(&operation.source));
    joined([known, assumed("Assumed", &operation.assumptions)], " ")
}

/// The description of a type, with its provenance.
pub(super) fn described(component: &Component) -> String {
    let other = format!("The schema `{}`.", component.name);
    let form = match &component.kind {
        Kind::Reference(pattern) => format!("Its form is {}.", code(&pattern.source)),
        _ => String::new(),
    };
    let deprecated = component.deprecated.then_some(DEPRECATED);
    let parts = [
        prose_or(&component.description, other),
        form,
        deprecated.unwrap_or_default().to_owned(),
        provenance(component),
    ];
    joined(parts, "\n\n")
}

/// The provenance of a type, in one line.
fn provenance(component: &Component) -> String {
    let known = match (component.provenance, &component.kind) {
        (Provenance::Assumed, _) => {
            let ids = joined(&component.assumptions, ", ");
            return format!(
                "Provenance: not shown in the contract, but assumed ({ids}, see {REGISTER})."
            );
        }
        (Provenance::NameOnly, _) => "known by name only",
        (Provenance::Documented, Kind::Enum { closed: true, .. }) => "documented, with all values",
        (Provenance::Documented, Kind::Enum { .. }) => "documented, but not all values are shown",
        (Provenance::Documented, _) => "documented",
    };
    let fields = component.members().iter();
    let types = fields.flat_map(|field| &field.value.type_assumptions);
    let parts = [
        format!("Provenance: {known}."),
        assumed("Assumed", &component.assumptions),
        assumed("The types of some members are assumed", types),
    ];
    joined(parts, " ")
}

/// The provenance of a field, beyond that of its type; empty if nothing about it is assumed.
pub(super) fn field(value: &Use) -> String {
    let types = &value.type_assumptions;
    let others = value.assumptions.difference(types);
    let mut first = assumed("Its type is assumed", types);
    if !first.is_empty() {
        first += " A value of another type is kept in `extra`.";
    }
    joined([first, assumed("Assumed", others)], " ")
}

/// The sentence about assumptions; empty if there are none.
fn assumed<'a>(what: &str, ids: impl IntoIterator<Item = &'a String>) -> String {
    let ids: BTreeSet<&str> = ids.into_iter().map(String::as_str).collect();
    if ids.is_empty() {
        return String::new();
    }
    format!("{what}: {}, see {REGISTER}.", joined(ids, ", "))
}
