//! The provenance of operations and types: documented, assumed, or known by name only.

use std::collections::BTreeSet;

use super::docs::prose;
use super::schema::{Component, Kind, Provenance, Use};
use super::spec::Operation;

/// Where the entries of `specs/ASSUMPTIONS.md` are in the documentation.
const REGISTER: &str = "[assumptions](sdk_core::guide::gaps#assumptions)";

/// The provenance of an operation, in one line.
pub(crate) fn operation(operation: &Operation) -> String {
    let known = if operation.name_only {
        "Known by name only"
    } else {
        "Documented"
    };
    let assumed = assumed(&operation.assumptions);
    format!("{known}: {}. {assumed}", prose(&operation.source))
        .trim_end()
        .to_owned()
}

/// The provenance of a type, in one line.
pub(crate) fn component(component: &Component) -> String {
    let known = match (component.provenance, &component.kind) {
        (Provenance::Assumed, _) => {
            let ids = list(&component.assumptions);
            return format!(
                "Provenance: not shown in the contract, but assumed ({ids}, see {REGISTER})."
            );
        }
        (Provenance::NameOnly, _) => "known by name only",
        (Provenance::Documented, Kind::Enum { closed: true, .. }) => "documented, with all values",
        (Provenance::Documented, Kind::Enum { closed: false, .. }) => {
            "documented, but not all values are shown"
        }
        (Provenance::Documented, _) => "documented",
    };
    let types = assumed_types(component);
    let types = if types.is_empty() {
        String::new()
    } else {
        format!(
            "The types of some members are assumed: {}, see {REGISTER}.",
            list(&types)
        )
    };
    let parts = [
        format!("Provenance: {known}."),
        assumed(&component.assumptions),
        types,
    ];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join(" ")
}

/// The provenance of a member, beyond that of its type; empty if nothing about it is assumed.
pub(crate) fn member(value: &Use) -> String {
    let others: BTreeSet<String> = value
        .assumptions
        .difference(&value.type_assumptions)
        .cloned()
        .collect();
    if value.type_assumptions.is_empty() {
        return assumed(&others);
    }
    let text = format!(
        "Its type is assumed: {}, see {REGISTER}. A value of another type is kept in `extra`. {}",
        list(&value.type_assumptions),
        assumed(&others)
    );
    text.trim_end().to_owned()
}

/// The sentence about assumptions; empty if there are none.
fn assumed(ids: &BTreeSet<String>) -> String {
    if ids.is_empty() {
        return String::new();
    }
    format!("Assumed: {}, see {REGISTER}.", list(ids))
}

/// The ids with commas.
pub(crate) fn list(ids: &BTreeSet<String>) -> String {
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    ids.join(", ")
}

/// The assumptions about the types of a component's members.
fn assumed_types(component: &Component) -> BTreeSet<String> {
    let Kind::Struct(members) = &component.kind else {
        return BTreeSet::new();
    };
    members
        .iter()
        .flat_map(|member| member.value.type_assumptions.iter().cloned())
        .collect()
}
