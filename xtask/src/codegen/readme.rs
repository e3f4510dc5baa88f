//! The table of operations in `README.md`, between its two markers.

use std::fmt::Write as _;

use super::Result;
use super::spec::{Auth, Operation, Spec};

const BEGIN: &str = "<!-- operations:begin -->";
const END: &str = "<!-- operations:end -->";

/// The README with its table brought up to date; none if it has no markers.
pub(crate) fn update(readme: &str, specs: &[Spec]) -> Result<Option<String>> {
    let (Some(begin), Some(end)) = (readme.find(BEGIN), readme.find(END)) else {
        return Ok(None);
    };
    if begin > end {
        return Err(format!("`{END}` stands before `{BEGIN}`"));
    }
    let (before, after) = (&readme[..begin + BEGIN.len()], &readme[end..]);
    Ok(Some(format!("{before}\n{}{after}", table(specs))))
}

fn table(specs: &[Spec]) -> String {
    let mut text = String::from(
        "| Operation | Method and path | Rust | Scope | Provenance |\n|---|---|---|---|---|\n",
    );
    for spec in specs {
        for operation in &spec.operations {
            let Operation { id, path, .. } = operation;
            let _ = writeln!(
                text,
                "| `{id}` | `{} {path}` | `{}` | {} | {} |",
                operation.method.name(),
                call(spec, operation),
                scope(operation),
                if operation.name_only {
                    "name only"
                } else {
                    "documented"
                },
            );
        }
    }
    text
}

/// The call with the arguments that it needs.
fn call(spec: &Spec, operation: &Operation) -> String {
    let parameters = operation
        .parameters
        .iter()
        .filter(|parameter| parameter.required);
    let mut arguments: Vec<&str> = parameters.map(|parameter| &*parameter.field).collect();
    arguments.extend(operation.body.is_some().then_some("body"));
    format!(
        "{}.{}().{}({})",
        spec.app.name,
        operation.group,
        operation.name,
        arguments.join(", ")
    )
}

fn scope(operation: &Operation) -> String {
    let scopes: Vec<String> = operation
        .scopes
        .iter()
        .map(|scope| format!("`{scope}`"))
        .collect();
    match (operation.auth, scopes.as_slice()) {
        (Auth::Public, _) => "none".into(),
        (Auth::Client, _) => "client credential".into(),
        (Auth::Bearer, []) => "bearer, not shown which".into(),
        (Auth::Bearer, scopes) => scopes.join(" or "),
    }
}
