//! Tables of requests with one row each. `{person}` and similar names are replaced by the sample records of a server.

use sdk_reference_server::{App, Operation};
use serde_json::{Value, json};

use crate::peer::{Got, Peer, rows};

/// The target of commands: an application, and a path below [`common`].
pub(crate) type Target = (App, &'static str);

pub(crate) const COMMANDS: Target = (App::Crm, "/commands");
pub(crate) const REVIEWS: Target = (App::Crm, "/intake-review-commands");
pub(crate) const EVENTS: Target = (App::Calendar, "/event-commands");
pub(crate) const DRAFTS: Target = (App::Accounting, "/invoice-drafts");
pub(crate) const IMPORTS: Target = (App::Accounting, "/import-runs");
pub(crate) const INTENTS: Target = (App::Accounting, "/approval-intents");

/// A key for commands whose key doesn't matter.
pub(crate) const KEY: &str = "a-key-of-sixteen";

/// The path prefix that an application's operations share.
fn common(app: App) -> &'static str {
    match app {
        App::Crm => "/api/crm/v1",
        App::Calendar => "/calendar/v1",
        App::Platform => "/platform/v1",
        _ => "",
    }
}

/// Fills the references of sample records into a table.
pub(crate) fn filled(peer: &Peer, table: &str) -> String {
    let server = &peer.server;
    let samples = [
        ("{actor}", server.sample_actor()),
        ("{person}", server.sample_person()),
        ("{organization}", server.sample_organization()),
        ("{opportunity}", server.sample_opportunity()),
        ("{task}", server.sample_task()),
        ("{submission}", server.sample_intake_submission()),
        ("{counterparty}", server.sample_counterparty()),
        ("{archived}", server.archived_counterparty()),
    ];
    let mut table = table.to_owned();
    for (name, reference) in samples {
        table = table.replace(name, &reference);
    }
    table
}

/// Builds a record command on the sample record of its kind, unless the command creates a record.
pub(crate) fn record_command(peer: &Peer, kind: &str, payload: &str) -> Value {
    let payload: Value = serde_json::from_str(&filled(peer, payload)).expect(payload);
    let mut command = json!({"commandType": kind, "payload": payload});
    let (noun, verb) = kind.split_once('.').unwrap();
    if verb != "create" {
        let noun = if noun == "activity" { "person" } else { noun };
        command["subjectReference"] = filled(peer, &format!("{{{noun}}}")).into();
    }
    command
}

/// Returns a command with changed fields. Null removes a field.
pub(crate) fn changed(command: &Value, changes: &Value) -> Value {
    let mut command = command.clone();
    let Some(fields) = changes.as_object() else {
        return changes.clone();
    };
    for (name, value) in fields {
        if value.is_null() {
            command.as_object_mut().unwrap().remove(name);
        } else {
            command[name] = value.clone();
        }
    }
    command
}

pub(crate) async fn send(peer: &Peer, (app, path): Target, key: &str, command: &Value) -> Got {
    let path = format!("{}{path}", common(app));
    peer.post_keyed(app, &path, key, command).await
}

fn commits(peer: &Peer) -> u64 {
    Operation::all()
        .map(|operation| peer.server.commits(operation))
        .sum()
}

/// Checks rows of changes to a command: the status and the code of the rejection, and a part of the message. No row
/// takes effect.
pub(crate) async fn rejects(peer: &Peer, target: Target, command: &Value, table: &str) {
    let before = commits(peer);
    for [changes, status, code, named] in rows(&filled(peer, table)) {
        let changes = serde_json::from_str(changes).expect(changes);
        let got = send(peer, target, KEY, &changed(command, &changes)).await;
        let seen = (got.status.to_string(), got.code().to_lowercase());
        assert_eq!(seen, (status.to_owned(), code.to_owned()), "{changes}");
        assert!(got.text.contains(named), "{changes}: {}", got.text);
    }
    assert_eq!(commits(peer), before);
}

/// Checks rows of a path, a JSON pointer, and the value there. An empty value means that the pointer matches nothing.
pub(crate) async fn shows(peer: &Peer, app: App, table: &str) {
    let token = peer.token(app).await;
    for [path, place, value] in rows(&filled(peer, table)) {
        let path = format!("{}{path}", common(app));
        let body = peer.get_with(app, &path, &token).await.expect(200);
        let shown = body.pointer(place).map(ToString::to_string);
        assert_eq!(shown.unwrap_or_default(), value, "{path} {place}: {body}");
    }
}
