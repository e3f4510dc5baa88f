//! A service of notes, and its client as far as the tests need it.

use sdk_core::codegen::{ApiClient, Application, Bytes, Call, Draft, RawOperations};
use sdk_core::testing::ScriptedTransport;
use sdk_core::{App, Error, Method, Operation, RawJson, Safety};

/// A list of notes.
pub(super) const fn list() -> Operation {
    let mut it = Operation::generated(App::Crm, "listNotes", Method::Get, "/notes");
    it.group = "notes";
    it.name = "list";
    it.statuses = &[200];
    it.summary = "List the notes.";
    it
}

/// A command on one note.
pub(super) const fn command() -> Operation {
    let mut it = list();
    it.route = "/notes/{id}";
    it.statuses = &[204];
    it
}

pub(super) static LIST: Operation = list();

pub(super) static PUT: Operation = {
    let mut it = command();
    it.id = "putNote";
    it.method = Method::Put;
    it.safety = Safety::Idempotent;
    it.body = true;
    it.checked()
};

pub(super) static DELETE: Operation = {
    let mut it = command();
    it.id = "deleteNote";
    it.method = Method::Delete;
    it.safety = Safety::Idempotent;
    it.checked()
};

/// With a body of its own media type, which may be left out.
pub(super) static PUT_TEXT: Operation = {
    let mut it = command();
    it.id = "putText";
    it.route = "/notes/{id}/text";
    it.body = true;
    it.optional_body = true;
    it.media_type = Some("text/plain; charset=utf-8");
    it.method = Method::Put;
    it.safety = Safety::Idempotent;
    it.checked()
};

pub(super) static EXPORT: Operation = {
    let mut it = list();
    it.id = "exportNotes";
    it.route = "/notes/export";
    it.accept = Some("text/csv, application/json;q=0.5");
    it.checked()
};

pub(super) static PATCH: Operation = {
    let mut it = command();
    it.id = "patchNote";
    it.media_type = Some("application/merge-patch+json");
    it.method = Method::Patch;
    it.safety = Safety::Unkeyed;
    it.body = true;
    it.checked()
};

static NOTES: Application = Application {
    app: App::Crm,
    title: "Notes",
    contract_version: "1",
    statuses: &[],
    shows_envelope: false,
    metadata: None,
    metadata_members: &[],
    operations: &[&LIST, &EXPORT, &PUT, &PUT_TEXT, &DELETE, &PATCH],
    raw: RawOperations::of(App::Crm),
};

/// A client that gets its replies from a script.
pub(super) fn client(transport: &ScriptedTransport) -> ApiClient {
    let suite = transport.suite().retry(crate::support::quick_retry());
    ApiClient::new(&suite.build().unwrap(), &NOTES).unwrap()
}

/// The request of a command on a note.
pub(super) fn draft_of(call: &Call) -> Draft {
    let (endpoint, operation) = (call.endpoint(), call.operation());
    let draft = match operation.method {
        Method::Put => endpoint.put("/notes/7"),
        Method::Patch => endpoint.patch("/notes/7"),
        Method::Delete => endpoint.delete("/notes/7"),
        _ => endpoint.post("/notes/7"),
    };
    draft.json_if(operation.body.then(|| Bytes::from_static(b"{}")))
}

/// The query that a list with this request is sent with.
pub(super) async fn query_of(request: impl FnOnce(Draft) -> Result<Draft, Error>) -> String {
    let transport = ScriptedTransport::new().json(200, "[]");
    let call = Call::new(&client(&transport), &LIST);
    let draft = request(call.endpoint().get("/notes"));
    call.send::<RawJson>(draft).await.unwrap();
    let uri = transport.requests()[0].uri().clone();
    uri.query().unwrap_or_default().to_owned()
}
