//! `POST /calendar/v1/event-commands`: creates, updates or cancels an event, once per idempotency key.
//!
//! The contract doesn't document the required fields of each operation. `assumed.yaml` defines them.

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;

use super::agenda::Event;
use super::result;
use crate::call::{Answer, Call};
use crate::data::Store;
use crate::data::reference::Kind;
use crate::idempotency;
use crate::message::Reply;
use crate::params;
use crate::refusal::Refusal;
use crate::schema::{self, Broken};

/// The fields of an event in a command.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Fields {
    title: Option<Box<str>>,
    collection_reference: Option<String>,
    #[serde(default, deserialize_with = "params::optional_instant")]
    starts_at: Option<Timestamp>,
    #[serde(default, deserialize_with = "params::optional_instant")]
    ends_at: Option<Timestamp>,
    check_conflicts: Option<bool>,
}

/// The event that an update or a cancellation names.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Target {
    public_reference: String,
    expected_record_version: Option<u64>,
}

pub(crate) fn command(call: &Call<'_>) -> Answer {
    let body = call.body();
    let operation = body["operation"].as_str().unwrap_or_default();
    let fields: Fields = schema::fields(body)?;
    let settled = idempotency::once_per_key(call, |store| match operation {
        "create" => create(store, fields),
        "update" => update(store, body, fields),
        "cancel" => cancel(store, body),
        _ => Err(Refusal::invalid("operation: unknown")),
    })?;
    let created = operation == "create" && !settled.replayed;
    let status = if created { 201 } else { 200 };
    Ok(Reply::json(status, &settled.result))
}

pub(crate) fn check(call: &Call<'_>, broken: &mut Broken) -> Result<(), Refusal> {
    let Some(body) = call.sent.body.as_ref().filter(|body| body.is_object()) else {
        return Ok(());
    };
    let operation = &body["operation"];
    match operation.as_str() {
        Some("create") => broken.check("event.create", body, ""),
        Some("update") => broken.check("event.update", body, ""),
        Some("cancel") => {
            broken.check("event.cancel", body, "");
            return Ok(());
        }
        _ => {
            let rule = format!("must be create, update or cancel: got {operation}");
            broken.add("operation", rule);
        }
    }
    let instant = |name: &str| body[name].as_str().and_then(params::instant);
    let [starts_at, ends_at] = ["startsAt", "endsAt"].map(instant);
    if let (Some(starts_at), Some(ends_at)) = (starts_at, ends_at)
        && ends_at <= starts_at
    {
        broken.add("endsAt", AFTER_START);
    }
    Ok(())
}

const AFTER_START: &str = "must be after startsAt";

fn create(store: &mut Store, fields: Fields) -> Result<Value, Refusal> {
    let event = Event {
        title: fields.title.unwrap_or_default(),
        collection: fields.collection_reference.unwrap_or_default().into(),
        starts_at: fields.starts_at.unwrap_or_default(),
        ends_at: fields.ends_at.unwrap_or_default(),
        cancelled: false,
        version: 1,
    };
    check_conflicts(store, &event, fields.check_conflicts, None)?;
    let index = store.number(Kind::Event);
    store.agenda.put(index, event);
    let reference = store.references.name(Kind::Event, index);
    Ok(result("event.create", &reference, 1))
}

fn update(store: &mut Store, body: &Value, fields: Fields) -> Result<Value, Refusal> {
    let (reference, index, mut event) = existing(store, body)?;
    if let Some(collection) = fields.collection_reference {
        event.collection = collection.into();
    }
    event.title = fields.title.unwrap_or(event.title);
    event.starts_at = fields.starts_at.unwrap_or(event.starts_at);
    event.ends_at = fields.ends_at.unwrap_or(event.ends_at);
    if event.ends_at <= event.starts_at {
        return Err(Refusal::invalid(format!("endsAt: {AFTER_START}")));
    }
    check_conflicts(store, &event, fields.check_conflicts, Some(index))?;
    event.version += 1;
    let version = event.version;
    store.agenda.put(index, event);
    Ok(result("event.update", &reference, version))
}

fn cancel(store: &mut Store, body: &Value) -> Result<Value, Refusal> {
    let (reference, index, mut event) = existing(store, body)?;
    event.cancelled = true;
    event.version += 1;
    let version = event.version;
    store.agenda.put(index, event);
    Ok(result("event.cancel", &reference, version))
}

/// Returns the event that a command names. Fails if its version is not the expected version, or if it was cancelled.
fn existing(store: &Store, body: &Value) -> Result<(String, u64, Event), Refusal> {
    let target: Target = schema::fields(body)?;
    let found = store.event(&target.public_reference);
    let (index, event) = found.ok_or_else(|| Refusal::not_found("no such event"))?;
    let expected = target.expected_record_version;
    if expected.is_some_and(|expected| expected != event.version) {
        let message = format!("the event is at version {}", event.version);
        return Err(Refusal::conflict("stale_record_version", message));
    }
    if event.cancelled {
        return Err(Refusal::conflict("invalid_state", "the event is cancelled"));
    }
    let event = event.clone();
    Ok((target.public_reference, index, event))
}

/// Returns a 409 if the command asks for a conflict check and another event overlaps.
fn check_conflicts(
    store: &Store,
    event: &Event,
    wanted: Option<bool>,
    except: Option<u64>,
) -> Result<(), Refusal> {
    if wanted != Some(true) {
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
