//! The table of operations in `README.md`, between its two markers.

use std::fmt::Write as _;

use crate::Result;
use crate::model::{Auth, Operation, Spec, all};

use super::text::codes;

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
    for (spec, operation) in all(specs) {
        let _ = writeln!(
            text,
            "| `{}` | `{}` | `{}` | {} | {} |",
            operation.id,
            operation.route(),
            call(spec, operation),
            scope(operation),
            operation.provenance(),
        );
    }
    text
}

/// The call with the arguments that it needs.
fn call(spec: &Spec, operation: &Operation) -> String {
    format!(
        "{}.{}().{}({})",
        spec.app.name,
        operation.group,
        operation.name,
        operation.arguments().join(", ")
    )
}

fn scope(operation: &Operation) -> String {
    match (operation.auth, operation.scopes.as_slice()) {
        (Auth::Public, _) => "none".into(),
        (Auth::Client, _) => "client credential".into(),
        (Auth::Bearer, []) => "bearer, not shown which".into(),
        (Auth::Bearer, scopes) => codes(scopes).join(" or "),
    }
}
