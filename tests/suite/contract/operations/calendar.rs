//! Calendar: event commands.

use sdk_calendar::types::{
    CalendarCommandResult, CalendarOperation, EventCommand, EventStatus, EventVisibility,
};
use sdk_core::{Error, Receipt};
use sdk_reference_server::Operation;
use serde_json::json;

use super::operations;
use crate::contract::setup::Setup;
use crate::samples::event;

operations! {
    SubmitEventCommand: |setup| setup.calendar.events().command(&whole_event(setup)) => is_created,
        409 "time_conflict" "": |setup| at_a_taken_time(setup);
}

/// Returns a command with every field except the recurrence, whose content the contract doesn't document.
fn whole_event(setup: &Setup) -> EventCommand {
    event("Kick-off")
        .description("First steps")
        .location("Room 2")
        .timezone("Europe/Oslo")
        .all_day(false)
        .status(EventStatus::Confirmed)
        .visibility(EventVisibility::Standard)
        .attendee_actor_references([setup.server.sample_actor()])
        .check_conflicts(false)
}

fn is_created(setup: &Setup, receipt: &Receipt<CalendarCommandResult>) {
    assert_eq!(receipt.schema_version, "suite-calendar-command-result.v1");
    assert_eq!(receipt.operation, CalendarOperation::EventCreate);
    assert_eq!(receipt.outcome, "succeeded");
    assert_eq!((receipt.record_version, receipt.replayed), (1, false));
    assert_eq!(receipt.http_status(), 201);
    let key = receipt.idempotency_key().unwrap().as_str();
    let seen = setup.last(Operation::SubmitEventCommand);
    assert_eq!(seen.idempotency_key(), Some(key));
    let sent = json!({
        "operation": "create",
        "collectionReference": "team",
        "title": "Kick-off",
        "description": "First steps",
        "location": "Room 2",
        "startsAt": "2026-02-02T09:00:00Z",
        "endsAt": "2026-02-02T10:00:00Z",
        "timezone": "Europe/Oslo",
        "allDay": false,
        "status": "confirmed",
        "visibility": "standard",
        "attendeeActorReferences": [setup.server.sample_actor()],
        "checkConflicts": false,
    });
    assert_eq!(setup.last_body(Operation::SubmitEventCommand), sent);
}

async fn at_a_taken_time(setup: &Setup) -> Result<Receipt<CalendarCommandResult>, Error> {
    let events = setup.calendar.events();
    events.command(&event("Kick-off")).await.unwrap();
    let second = event("At the same time").check_conflicts(true);
    events.command(&second).await
}
