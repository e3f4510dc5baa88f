//! `requests.rs` of a client, its public API. The client has a method per group of operations, the group has a method per
//! operation, and that method returns a request builder.

use crate::model::{Group, Spec};
use crate::names;

use super::builder::Builder;
use super::text::{comment, prose_or};
use super::{docs, example, rust};

pub(super) fn write(spec: &Spec) -> String {
    let groups = spec.groups.iter();
    let code: String = groups.map(|group| write_group(spec, group)).collect();
    let imports = rust::imports();
    format!(
        "//! The operations in groups, with a request builder for each operation.\n\n\
         use super::operations;\nuse super::types::*;\nuse crate::Client;\n{imports}\n{code}"
    )
}

fn write_group(spec: &Spec, group: &Group) -> String {
    let (method, name) = (&group.name, names::group_type(&group.name));
    let description = prose_or(&group.description, format!("The group `{method}`."));
    let mut code = format!(
        "impl Client {{\n{}pub fn {method}(&self) -> {name} {{\n{name} {{ api: self.api().clone() }}\n}}\n}}\n\n\
         {}#[derive(Clone, Debug)]\npub struct {name} {{\napi: ApiClient,\n}}\n\nimpl {name} {{\n",
        comment(&description),
        comment(&format!(
            "{description}\n\nReturned by [`Client::{method}`]. The value owns a handle of the client, so you can store it."
        )),
    );
    let schemas = &spec.schemas;
    let mut builders = String::new();
    let operations = spec.operations.iter();
    for operation in operations.filter(|operation| operation.group == group.name) {
        let builder = Builder { schemas, operation };
        let text = docs::operation(schemas, operation);
        let example = example::write(spec, operation);
        code += &comment(&format!("{text}\n\n# Example\n\n{example}"));
        code += &builder.method();
        let made = format!(
            "Returned by [`{name}::{}`], which has an example.",
            operation.name
        );
        builders += &builder.write(&format!("{text}\n\n{made}"));
    }
    code + "}\n\n" + &builders
}

/// The public names of the file.
pub(super) fn names(spec: &Spec) -> impl Iterator<Item = String> {
    let groups = spec.groups.iter().map(|it| names::group_type(&it.name));
    groups.chain(spec.operations.iter().map(|it| names::pascal(&it.id)))
}
