//! A service of notes, and its client as far as the tests need it.

use sdk_core::codegen::{ApiClient, Application, Bytes, Call, Draft, RawOperations, Row};
use sdk_core::testing::ScriptedTransport;
use sdk_core::{App, Error, Method, Operation, Provenance, RawJson, Replay, Safety};

pub(super) const ROW: Row = Row {
    id: "listNotes",
    application: App::Crm,
    group: "notes",
    name: "list",
    method: Method::Get,
    route: "/notes",
    scopes: &[],
    authenticated: true,
    safety: Safety::Read,
    replay: Replay::NotShown,
    cursor: false,
    body: false,
    optional_body: false,
    media_type: None,
    accept: None,
    schema_version: None,
    secret_reply: false,
    provenance: Provenance::Documented,
    assumptions: &[],
    statuses: &[200],
    summary: "List the notes.",
};

/// A command on one note.
pub(super) const COMMAND: Row = Row {
    route: "/notes/{id}",
    statuses: &[204],
    ..ROW
};

pub(super) static LIST: Operation = Operation::generated(ROW);

pub(super) static PUT: Operation = Operation::generated(Row {
    id: "putNote",
    method: Method::Put,
    safety: Safety::Idempotent,
    body: true,
    ..COMMAND
});

pub(super) static DELETE: Operation = Operation::generated(Row {
    id: "deleteNote",
    method: Method::Delete,
    safety: Safety::Idempotent,
    ..COMMAND
});

/// With a body of its own media type, which may be left out.
pub(super) static PUT_TEXT: Operation = Operation::generated(Row {
    id: "putText",
    route: "/notes/{id}/text",
    body: true,
    optional_body: true,
    media_type: Some("text/plain; charset=utf-8"),
    method: Method::Put,
    safety: Safety::Idempotent,
    ..COMMAND
});

pub(super) static EXPORT: Operation = Operation::generated(Row {
    id: "exportNotes",
    route: "/notes/export",
    accept: Some("text/csv, application/json;q=0.5"),
    ..ROW
});

pub(super) static PATCH: Operation = Operation::generated(Row {
    id: "patchNote",
    media_type: Some("application/merge-patch+json"),
    method: Method::Patch,
    safety: Safety::Unkeyed,
    body: true,
    ..COMMAND
});

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
