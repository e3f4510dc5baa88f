//! Rows 21, 22 and 23: what became of a command, and what is never repeated.

use sdk_core::{Effect, ErrorKind, ExactReplay, Suite};
use sdk_reference_server::Operation;
use serde_json::json;

use crate::fixtures::{add_person, server};
use crate::peer::{Peer, always, json};
use crate::samples::event;
use crate::support::{Clients, assert_failed, calendar_for, key, suite_at};

#[tokio::test]
async fn fault_23_a_time_conflict_is_not_tried_again() {
    let server = server().await;
    let calendar = calendar_for(&server);
    let event = event("Kick-off").check_conflicts(true);
    calendar.events().command(&event).await.unwrap();

    let error = calendar.events().command(&event).await.unwrap_err();

    assert!(error.is_conflict() && !error.is_idempotency_conflict());
    assert_eq!((error.status(), error.attempts()), (Some(409), 1));
    assert_eq!(error.effect(), Effect::Refused);
    assert_eq!(server.attempts(Operation::SubmitEventCommand), 2);
}

#[tokio::test]
async fn fault_23_no_envelope_makes_a_refusal_repeatable() {
    let refusals = [
        (400, "validation_failed", ErrorKind::Rejected),
        (409, "stale_record_version", ErrorKind::Conflict),
        (409, "invalid_state", ErrorKind::Conflict),
        (422, "not_acceptable", ErrorKind::Rejected),
    ];
    for (status, code, kind) in refusals {
        let body = json!({
            "error": {"code": code, "message": "no", "requestId": "req-23", "retryable": true},
        });
        let peer = Peer::start(always(json(status, &body)));
        for error in all_sorts_of_calls(&suite_at(&peer)).await {
            assert_failed(&error, kind, Effect::Refused);
            assert_eq!((error.status(), error.attempts()), (Some(status), 1));
            assert_eq!(
                (error.code(), error.request_id()),
                (Some(code), Some("req-23"))
            );
            assert!(!error.is_retryable(), "{error}");
        }
        assert_eq!(peer.requests().len(), 4);
    }
}

/// A read, a keyed command, one without a key that may be replayed, and the application whose envelope is documented.
async fn all_sorts_of_calls(suite: &Suite) -> [sdk_core::Error; 4] {
    let crm = suite.crm();
    let calendar = suite.calendar();
    let platform = suite.platform();
    let event = event("Kick-off");
    let keyed = calendar
        .events()
        .command(&event)
        .idempotency_key(key("a-key-for-row-23"));
    let unkeyed = add_person(&crm).exact_replay(ExactReplay::Allowed);
    [
        crm.people().list().await.unwrap_err(),
        keyed.await.unwrap_err(),
        unkeyed.await.unwrap_err(),
        platform.apps().list().await.unwrap_err(),
    ]
}
