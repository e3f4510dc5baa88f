//! `face.rs` of a client, which its users see: a method on the client for each group of operations, a method on the group
//! for each operation, and the request builder that it makes.

use crate::model::{Group, Spec};
use crate::{Result, at, names};

use super::builder::Builder;
use super::text::{comment, prose};
use super::{docs, example, rust};

/// Writes the file.
pub(super) fn write(spec: &Spec) -> Result<String> {
    let mut code = String::new();
    for group in &spec.groups {
        let operations = spec.operations.iter();
        let members: Vec<Builder<'_>> = operations
            .filter(|operation| operation.group == group.name)
            .map(|operation| Builder { spec, operation })
            .collect();
        code.push_str(&write_group(group, &members)?);
    }
    let types = rust::own_types(spec).map(|name| (name, "super::types"));
    let own = [
        ("Client", "crate"),
        ("calls", "super"),
        ("operations", "super"),
    ];
    let imports = rust::imports(&code, types.chain(own));
    Ok(format!(
        "//! The operations: groups, and a request builder for each operation.\n\n{imports}\n{code}"
    ))
}

fn write_group(group: &Group, builders: &[Builder<'_>]) -> Result<String> {
    let (method, name) = (&group.name, names::group_type(&group.name));
    let description = if group.description.is_empty() {
        format!("The group `{method}`.")
    } else {
        prose(&group.description)
    };
    let mut code = format!(
        "impl Client {{\n{}pub fn {method}(&self) -> {name} {{\n{name} {{ api: self.api().clone() }}\n}}\n}}\n\n\
         {}#[derive(Clone, Debug)]\npub struct {name} {{\napi: ApiClient,\n}}\n\nimpl {name} {{\n",
        comment(&description),
        comment(&format!(
            "{description}\n\nMade by [`Client::{method}`]. It holds a handle of the client, so it can be stored."
        )),
    );
    let mut rest = String::new();
    for builder in builders {
        let id = &builder.operation.id;
        let place = || format!("operation `{id}`");
        let text = docs::operation(&builder.spec.schemas, builder.operation);
        let example = example::write(builder.spec, builder.operation).map_err(at(place()))?;
        code.push_str(&comment(&format!("{text}\n\n# Example\n\n{example}")));
        code.push_str(&builder.method().map_err(at(place()))?);
        code.push('\n');
        rest.push_str(&builder.write(&name).map_err(at(place()))?);
    }
    Ok(code + "}\n\n" + &rest)
}

/// The public names of the file.
pub(super) fn names(spec: &Spec) -> impl Iterator<Item = String> {
    let builders = spec.operations.iter();
    let builders = builders.map(|operation| names::pascal(&operation.id));
    spec.groups
        .iter()
        .map(|group| names::group_type(&group.name))
        .chain(builders)
}
