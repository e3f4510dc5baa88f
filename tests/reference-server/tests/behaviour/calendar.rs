//! Calendar commands.

use sdk_reference_server::App;
use serde_json::{Value, json};

use crate::peer::{Got, Peer};

const PATH: &str = "/calendar/v1/event-commands";

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

async fn send(peer: &Peer, key: &str, body: &Value) -> Got {
    peer.post_keyed(App::Calendar, PATH, key, body).await
}

#[tokio::test]
async fn an_event_is_created_once_per_key() {
    let mut peer = Peer::start().await;
    let first = send(&peer, "key-0000-0000-0001", &event())
        .await
        .expect(201);
    assert_eq!(first["schemaVersion"], "suite-calendar-command-result.v1");
    assert_eq!(first["operation"], "event.create");
    assert_eq!(first["outcome"], "succeeded");
    assert_eq!(first["recordVersion"], 1);
    assert_eq!(first["replayed"], false);

    // An explicit null does not matter.
    let mut same = event();
    same.as_object_mut().unwrap().remove("recurrence");
    let again = send(&peer, "key-0000-0000-0001", &same).await.expect(200);
    assert_eq!(again["replayed"], true);
    assert_eq!(again["publicReference"], first["publicReference"]);

    let mut other = event();
    other["title"] = json!("Something else");
    let conflict = send(&peer, "key-0000-0000-0001", &other).await;
    assert_eq!(
        (conflict.status, conflict.code()),
        (409, "IDEMPOTENCY_CONFLICT")
    );
    assert_eq!(peer.server.commits("submitEventCommand"), 1);

    // Another actor's key is another key.
    peer.becomes("other", |client| client);
    other["checkConflicts"] = json!(false);
    send(&peer, "key-0000-0000-0001", &other).await.expect(201);
}

#[tokio::test]
async fn the_key_is_needed_and_bounded() {
    let peer = Peer::start().await;
    peer.post(App::Calendar, PATH, &event()).await.expect(400);
    let (least, most) = ("a".repeat(16), "Az09._:-".repeat(20));
    for bad in [
        "a".repeat(15),
        "a".repeat(161),
        format!("{least} "),
        format!("{least}/"),
        format!("{least}é"),
    ] {
        let token = peer.token(App::Calendar).await;
        let value = reqwest::header::HeaderValue::from_bytes(bad.as_bytes()).unwrap();
        let request = peer
            .posting(App::Calendar, PATH, &event())
            .bearer_auth(token);
        // A header value is trimmed on its way, so a trailing space goes unseen.
        let expected = if bad.ends_with(' ') { 201 } else { 400 };
        let mut body = event();
        body["checkConflicts"] = json!(false);
        let got = peer.read(request.header("idempotency-key", value)).await;
        assert_eq!(got.status, expected, "{bad:?}");
    }
    let token = peer.token(App::Calendar).await;
    let twice = peer
        .posting(App::Calendar, PATH, &event())
        .bearer_auth(token);
    peer.read(
        twice
            .header("idempotency-key", &most)
            .header("idempotency-key", &most),
    )
    .await
    .expect(400);
    let mut later = event();
    later["startsAt"] = json!("2026-02-03T09:00:00Z");
    later["endsAt"] = json!("2026-02-03T10:00:00Z");
    assert_eq!(most.len(), 160);
    send(&peer, &most, &later).await.expect(201);
}

#[tokio::test]
async fn an_event_is_updated_and_cancelled_by_version() {
    let peer = Peer::start().await;
    let created = send(&peer, "create-0000000001", &event()).await.expect(201);
    let reference = &created["publicReference"];
    let update = json!({"operation": "update", "publicReference": reference, "expectedRecordVersion": 1, "title": "Moved",
        "startsAt": "2026-02-02T11:00:00Z", "endsAt": "2026-02-02T12:00:00Z"});
    let updated = send(&peer, "update-0000000001", &update).await.expect(200);
    assert_eq!(updated["operation"], "event.update");
    assert_eq!(updated["recordVersion"], 2);
    let stale = send(&peer, "update-0000000002", &update).await;
    assert_eq!((stale.status, stale.code()), (409, "STALE_RECORD_VERSION"));

    // Its former time is free again, its new one is not.
    send(&peer, "create-0000000002", &event()).await.expect(201);
    let mut clash = event();
    clash["startsAt"] = json!("2026-02-02T11:59:59Z");
    clash["endsAt"] = json!("2026-02-02T13:00:00Z");
    let got = send(&peer, "create-0000000003", &clash).await;
    assert_eq!((got.status, got.code()), (409, "TIME_CONFLICT"));

    let cancel = json!({"operation": "cancel", "publicReference": reference});
    let cancelled = send(&peer, "cancel-0000000001", &cancel).await.expect(200);
    assert_eq!(cancelled["operation"], "event.cancel");
    assert_eq!(cancelled["recordVersion"], 3);
    let again = send(&peer, "cancel-0000000002", &cancel).await;
    assert_eq!((again.status, again.code()), (409, "INVALID_STATE"));
    assert_eq!(
        send(&peer, "cancel-0000000001", &cancel).await.expect(200)["replayed"],
        true
    );
    send(&peer, "create-0000000003", &clash).await.expect(201);
}

