//! Calendar: event commands.

use sdk_calendar::types::{CalendarOperation, EventCommand, EventStatus, EventVisibility};
use sdk_core::Error;
use sdk_reference_server::Operation;
use serde_json::json;

use crate::contract::case::{Done, operations};
use crate::contract::world::World;
use crate::samples::event;

operations! {
    SubmitEventCommand => an_event_is_created_with_a_201, an_event_at_a_taken_time_is_a_409;
}

async fn an_event_is_created_with_a_201(world: &World) -> Done {
    let command = EventCommand::create()
        .collection_reference("team")
        .title("Kick-off")
        .description("First steps")
        .location("Room 2")
        .starts_at("2026-02-02T09:00:00Z".parse().unwrap())
        .ends_at("2026-02-02T09:45:00Z".parse().unwrap())
        .timezone("Europe/Oslo")
        .all_day(false)
        .status(EventStatus::Confirmed)
        .visibility(EventVisibility::Standard)
        .attendee_actor_references([world.server.sample_actor()])
        .check_conflicts(true);

    let receipt = world.calendar.events().command(&command).await.unwrap();

    assert_eq!(receipt.schema_version, "suite-calendar-command-result.v1");
    assert_eq!(receipt.operation, CalendarOperation::EventCreate);
    assert_eq!(receipt.outcome, "succeeded");
    assert_eq!((receipt.record_version, receipt.replayed), (1, false));
    assert_eq!(receipt.http_status(), 201);
    let key = receipt.idempotency_key().unwrap().as_str();
    let seen = world.last(Operation::SubmitEventCommand);
    assert_eq!(seen.idempotency_key(), Some(key));
    let sent = json!({
        "operation": "create",
        "collectionReference": "team",
        "title": "Kick-off",
        "description": "First steps",
        "location": "Room 2",
        "startsAt": "2026-02-02T09:00:00Z",
        "endsAt": "2026-02-02T09:45:00Z",
        "timezone": "Europe/Oslo",
        "allDay": false,
        "status": "confirmed",
        "visibility": "standard",
        "attendeeActorReferences": [world.server.sample_actor()],
        "checkConflicts": true,
    });
    assert_eq!(world.last_body(Operation::SubmitEventCommand), sent);
    Done::of(&receipt.into_response())
}

async fn an_event_at_a_taken_time_is_a_409(world: &World) -> Error {
    let events = world.calendar.events();
    events.command(&event("Kick-off")).await.unwrap();
    let second = event("At the same time").check_conflicts(true);

    let error = events.command(&second).await.unwrap_err();

    assert!(error.is_conflict() && !error.is_idempotency_conflict());
    assert_eq!(error.code(), Some("TIME_CONFLICT"));
    assert_eq!(error.attempts(), 1);
    error
}
