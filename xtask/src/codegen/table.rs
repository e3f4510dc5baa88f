//! `operations.rs` of a client: the operation table.

use std::fmt::Write as _;

use super::names;
use super::spec::{Auth, Operation, Replay, Spec};

/// Writes the file.
pub(crate) fn write(spec: &Spec) -> String {
    let mut code = String::from(
        "//! The operation table.\n\n\
         use sdk_core::codegen::{Application, RawOperations, Row};\nuse sdk_core::{App, Method, Operation, Provenance, Replay, Safety};\n\n",
    );
    for operation in &spec.operations {
        code.push_str(&row(spec, operation));
    }
    code.push_str("/// All operations, in the order of the spec.\npub static OPERATIONS: &[&Operation] = &[\n");
    for operation in &spec.operations {
        let _ = writeln!(code, "&{},", names::screaming(&operation.id));
    }
    let (title, version, statuses) = (&spec.title, &spec.version, &spec.statuses);
    let (app, envelope) = (names::pascal(spec.app.name), spec.shows_envelope);
    let (members, operation) = (metadata(spec), spec.metadata_operation());
    let metadata = operation.map_or_else(
        || "None".to_owned(),
        |operation| format!("Some(&{})", names::screaming(&operation.id)),
    );
    let _ = write!(
        code,
        "];\n\n/// The application that these operations belong to.\n\
         pub static APPLICATION: Application = Application {{\n\
         app: App::{app}, title: {title:?}, contract_version: {version:?}, statuses: &{statuses:?}, \
         shows_envelope: {envelope}, metadata: {metadata}, metadata_members: &{members:?}, operations: OPERATIONS,\n\
         raw: RawOperations::of(App::{app}),\n}};\n"
    );
    code
}

/// The members that the service's metadata must have, with the value of each constant; none where they are not shown.
fn metadata(spec: &Spec) -> Vec<(&str, Option<&str>)> {
    let reply = spec.metadata_operation().map(|it| &it.reply.shape);
    let members = reply.map_or(&[][..], |shape| spec.schemas.members(shape));
    members
        .iter()
        .filter(|member| member.required)
        .map(|member| (&*member.name, spec.schemas.constant(&member.value.shape)))
        .collect()
}

fn row(spec: &Spec, operation: &Operation) -> String {
    let statuses = operation.statuses.documented.iter();
    let statuses: Vec<u16> = statuses.map(|(status, _)| *status).collect();
    let assumptions: Vec<&String> = operation.assumptions.iter().collect();
    let safety = match (operation.body.is_some(), operation.keyed) {
        (false, _) => "Read",
        (true, true) => "Keyed",
        (true, false) => "Unkeyed",
    };
    let replay = match operation.replay {
        Replay::NotShown => "NotShown".to_owned(),
        Replay::Status(status) => format!("Status({status})"),
        Replay::Member => "Member".to_owned(),
    };
    let provenance = names::pascal(operation.provenance());
    format!(
        "/// `{route}`.\npub static {constant}: Operation = Operation::generated(Row {{\n\
         id: {id:?}, application: App::{application}, group: {group:?}, name: {name:?},\n\
         method: Method::{method}, route: {path:?}, scopes: &{scopes:?}, authenticated: {authenticated},\n\
         safety: Safety::{safety}, replay: Replay::{replay}, cursor: {cursor}, body: {body},\n\
         optional_body: false, media_type: None, accept: None, schema_version: {version:?},\n\
         secret_reply: {secret},\n\
         provenance: Provenance::{provenance}, assumptions: &{assumptions:?}, statuses: &{statuses:?},\n\
         summary: {summary:?},\n}});\n\n",
        route = operation.route(),
        path = operation.path,
        constant = names::screaming(&operation.id),
        id = operation.id,
        application = names::pascal(spec.app.name),
        group = operation.group,
        name = operation.name,
        method = names::pascal(operation.method.key()),
        scopes = operation.scopes,
        authenticated = operation.auth == Auth::Bearer,
        cursor = operation.is_list(),
        body = operation.body.is_some(),
        version = operation.schema_version,
        secret = spec.schemas.holds_secret(&operation.reply.shape),
        summary = operation.summary,
    )
}
