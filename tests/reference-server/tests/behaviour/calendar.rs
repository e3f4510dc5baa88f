//! Calendar commands (A80).

use sdk_reference_server::App;
use serde_json::{Value, json};

use crate::peer::{Peer, rows};
use crate::rows::{EVENTS, KEY, changed, rejects, send};

/// Changes to a create command that break rules outside the contract's schemas.
const REJECTED: &str = r#"
    {"operation": null} | 400 | validation_failed | operation
    {"title": null} | 400 | validation_failed | title
    {"startsAt": null} | 400 | validation_failed | startsAt
    {"endsAt": null} | 400 | validation_failed | endsAt
    {"endsAt": "2026-02-02T08:00:00Z"} | 400 | validation_failed | endsAt
    {"operation": "cancel", "publicReference": "EVT-0123456789AB"} | 404 | not_found | event"#;

/// Commands in sequence, the status, and the code or the operation and version of the result.
const HISTORY: &str = r#"
    {} | 201 | event.create 1
    {"title": "Another"} | 409 | TIME_CONFLICT
    {"title": "Another", "collectionReference": "COL-OTHER"} | 201 | event.create 1
    {"title": "Another", "checkConflicts": false, "startsAt": "2026-02-02T08:00:00Z"} | 201 | event.create 1
    {"startsAt": "2026-02-02T10:00:00Z", "endsAt": "2026-02-02T11:00:00Z"} | 201 | event.create 1
    {update, "startsAt": "2026-02-03T11:00:00Z", "endsAt": "2026-02-03T12:00:00Z"} | 200 | event.update 2
    {update, "title": "Stale"} | 409 | STALE_RECORD_VERSION
    {"startsAt": "2026-02-03T11:59:59Z", "endsAt": "2026-02-03T13:00:00Z"} | 409 | TIME_CONFLICT
    {cancel} | 200 | event.cancel 3
    {cancel} | 409 | INVALID_STATE
    {"startsAt": "2026-02-03T11:59:59Z", "endsAt": "2026-02-03T13:00:00Z"} | 201 | event.create 1"#;

/// A path, its command, the status and the operation of the result.
const SIBLINGS: &str = r#"
    /attendance-commands | {"publicReference": event, "response": "accepted"} | 200 | "attendance.respond"
    /recurrence-commands | {"operation": "cancel"} | 200 | "recurrence.exception.cancel"
    /hold-commands | null | 201 | "hold.create"
    /hold-commands | {"operation": "release", "publicReference": hold} | 200 | "hold.release"
    /hold-commands | {"operation": "release", "publicReference": hold} | 404 | null
    /attendance-commands | {"publicReference": "EVT-0123456789AB"} | 404 | null"#;

fn event() -> Value {
    json!({
        "operation": "create",
        "collectionReference": "COL-TEAM",
        "title": "Planning",
        "startsAt": "2026-02-02T09:00:00Z",
        "endsAt": "2026-02-02T10:00:00Z",
        "timezone": "Europe/Oslo",
        "status": "confirmed",
        "visibility": "standard",
        "attendeeActorReferences": [],
        "checkConflicts": true,
        "recurrence": null,
    })
}

#[tokio::test]
async fn a_command_without_a_required_field_is_rejected() {
    let peer = Peer::start().await;
    rejects(&peer, EVENTS, &event(), REJECTED).await;
    // A new event doesn't need these fields, and the contract doesn't document them.
    let more = json!({"publicReference": 7, "surprise": [null]});
    let created = changed(&event(), &more);
    send(&peer, EVENTS, KEY, &created).await.expect(201);
}

#[tokio::test]
async fn events_check_versions_and_overlaps_in_their_collection() {
    let peer = Peer::start().await;
    let mut reference = Value::Null;
    for (number, [command, status, result]) in rows(HISTORY).into_iter().enumerate() {
        let of =
            |operation| format!(r#""operation": "{operation}", "publicReference": {reference}"#);
        let update = of("update") + r#", "expectedRecordVersion": 1"#;
        let changes = command.replace("update", &update);
        let changes = changes.replace("cancel", &of("cancel"));
        let changes: Value = serde_json::from_str(&changes).expect(&changes);
        let base = if changes.get("publicReference").is_some() {
            json!({})
        } else {
            event()
        };
        let key = format!("the-key-of-command-{number}");
        let command = changed(&base, &changes);
        let got = send(&peer, EVENTS, &key, &command).await;
        assert_eq!(got.status.to_string(), status, "{command}: {}", got.text);
        if got.status >= 400 {
            assert_eq!(got.code(), result, "{command}");
            continue;
        }
        let (operation, version) = result.split_once(' ').unwrap();
        assert_eq!(got.body["operation"], operation, "{command}");
        assert_eq!(got.body["recordVersion"].to_string(), version, "{command}");
        if reference.is_null() {
            reference = got.body["publicReference"].clone();
        }
        let again = send(&peer, EVENTS, &key, &command).await.expect(200);
        assert_eq!(again["replayed"], true, "{command}");
    }
}

#[tokio::test]
async fn sibling_operations_accept_any_json() {
    let peer = Peer::start().await;
    let event = send(&peer, EVENTS, KEY, &event()).await.expect(201);
    let mut hold = json!(null);
    for [path, command, status, operation] in rows(SIBLINGS) {
        let command = command.replace("event", &event["publicReference"].to_string());
        let command = command.replace("hold", &hold.to_string());
        let command = serde_json::from_str(&command).expect(&command);
        let got = send(&peer, (App::Calendar, path), KEY, &command).await;
        let seen = (got.status.to_string(), got.body["operation"].to_string());
        assert_eq!(seen, (status.to_owned(), operation.to_owned()), "{command}");
        if got.status == 201 {
            hold = got.body["publicReference"].clone();
        }
    }
}
