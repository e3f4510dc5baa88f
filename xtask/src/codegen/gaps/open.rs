//! What a spec leaves open: the sentences that say so, and what the generator makes of the place.

use std::collections::BTreeSet;

use crate::codegen::reach::Reach;
use crate::codegen::schema::{Provenance, Shape};
use crate::codegen::spec::{Auth, Operation, Spec};
use crate::codegen::{Result, provenance};

use super::types::{of_type, treatment_of};

/// Where, what, and what the SDK does.
pub(super) type Row = [String; 3];

/// The rows of one spec: operations first, then types.
pub(super) fn rows(spec: &Spec) -> Result<Vec<Row>> {
    let reach = Reach::of(spec)?;
    let mut rows: Vec<Row> = name_only(spec).into_iter().collect();
    for operation in spec
        .operations
        .iter()
        .filter(|operation| !operation.name_only)
    {
        rows.extend(of_operation(operation));
    }
    rows.extend(error_bodies(spec));
    rows.extend(error_statuses(spec));
    for component in spec.schemas.components.values() {
        if component.provenance == Provenance::NameOnly {
            let treatment = "any value is taken as it is";
            rows.extend(row(&component.name, &component.description, treatment));
        } else if reach.contains(&component.name) {
            rows.extend(of_type(component)?);
        }
    }
    Ok(rows)
}

/// A row, if the text says that something is not shown.
pub(super) fn row(place: &str, text: &str, treatment: &str) -> Option<Row> {
    let gaps = gaps(text);
    (!gaps.is_empty()).then(|| [format!("`{place}`"), gaps, treatment.to_owned()])
}

/// The sentences that say that something is not shown.
pub(super) fn gaps(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let sentences = text.split_inclusive(". ").map(str::trim);
    let gaps: Vec<&str> = sentences
        .filter(|sentence| {
            ["not shown", "not show ", "not stated"]
                .iter()
                .any(|phrase| sentence.to_lowercase().contains(phrase))
        })
        .collect();
    gaps.join(" ")
}

fn name_only(spec: &Spec) -> Option<Row> {
    let operations: Vec<&Operation> = spec
        .operations
        .iter()
        .filter(|operation| operation.name_only)
        .collect();
    let ids: Vec<String> = operations
        .iter()
        .map(|operation| format!("`{}`", operation.id))
        .collect();
    let assumed: BTreeSet<String> = operations
        .iter()
        .flat_map(|operation| operation.assumptions.iter().cloned())
        .collect();
    (!ids.is_empty()).then(|| {
        [
            ids.join(", "),
            "Everything but method, path and name.".to_owned(),
            format!(
                "`RawJson` in and out, with a bearer token ({})",
                provenance::list(&assumed)
            ),
        ]
    })
}

fn of_operation(operation: &Operation) -> Vec<Row> {
    let reply = &operation.reply.shape;
    let body = operation.body.as_ref().map(|body| &body.value.shape);
    let mut treatment = Vec::new();
    if !matches!(reply, Shape::Named(_)) {
        treatment.push(format!("the reply is `{}`", super::reply(reply)));
    }
    if body == Some(&Shape::Value) {
        treatment.push("the body is any JSON".to_owned());
    }
    if treatment.is_empty() {
        let types = body
            .into_iter()
            .chain([reply])
            .filter_map(|shape| match shape {
                Shape::Named(name) => Some(format!("`{name}`")),
                _ => None,
            });
        treatment.push(format!("see {}", types.collect::<Vec<_>>().join(" and ")));
    }
    let mut rows: Vec<Row> = row(&operation.id, &operation.description, &treatment.join(", "))
        .into_iter()
        .collect();
    for parameter in &operation.parameters {
        // What has a type of its own has a row of its own.
        if matches!(parameter.value.shape, Shape::Named(_)) {
            continue;
        }
        let text = if gaps(&parameter.description).is_empty() {
            &parameter.value.description
        } else {
            &parameter.description
        };
        let place = format!("{}({})", operation.id, parameter.name);
        rows.extend(row(&place, text, &treatment_of(&parameter.value)));
    }
    rows
}

fn error_bodies(spec: &Spec) -> Option<Row> {
    let statuses: BTreeSet<String> = spec
        .operations
        .iter()
        .flat_map(|operation| &operation.statuses.documented)
        .filter(|(status, meaning)| *status >= 400 && gaps(meaning).contains("body"))
        .map(|(status, _)| status.to_string())
        .collect();
    let statuses: Vec<String> = statuses.into_iter().collect();
    (!statuses.is_empty()).then(|| {
        [
            format!("errors {}", statuses.join(", ")),
            "The bodies are not shown.".to_owned(),
            "the status decides; a code and a message are taken where they usually are; the raw body is in the error"
                .to_owned(),
        ]
    })
}

/// Operations whose token must be accepted, and that list no status for when it is not.
fn error_statuses(spec: &Spec) -> Option<Row> {
    let silent = |operation: &&Operation| {
        let statuses = &operation.statuses;
        !operation.name_only
            && operation.auth == Auth::Bearer
            && statuses.otherwise.is_none()
            && !statuses.documented.iter().any(|(status, _)| *status == 401)
    };
    let ids: Vec<String> = spec
        .operations
        .iter()
        .filter(silent)
        .map(|operation| format!("`{}`", operation.id))
        .collect();
    (!ids.is_empty()).then(|| {
        [
            ids.join(", "),
            "No error of authentication is listed.".to_owned(),
            "a status means what it means elsewhere".to_owned(),
        ]
    })
}
