//! The provenance of operations and types: documented, assumed, or known by name only.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::model::{Component, Kind, Operation, Provenance, Use};

use super::text::{code, prose};

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
    sentences([known, assumed(&operation.assumptions)])
}

/// The description of a type, with its provenance.
pub(super) fn described(component: &Component) -> String {
    let mut text = prose(&component.description);
    if text.is_empty() {
        text = format!("The schema `{}`.", component.name);
    }
    if let Kind::Reference(pattern) = &component.kind {
        let _ = write!(text, "\n\nIts form is {}.", code(&pattern.source));
    }
    if component.deprecated {
        text += "\n\nDeprecated by the contract.";
    }
    text + "\n\n" + &provenance(component)
}

/// The provenance of a type, in one line.
fn provenance(component: &Component) -> String {
    let known = match (component.provenance, &component.kind) {
        (Provenance::Assumed, _) => {
            let ids = list(&component.assumptions);
            return format!(
                "Provenance: not shown in the contract, but assumed ({ids}, see {REGISTER})."
            );
        }
        (Provenance::NameOnly, _) => "known by name only",
        (Provenance::Documented, Kind::Enum { closed, .. }) => {
            if *closed {
                "documented, with all values"
            } else {
                "documented, but not all values are shown"
            }
        }
        (Provenance::Documented, _) => "documented",
    };
    let members = component.members().iter();
    let types: BTreeSet<String> = members
        .flat_map(|member| member.value.type_assumptions.iter().cloned())
        .collect();
    let types = if types.is_empty() {
        String::new()
    } else {
        format!(
            "The types of some members are assumed: {}, see {REGISTER}.",
            list(&types)
        )
    };
    let known = format!("Provenance: {known}.");
    sentences([known, assumed(&component.assumptions), types])
}

/// Those that are not empty, one after the other.
fn sentences<const N: usize>(sentences: [String; N]) -> String {
    let mut text = sentences.into_iter().filter(|text| !text.is_empty());
    let first = text.next().unwrap_or_default();
    text.fold(first, |text, next| text + " " + &next)
}

/// The provenance of a member, beyond that of its type; empty if nothing about it is assumed.
pub(super) fn member(value: &Use) -> String {
    let others = value.assumptions.difference(&value.type_assumptions);
    let others = assumed(&others.cloned().collect());
    if value.type_assumptions.is_empty() {
        return others;
    }
    let types = format!(
        "Its type is assumed: {}, see {REGISTER}. A value of another type is kept in `extra`.",
        list(&value.type_assumptions)
    );
    sentences([types, others])
}

/// The sentence about assumptions; empty if there are none.
fn assumed(ids: &BTreeSet<String>) -> String {
    if ids.is_empty() {
        return String::new();
    }
    format!("Assumed: {}, see {REGISTER}.", list(ids))
}

/// The ids with commas.
pub(super) fn list(ids: &BTreeSet<String>) -> String {
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    ids.join(", ")
}
