//! `calls.rs` of a client: a function for each operation, which builds the request that the runtime then authenticates,
//! sends and judges.

use std::fmt::Write as _;

use crate::model::{Body, Operation, Parameter, Place, Schemas, Spec, Ty};
use crate::names;

use super::rust;

/// Writes the file.
pub(super) fn write(spec: &Spec) -> String {
    let operations = spec.operations.iter();
    let code: String = operations.map(|it| call(&spec.schemas, it)).collect();
    let own = rust::own_types(spec).map(|name| (name, "super::types"));
    let imports = rust::imports(&code, own);
    format!("//! One function per operation, which builds its request.\n\n{imports}\n{code}")
}

/// What a call takes besides endpoint and body: the parameters of the path in its order, and those of the query by name.
pub(super) fn arguments(operation: &Operation) -> Vec<&Parameter> {
    let parameters = operation.parameters.iter();
    let parameters = parameters.filter(|it| it.place != Place::Header);
    let (mut path, mut query): (Vec<_>, Vec<_>) =
        parameters.partition(|it| it.place == Place::Path);
    path.sort_by_key(|it| operation.path.find(&format!("{{{}}}", it.name)));
    query.sort_by_key(|it| &it.name);
    path.append(&mut query);
    path
}

/// The type of a body's bytes, and the method of a draft that takes them.
fn body(body: &Body) -> (&'static str, &'static str) {
    match (body.required, body.form) {
        (true, false) => ("Bytes", "json"),
        (true, true) => ("Bytes", "form"),
        (false, false) => ("Option<Bytes>", "json_if"),
        (false, true) => ("Option<Bytes>", "form_if"),
    }
}

fn call(schemas: &Schemas, operation: &Operation) -> String {
    let body = operation.body.as_ref().map(body);
    let mut inputs = vec!["endpoint: &Endpoint".to_owned()];
    let (mut route, mut segments, mut query) =
        (operation.path.clone(), String::new(), String::new());
    for parameter in arguments(operation) {
        let Parameter { name, field, .. } = parameter;
        inputs.push(format!("{field}: {}", rust::borrowed(schemas, parameter)));
        if parameter.place == Place::Path {
            route = route.replace(&format!("{{{name}}}"), "{}");
            let is_copied = rust::is_copied(&parameter.value.ty);
            let borrow = if is_copied { "&" } else { "" };
            let _ = write!(segments, ", encode_segment({borrow}{field})");
            continue;
        }
        let value = if parameter.required {
            format!("Some({field})")
        } else {
            field.clone()
        };
        let style = parameter.style;
        let _ = if let Ty::Array { .. } = parameter.value.ty {
            write!(query, ".list({name:?}, {value}, ListStyle::{style:?})")
        } else {
            write!(query, ".query({name:?}, {value})")
        };
    }
    inputs.extend(body.map(|(ty, _)| format!("body: {ty}")));
    let path = if segments.is_empty() {
        format!("{route:?}")
    } else {
        format!("&format!({route:?}{segments})")
    };
    format!(
        "/// `{}`.\npub(crate) fn {}({}) -> Draft {{\nendpoint.{}({path}){query}{}\n}}\n\n",
        operation.route(),
        names::snake(&operation.id),
        inputs.join(", "),
        operation.method.key(),
        body.map_or_else(String::new, |(_, method)| format!(".{method}(body)"))
    )
}
