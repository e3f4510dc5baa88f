//! `operations.rs` of a client: the operation table.

use std::fmt::Write as _;

use crate::model::{Auth, Operation, Reply, Spec};
use crate::names;

use super::text::{comment, joined, prose};

pub(super) fn write(spec: &Spec) -> String {
    let mut code = String::from("//! The operation table.\n");
    code.push_str(&skipped(spec));
    code.push_str(
        "\nuse sdk_core::codegen::{Application, RawOperations};\nuse sdk_core::{App, Method, Operation, Provenance, Replay, Safety};\n\n",
    );
    for operation in &spec.operations {
        code.push_str(&row(spec, operation));
    }
    code.push_str("/// All operations, in the order of the spec.\npub static OPERATIONS: &[&Operation] = &[\n");
    for operation in &spec.operations {
        let _ = writeln!(code, "&{},", names::screaming(&operation.id));
    }
    let (title, version, statuses) = (&spec.title, &spec.version, &spec.statuses);
    let (app, envelope) = (names::pascal(spec.app.name), spec.documents_envelope);
    let (members, operation) = (metadata(spec), spec.metadata_operation());
    let metadata = operation.map(|it| format!("Some(&{})", names::screaming(&it.id)));
    let metadata = metadata.unwrap_or_else(|| "None".to_owned());
    let _ = write!(
        code,
        "];\n\n/// The application that these operations belong to.\n\
         pub static APPLICATION: Application = Application {{\n\
         app: App::{app}, title: {title:?}, contract_version: {version:?}, statuses: &{statuses:?}, \
         documents_envelope: {envelope}, metadata: {metadata}, metadata_members: &{members:?}, operations: OPERATIONS,\n\
         raw: RawOperations::of(App::{app}),\n}};\n"
    );
    code
}

fn skipped(spec: &Spec) -> String {
    if spec.skipped.is_empty() {
        return String::new();
    }
    let lines = spec.skipped.iter();
    let lines = lines.map(|it| format!("- `{}`: {}", it.route, prose(&it.reason)));
    let lines = joined(lines, "\n");
    let text = format!("\n\n# Not generated\n\n{lines}\n\nCall them with `raw_call`.");
    format!("///\n{}", comment(&text)).replace("///", "//!")
}

/// The required fields of the application's metadata, with the value of each constant. Empty if they are undocumented.
fn metadata(spec: &Spec) -> Vec<(&str, Option<&str>)> {
    let reply = spec.metadata_operation().and_then(|it| it.reply.ty());
    let members = reply.map_or(&[][..], |ty| spec.schemas.members(ty));
    members
        .iter()
        .filter(|member| member.required)
        .map(|member| (&*member.name, spec.schemas.constant(&member.value.ty)))
        .collect()
}

fn row(spec: &Spec, operation: &Operation) -> String {
    let Operation {
        id,
        path,
        group,
        name,
        scopes,
        safety,
        replay,
        schema_version,
        summary,
        ..
    } = operation;
    let statuses = operation.statuses.documented.iter();
    let statuses: Vec<u16> = statuses.map(|(status, _)| *status).collect();
    let assumptions: Vec<&String> = operation.assumptions.iter().collect();
    let body = operation.body.as_ref();
    let mut replies = operation.reply.types().into_iter();
    format!(
        "/// `{route}`.\npub static {constant}: Operation = {{\n\
         let mut it = Operation::generated(App::{application}, {id:?}, Method::{method}, {path:?});\n\
         it.group = {group:?}; it.name = {name:?}; it.scopes = &{scopes:?}; it.authenticated = {authenticated};\n\
         it.safety = Safety::{safety:?}; it.replay = Replay::{replay:?}; it.cursor = {cursor}; it.body = {has_body};\n\
         it.optional_body = {optional}; it.media_type = {media_type:?}; it.accept = {accept:?};\n\
         it.schema_version = {schema_version:?}; it.secret_response = {secret}; it.provenance = Provenance::{provenance};\n\
         it.assumptions = &{assumptions:?}; it.statuses = &{statuses:?}; it.summary = {summary:?};\n\
         it.checked()\n}};\n\n",
        route = operation.route(),
        constant = names::screaming(id),
        application = names::pascal(spec.app.name),
        method = names::pascal(operation.method.key()),
        authenticated = operation.auth == Auth::Bearer,
        cursor = operation.is_list(),
        has_body = body.is_some(),
        optional = body.is_some_and(|body| !body.required),
        media_type = body.and_then(|body| body.media_type.as_deref()),
        accept = accept(&operation.reply),
        secret = replies.any(|ty| spec.schemas.holds_secret(ty)),
        provenance = names::pascal(operation.provenance()),
    )
}

/// The media types of the successes, unless all of them are JSON.
fn accept(reply: &Reply) -> Option<String> {
    let cases = match reply {
        Reply::Several { cases, .. } => cases.iter().map(|case| &case.reply).collect(),
        single => vec![single],
    };
    let mut types: Vec<&str> = Vec::new();
    for case in cases {
        let media = match case {
            Reply::Bytes(media) => media,
            Reply::Json(_) => "application/json",
            Reply::Empty | Reply::Several { .. } => continue,
        };
        if !types.contains(&media) {
            types.push(media);
        }
    }
    let accept = types.join(", ");
    (!["", "application/json"].contains(&accept.as_str())).then_some(accept)
}