#[tokio::test]
async fn conflicts_are_checked_in_one_collection_and_on_request() {
    let peer = Peer::start().await;
    send(&peer, "create-0000000001", &event()).await.expect(201);
    let mut body = event();
    body["title"] = json!("Another");
    send(&peer, "create-0000000002", &body).await.expect(409);
    body["collectionReference"] = json!("COL-OTHER");
    send(&peer, "create-0000000003", &body).await.expect(201);
    let mut unchecked = event();
    unchecked["checkConflicts"] = json!(false);
    send(&peer, "create-0000000004", &unchecked)
        .await
        .expect(201);
    let mut adjacent = event();
    adjacent["startsAt"] = json!("2026-02-02T10:00:00Z");
    adjacent["endsAt"] = json!("2026-02-02T11:00:00Z");
    send(&peer, "create-0000000005", &adjacent)
        .await
        .expect(201);
}

#[tokio::test]
async fn bad_event_commands_are_400_and_unknown_events_404() {
    let peer = Peer::start().await;
    let without = |name: &str| {
        let mut body = event();
        body.as_object_mut().unwrap().remove(name);
        body
    };
    let with = |name: &str, value: Value| {
        let mut body = event();
        body[name] = value;
        body
    };
    for body in [
        json!([]),
        without("operation"),
        without("title"),
        without("startsAt"),
        without("endsAt"),
        without("timezone"),
        without("collectionReference"),
        with("operation", json!("destroy")),
        with("title", json!(7)),
        with("startsAt", json!("2026-02-02")),
        with("endsAt", json!("2026-02-02T08:00:00Z")),
        with("allDay", json!("yes")),
        with("attendeeActorReferences", json!([1])),
        with("recurrence", json!("daily")),
        json!({"operation": "cancel"}),
    ] {
        let got = send(&peer, "bad-key-00000000001", &body).await;
        assert_eq!(got.status, 400, "{body}");
    }
    let unknown = json!({"operation": "cancel", "publicReference": "EVT-0123456789AB"});
    send(&peer, "bad-key-00000000001", &unknown)
        .await
        .expect(404);
}

#[tokio::test]
async fn a_null_is_taken_only_where_the_contract_says_so_or_nothing() {
    let peer = Peer::start().await;
    let mut body = event();
    // An event has none of these yet, and the contract does not know them.
    body["publicReference"] = json!(7);
    body["expectedRecordVersion"] = json!(null);
    body["surprise"] = json!([null]);
    let created = send(&peer, "create-0000000001", &body).await.expect(201);
    body["operation"] = json!("update");
    body["publicReference"] = created["publicReference"].clone();
    let members = "title description location startsAt endsAt timezone allDay status visibility checkConflicts \
                   attendeeActorReferences collectionReference";
    for member in members.split_whitespace() {
        let mut body = body.clone();
        body[member] = json!(null);
        let got = send(&peer, "update-0000000001", &body).await;
        assert_eq!(got.status, 400, "{member}");
        assert!(got.text.contains(member), "{member}: {}", got.text);
    }
    send(&peer, "update-0000000001", &body).await.expect(200);
}

#[tokio::test]
async fn the_sibling_operations_take_any_json() {
    let peer = Peer::start().await;
    let created = send(&peer, "create-0000000001", &event()).await.expect(201);
    let post = |path: &'static str, body: Value| {
        let peer = &peer;
        async move { peer.post(App::Calendar, path, &body).await }
    };
    let answered = post(
        "/calendar/v1/attendance-commands",
        json!({"publicReference": created["publicReference"], "response": "accepted"}),
    )
    .await
    .expect(200);
    assert_eq!(answered["operation"], "attendance.respond");
    assert_eq!(answered["recordVersion"], 2);
    let changed = post(
        "/calendar/v1/recurrence-commands",
        json!({"operation": "cancel"}),
    )
    .await
    .expect(200);
    assert_eq!(changed["operation"], "recurrence.exception.cancel");
    let held = post("/calendar/v1/hold-commands", json!(null))
        .await
        .expect(201);
    assert_eq!(held["operation"], "hold.create");
    let release = json!({"operation": "release", "publicReference": held["publicReference"]});
    let released = post("/calendar/v1/hold-commands", release.clone())
        .await
        .expect(200);
    assert_eq!(released["operation"], "hold.release");
    post("/calendar/v1/hold-commands", release)
        .await
        .expect(404);
    post(
        "/calendar/v1/attendance-commands",
        json!({"publicReference": "EVT-0123456789AB"}),
    )
    .await
    .expect(404);
}
