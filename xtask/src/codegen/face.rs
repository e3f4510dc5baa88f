//! `face.rs` of a client, which its users see: a method on the client for each group of operations, a method on the group
//! for each operation, and the request builder that it makes.

use std::collections::{BTreeMap, BTreeSet};

use super::builder::Builder;
use super::calls::Call;
use super::reach::Reach;
use super::schema::Kind;
use super::spec::{Group, Spec};
use super::{Result, docs, example, names, rust};

/// Writes the file.
pub(crate) fn write(spec: &Spec, reach: &Reach, calls: &[Call]) -> Result<String> {
    check_names(spec, reach)?;
    let builders: Vec<Builder<'_>> = spec
        .operations
        .iter()
        .zip(calls)
        .map(|(operation, call)| Builder {
            spec,
            operation,
            call,
        })
        .collect();
    let mut code = String::new();
    for group in &spec.groups {
        let members: Vec<&Builder<'_>> = builders
            .iter()
            .filter(|builder| builder.operation.group == group.name)
            .collect();
        code.push_str(&write_group(group, &members)?);
    }
    let types = spec
        .schemas
        .components
        .values()
        .filter(|component| !matches!(component.kind, Kind::Plain));
    let own = types
        .map(|component| (&*component.name, "super::types"))
        .chain([
            ("Client", "crate"),
            ("calls", "super"),
            ("operations", "super"),
        ]);
    let imports = rust::imports(&code, own);
    Ok(format!(
        "//! The operations: groups, and a request builder for each operation.\n\n{imports}\n{code}"
    ))
}

fn write_group(group: &Group, builders: &[&Builder<'_>]) -> Result<String> {
    let (method, name) = (&group.name, type_name(group));
    let description = if group.description.is_empty() {
        format!("The group `{method}`.")
    } else {
        docs::prose(&group.description)
    };
    let mut code = format!(
        "impl Client {{\n{}pub fn {method}(&self) -> {name} {{\n{name} {{ api: self.api().clone() }}\n}}\n}}\n\n\
         {}#[derive(Clone, Debug)]\npub struct {name} {{\napi: ApiClient,\n}}\n\nimpl {name} {{\n",
        docs::comment(&description),
        docs::comment(&format!(
            "{description}\n\nMade by [`Client::{method}`]. It holds a handle of the client, so it can be stored."
        )),
    );
    let mut rest = String::new();
    for builder in builders {
        let id = &builder.operation.id;
        let in_operation = |rule: String| format!("operation `{id}`: {rule}");
        let text = docs::operation(&builder.spec.schemas, builder.operation);
        let example = example::write(builder).map_err(in_operation)?;
        code.push_str(&docs::comment(&format!("{text}\n\n# Example\n\n{example}")));
        code.push_str(&builder.method().map_err(in_operation)?);
        code.push('\n');
        rest.push_str(&builder.write(&name).map_err(in_operation)?);
    }
    Ok(code + "}\n\n" + &rest)
}

/// Handwritten methods of every client.
const CLIENT: [&str; 10] = [
    "new",
    "origin",
    "raw_call",
    "check_contract",
    "missing_scopes",
    "with_defaults",
    "operations",
    "prewarm",
    "send_prepared",
    "api",
];

/// Groups have a suffix, because many have the same name as their main type: `funnel`, `search`.
fn type_name(group: &Group) -> String {
    names::pascal(&group.name) + "Api"
}

/// The public names of the file.
pub(crate) fn names(spec: &Spec) -> impl Iterator<Item = String> {
    let builders = spec.operations.iter();
    let builders = builders.map(|operation| names::pascal(&operation.id));
    spec.groups.iter().map(type_name).chain(builders)
}

/// Groups, builders and types share one namespace, so no two of them may have the same name.
fn check_names(spec: &Spec, reach: &Reach) -> Result<()> {
    let groups = spec
        .groups
        .iter()
        .map(|group| (type_name(group), format!("the group `{}`", group.name)));
    let builders = spec.operations.iter().map(|operation| {
        (
            names::pascal(&operation.id),
            format!("the operation `{}`", operation.id),
        )
    });
    let types = spec
        .schemas
        .components
        .values()
        .filter(|component| {
            reach.contains(&component.name) && !matches!(component.kind, Kind::Plain)
        })
        .map(|component| {
            (
                component.name.clone(),
                format!("the schema `{}`", component.name),
            )
        });
    let mut owners = BTreeMap::<String, String>::new();
    let mut clashes = BTreeSet::new();
    for group in spec
        .groups
        .iter()
        .filter(|group| CLIENT.contains(&group.name.as_str()))
    {
        clashes.insert(format!(
            "the group `{0}` becomes `Client::{0}`, a method that the client already has",
            group.name
        ));
    }
    for (name, owner) in groups.chain(builders).chain(types) {
        if rust::is_taken(&name) {
            clashes.insert(format!(
                "{owner} becomes `{name}`, a name that generated code or its crate already uses"
            ));
        }
        if let Some(other) = owners.insert(name.clone(), owner.clone()) {
            clashes.insert(format!("{owner} and {other} both become `{name}`"));
        }
    }
    if clashes.is_empty() {
        Ok(())
    } else {
        Err(clashes.into_iter().collect::<Vec<_>>().join("; "))
    }
}
