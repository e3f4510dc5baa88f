//! The Calendar.

pub(crate) mod agenda;
pub(crate) mod attendance;
pub(crate) mod events;
pub(crate) mod holds;
pub(crate) mod recurrence;

use serde_json::{Value, json};

use crate::call::{Answer, Call};
use crate::data::Store;
use crate::data::reference::Kind;
use crate::message::Reply;
use crate::refusal::Refusal;

/// Returns the documented result of a calendar command.
fn result(operation: &str, reference: &str, version: u64) -> Value {
    json!({
        "schemaVersion": "suite-calendar-command-result.v1",
        "operation": operation,
        "outcome": "succeeded",
        "publicReference": reference,
        "recordVersion": version,
        "replayed": false,
    })
}

/// Serves an operation on an event for which the contract documents only name and summary. The operation accepts any
/// JSON and returns the documented result of a calendar command, whose `operation` enumeration includes it.
fn change(call: &Call<'_>, operation: impl FnOnce(&Value) -> &'static str) -> Answer {
    let body = call.body();
    let (reference, version) = next_version(&mut call.suite.store_mut(), body)?;
    call.committed();
    Ok(Reply::ok(&result(operation(body), &reference, version)))
}

/// Increments the version of the event that the body names. Without a reference, creates a new reference.
fn next_version(store: &mut Store, body: &Value) -> Result<(String, u64), Refusal> {
    let Some(reference) = body["publicReference"].as_str() else {
        return Ok((store.name(Kind::Event), 1));
    };
    let known = store
        .event(reference)
        .map(|(index, event)| (index, event.clone()));
    let (index, mut event) = known.ok_or_else(|| Refusal::not_found("no such event"))?;
    event.version += 1;
    let version = event.version;
    store.agenda.put(index, event);
    Ok((reference.to_owned(), version))
}
