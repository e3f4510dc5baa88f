//! What a spec leaves open: the sentences that say so, and what the generator makes of the place.

use std::collections::BTreeSet;

use crate::Result;
use crate::model::{Auth, Operation, Provenance, Reach, Schemas, Spec, Ty};
use crate::write::text::codes;
use crate::write::{provenance, rust};

use super::row::{Row, gaps, row};
use super::types::{of_type, treatment_of};

/// The rows of one spec: operations first, then types. With `strict`, what is left open must say so: a vendor's document
/// need not.
pub(super) fn rows(spec: &Spec, strict: bool) -> Result<Vec<Row>> {
    let reach = Reach::of(spec);
    let (named, documented): (Vec<_>, Vec<_>) = spec.operations.iter().partition(|it| it.name_only);
    let mut rows: Vec<Row> = name_only(&named).into_iter().collect();
    for operation in documented {
        of_operation(&spec.schemas, operation, &mut rows);
    }
    rows.extend(error_bodies(spec));
    rows.extend(error_statuses(spec));
    for component in spec.schemas.components.values() {
        if component.provenance == Provenance::NameOnly {
            let treatment = "any value is taken as it is";
            rows.extend(row(&component.name, &component.description, treatment));
        } else if reach.contains(&component.name) {
            rows.extend(of_type(component, strict)?);
        }
    }
    Ok(rows)
}

/// A row about several operations, if there are any.
fn about(operations: &[&Operation], gap: &str, treatment: impl Into<String>) -> Option<Row> {
    let ids = codes(operations.iter().map(|operation| &operation.id));
    (!ids.is_empty()).then(|| [ids.join(", "), gap.to_owned(), treatment.into()])
}

fn name_only(operations: &[&Operation]) -> Option<Row> {
    let assumed = operations.iter().flat_map(|it| it.assumptions.clone());
    let assumed = provenance::list(&assumed.collect());
    let treatment = format!("`RawJson` in and out, with a bearer token ({assumed})");
    about(
        operations,
        "Everything but method, path and name.",
        treatment,
    )
}

fn of_operation(schemas: &Schemas, operation: &Operation, rows: &mut Vec<Row>) {
    let reply = operation.reply.ty();
    let body = operation.body.as_ref().map(|body| &body.value.ty);
    let mut treatment = Vec::new();
    if !matches!(reply, Some(Ty::Named(_))) {
        let reply = rust::reply_type(schemas, &operation.reply);
        treatment.push(format!("the reply is `{reply}`"));
    }
    if body == Some(&Ty::Value) {
        treatment.push("the body is any JSON".to_owned());
    }
    if treatment.is_empty() {
        let types = body.into_iter().chain(reply).filter_map(Ty::name);
        treatment.push(format!("see {}", codes(types).join(" and ")));
    }
    let treatment = treatment.join(", ");
    rows.extend(row(&operation.id, &operation.description, &treatment));
    for parameter in &operation.parameters {
        // What has a type of its own has a row of its own.
        if parameter.value.ty.name().is_some() {
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
}

fn error_bodies(spec: &Spec) -> Option<Row> {
    let operations = spec.operations.iter();
    let statuses: BTreeSet<String> = operations
        .flat_map(|operation| &operation.statuses.documented)
        .filter(|(status, meaning)| *status >= 400 && gaps(meaning).contains("body"))
        .map(|(status, _)| status.to_string())
        .collect();
    (!statuses.is_empty()).then(|| {
        [
            format!("errors {}", provenance::list(&statuses)),
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
    let silent: Vec<&Operation> = spec.operations.iter().filter(silent).collect();
    let gap = "No error of authentication is listed.";
    about(&silent, gap, "a status means what it means elsewhere")
}
