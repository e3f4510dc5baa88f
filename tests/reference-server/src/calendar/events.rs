//! `POST /calendar/v1/event-commands`: creates, updates or cancels an event, once per idempotency key.
//!
//! The contract does not show which members an operation requires. Here `create` requires `title`, `startsAt`,
//! `endsAt`, `timezone` and `collectionReference`; `update` and `cancel` require `publicReference` and accept
//! `expectedRecordVersion`.

use serde_json::Value;

use super::agenda::Event;
use super::result;
use crate::call::{Answer, Call};
use crate::data::Store;
use crate::data::reference::Kind;
use crate::fields::Fields;
use crate::idempotency;
use crate::json::Json;
use crate::message::Reply;
use crate::refusal::Refusal;

/// Members that are texts.
const TEXTS: [&str; 7] = [
    "title",
    "description",
    "location",
    "timezone",
    "status",
    "visibility",
    "collectionReference",
];

pub(crate) fn command(call: &Call<'_>) -> Answer {
    let key = idempotency::required_key(call.request)?;
    let body = call.json();
    let command = Fields::of(body)?;
    check_types(command)?;
    let operation = command.required_text("operation")?;
    let print = idempotency::fingerprint(call, body);
    let settled = idempotency::once(call, key, print, |store| match operation {
        "create" => create(store, command),
        "update" => update(store, command),
        "cancel" => cancel(store, command),
        _ => Err(Refusal::invalid(
            "operation: must be create, update or cancel",
        )),
    })?;
    let created = operation == "create" && !settled.replayed;
    let status = if created { 201 } else { 200 };
    Ok(Reply::json(status, &settled.result))
}

/// The documented types, whatever the operation.
fn check_types(command: Fields<'_>) -> Result<(), Refusal> {
    for name in TEXTS {
        command.text(name)?;
    }
    for name in ["startsAt", "endsAt"] {
        command.instant(name)?;
    }
    command.boolean("allDay")?;
    command.boolean("checkConflicts")?;
    command.or_null().object("recurrence")?;
    let attendees = command.array("attendeeActorReferences")?;
    if attendees
        .is_some_and(|attendees| !attendees.iter().all(|actor| matches!(actor, Json::Text(_))))
    {
        return Err(Refusal::invalid(
            "attendeeActorReferences: must contain only strings",
        ));
    }
    Ok(())
}

fn create(store: &mut Store, command: Fields<'_>) -> Result<Value, Refusal> {
    let title = command.required_text("title")?;
    command.required_text("timezone")?;
    command.required("startsAt")?;
    command.required("endsAt")?;
    let collection = command.required_text("collectionReference")?;
    let event = Event {
        title: title.into(),
        collection: collection.into(),
        starts_at: command.instant("startsAt")?.unwrap_or_default(),
        ends_at: command.instant("endsAt")?.unwrap_or_default(),
        cancelled: false,
        version: 1,
    };
    check_times(store, &event, command, None)?;
    let index = store.number(Kind::Event);
    store.agenda.put(index, event);
    let reference = store.references.name(Kind::Event, index);
    Ok(result("event.create", &reference, 1))
}

fn update(store: &mut Store, command: Fields<'_>) -> Result<Value, Refusal> {
    let (reference, index, mut event) = existing(store, command)?;
    if command.has("collectionReference") {
        event.collection = command.required_text("collectionReference")?.into();
    }
    if command.has("title") {
        event.title = command.required_text("title")?.into();
    }
    event.starts_at = command.instant("startsAt")?.unwrap_or(event.starts_at);
    event.ends_at = command.instant("endsAt")?.unwrap_or(event.ends_at);
    check_times(store, &event, command, Some(index))?;
    event.version += 1;
    let version = event.version;
    store.agenda.put(index, event);
    Ok(result("event.update", reference, version))
}

fn cancel(store: &mut Store, command: Fields<'_>) -> Result<Value, Refusal> {
    let (reference, index, mut event) = existing(store, command)?;
    event.cancelled = true;
    event.version += 1;
    let version = event.version;
    store.agenda.put(index, event);
    Ok(result("event.cancel", reference, version))
}

/// The event that a command names, if its version is the expected one and it was not cancelled.
fn existing<'c>(store: &Store, command: Fields<'c>) -> Result<(&'c str, u64, Event), Refusal> {
    // The contract has neither member.
    let command = command.or_null();
    let reference = command.required_text("publicReference")?;
    let expected = command.integer("expectedRecordVersion")?;
    let (index, event) = store
        .event(reference)
        .ok_or_else(|| Refusal::not_found("no such event"))?;
    if expected.is_some_and(|expected| u64::try_from(expected) != Ok(event.version)) {
        let message = format!("the event is at version {}", event.version);
        return Err(Refusal::conflict("stale_record_version", message));
    }
    if event.cancelled {
        return Err(Refusal::conflict("invalid_state", "the event is cancelled"));
    }
    Ok((reference, index, event.clone()))
}

/// 400 if the event ends before it starts, 409 if conflicts are to be checked and there is one.
fn check_times(
    store: &Store,
    event: &Event,
    command: Fields<'_>,
    except: Option<u64>,
) -> Result<(), Refusal> {
    if event.ends_at <= event.starts_at {
        return Err(Refusal::invalid("endsAt: must be after startsAt"));
    }
    if command.boolean("checkConflicts")? != Some(true) {
        return Ok(());
    }
    let (from, to) = (event.starts_at, event.ends_at);
    let other = store.agenda.conflict(&event.collection, from, to, except);
    other.map_or(Ok(()), |other| {
        let other = store.references.name(Kind::Event, other);
        let message = format!("{other} takes place at that time");
        Err(Refusal::conflict("time_conflict", message))
    })
}
