//! One 400 names every rule that a command breaks, before the server looks up any record (A77, A79, A80).

use std::collections::HashSet;

use sdk_reference_server::App;
use serde_json::{Value, json};

use crate::peer::{Peer, rows};

const PATHS: [(&str, App, &str); 3] = [
    ("command", App::Crm, "/api/crm/v1/commands"),
    ("review", App::Crm, "/api/crm/v1/intake-review-commands"),
    ("event", App::Calendar, "/calendar/v1/event-commands"),
];

/// A kind of command, its body, and the parts of the message. The references belong to no record.
const BROKEN: &str = r#"
    command | {"commandType": "person.explode"} | commandType: must be one of person.create, person.update, ; task.assign; got "person.explode"
    command | {"commandType": "foo", "commandId": 5, "payload": 3} | commandType: must be one of ; commandId: must be of type string
    command | {} | commandType: must be one of person.create, ; got null
    command | {"commandType": "opportunity.update", "subjectReference": "OP-0123456789AB", "payload": {"title": " ", "valueMinMinor": 2, "valueMaxMinor": 1, "personReference": "P", "stage": "won"}} | payload.title: ; payload.valueMinMinor: ; payload.personReference: ; payload.stage:
    command | {"commandType": "opportunity.move", "subjectReference": "OP-0123456789AB", "expectedRecordVersion": 0, "payload": {"reasonCode": ""}} | payload.stage: missing; payload.reasonCode: ; expectedRecordVersion:
    command | {"commandType": "opportunity.assign", "subjectReference": "OP-0123456789AB"} | payload.ownerReference: missing
    command | {"commandType": "person.create", "subjectReference": "PER-0123456789AB", "payload": {"familyName": "Lee", "email": 7}} | subjectReference: ; payload.displayName: missing; payload.email:
    command | {"commandType": "person.update", "subjectReference": "PER-0123456789AB", "payload": {"displayName": "A B", "givenName": "A", "city": "Oslo"}} | payload.displayName: must not be sent with; payload.city:
    command | {"commandType": "task.complete", "subjectReference": "PER-0123456789AB", "payload": 7} | subjectReference: ; payload: must be of type object
    review | {"submissionReference": "IN-1", "note": 7} | submissionReference: ; decision: missing; note:
    event | {"operation": "destroy"} | operation: must be create, update or cancel: got "destroy"
    event | {"operation": "create", "title": "", "startsAt": "2026-02-02T09:00:00Z", "endsAt": "2026-02-02T09:00:00Z"} | title: ; timezone: missing; collectionReference: missing; endsAt: must be after
    event | {"operation": "update", "publicReference": "EVT-0123456789AB", "expectedRecordVersion": 0, "startsAt": "2026-02-02T09:00:00Z", "endsAt": "2026-02-02T09:00:00Z"} | expectedRecordVersion: ; endsAt: must be after
    event | {"operation": "create", "allDay": 1, "title": 7} | allDay: must be of type boolean; title: must be of type string; timezone: missing; startsAt: missing; Idempotency-Key: minLength
    event | {"operation": "cancel", "expectedRecordVersion": "1"} | publicReference: missing; expectedRecordVersion:"#;

#[tokio::test]
async fn one_response_names_every_broken_rule() {
    let peer = Peer::start().await;
    for [kind, body, parts] in rows(BROKEN) {
        let (_, app, path) = PATHS.into_iter().find(|(name, ..)| *name == kind).unwrap();
        let body: Value = serde_json::from_str(body).unwrap();
        // Where a key is required, a key that is too short is another broken rule.
        let got = peer.post_keyed(app, path, "short", &body).await;
        assert_eq!(got.status, 400, "{body}: {}", got.text);
        let message = got.body["message"].as_str().unwrap();
        for part in parts.split("; ") {
            assert!(message.contains(part), "{part} in {message}");
        }
        let rules: Vec<&str> = message.split("; ").collect();
        let distinct: HashSet<&str> = rules.iter().copied().collect();
        assert_eq!(rules.len(), distinct.len(), "{message}");
    }
    let got = peer.crm("/intake-submissions?status=zz&limit=0").await;
    assert!(got.text.contains("status: must be") && got.text.contains("limit: must be"));
    let event = json!({"operation": "create", "attendeeActorReferences": vec![7; 200]});
    let events = "/calendar/v1/event-commands";
    let got = peer
        .post_keyed(App::Calendar, events, "a-key-of-sixteen", &event)
        .await;
    assert!(
        got.text.contains("breaks more rules than are listed"),
        "{}",
        got.text
    );
}
