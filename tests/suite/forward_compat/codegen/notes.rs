//! A notes service, and the parts of its client that the tests need.

use sdk_core::codegen::{ApiClient, Application, Bytes, Call, Draft, RawOperations};
use sdk_core::testing::ScriptedTransport;
use sdk_core::{App, Method, Operation, Safety};

use crate::support::quick_retry;

pub(super) const fn list() -> Operation {
    let mut it = Operation::generated(App::Crm, "listNotes", Method::Get, "/notes");
    it.group = "notes";
    it.name = "list";
    it.statuses = &[200];
    it.summary = "List the notes.";
    it
}

/// Returns a command for one note, with a body unless it deletes the note.
pub(super) const fn command(id: &'static str, method: Method, safety: Safety) -> Operation {
    let mut it = list();
    it.id = id;
    it.route = "/notes/{id}";
    it.statuses = &[204];
    it.body = !matches!(method, Method::Delete);
    it.method = method;
    it.safety = safety;
    it
}

pub(super) static LIST: Operation = list();
pub(super) static PUT: Operation = command("putNote", Method::Put, Safety::Idempotent).checked();
pub(super) static DELETE: Operation =
    command("deleteNote", Method::Delete, Safety::Idempotent).checked();

pub(super) static PATCH: Operation = {
    let mut it = command("patchNote", Method::Patch, Safety::Unkeyed);
    it.media_type = Some("application/merge-patch+json");
    it.checked()
};

/// A command with an optional body of another media type.
pub(super) static PUT_TEXT: Operation = {
    let mut it = command("putText", Method::Put, Safety::Idempotent);
    it.optional_body = true;
    it.media_type = Some("text/plain; charset=utf-8");
    it.checked()
};

pub(super) static CSV: Operation = {
    let mut it = list();
    it.id = "listAsCsv";
    it.accept = Some("text/csv");
    it.checked()
};

pub(super) static EXPORT: Operation = {
    let mut it = list();
    it.id = "exportNotes";
    it.accept = Some("text/csv, application/json;q=0.5");
    it.checked()
};

static NOTES: Application = Application {
    app: App::Crm,
    title: "Notes",
    contract_version: "1",
    statuses: &[],
    documents_envelope: false,
    metadata: None,
    metadata_members: &[],
    operations: &[&LIST, &CSV, &EXPORT, &PUT, &PUT_TEXT, &DELETE, &PATCH],
    raw: RawOperations::of(App::Crm),
};

pub(super) fn client(transport: &ScriptedTransport) -> ApiClient {
    let suite = transport.suite().retry(quick_retry());
    ApiClient::new(&suite.build().unwrap(), &NOTES).unwrap()
}

/// Returns the request of a call, with this body if the operation takes one.
pub(super) fn draft_of(call: &Call, body: Option<&'static str>) -> Draft {
    let (endpoint, operation) = (call.endpoint(), call.operation());
    let draft = match operation.method {
        Method::Put => endpoint.put("/notes/7"),
        Method::Patch => endpoint.patch("/notes/7"),
        Method::Delete => endpoint.delete("/notes/7"),
        _ => endpoint.get("/notes"),
    };
    draft.json_if(body.filter(|_| operation.body).map(Bytes::from))
}
