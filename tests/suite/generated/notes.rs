//! A service of notes, and its client as far as the tests need it.

use sdk_core::codegen::{ApiClient, Application, Call, Draft, RawOperations, Row};
use sdk_core::testing::ScriptedTransport;
use sdk_core::{App, Error, Method, Operation, Provenance, RawJson, Replay, Safety};

const ROW: Row = Row {
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
    schema_version: None,
    secret_reply: false,
    provenance: Provenance::Documented,
    assumptions: &[],
    statuses: &[200],
    summary: "List the notes.",
};

pub(super) static LIST: Operation = Operation::generated(ROW);

static NOTES: Application = Application {
    app: App::Crm,
    title: "Notes",
    contract_version: "1",
    statuses: &[],
    shows_envelope: false,
    metadata: None,
    metadata_members: &[],
    operations: &[&LIST],
    raw: RawOperations::of(App::Crm),
};

/// A client that gets its replies from a script.
pub(super) fn client(transport: &ScriptedTransport) -> ApiClient {
    let suite = transport.suite().retry(crate::support::quick_retry());
    ApiClient::new(&suite.build().unwrap(), &NOTES).unwrap()
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
