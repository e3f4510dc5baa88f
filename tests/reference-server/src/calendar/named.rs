//! The three operations that are known by name and summary only. They take any JSON, and answer with the
//! documented result of a calendar command, whose enumeration names what they do.

use super::result;
use crate::call::{Answer, Call};
use crate::data::Store;
use crate::data::reference::Kind;
use crate::json::Json;
use crate::message::Reply;
use crate::refusal::Refusal;

/// Records the actor's response to an invitation.
pub(crate) fn attendance(call: &Call<'_>) -> Answer {
    let body = call.json()?;
    let mut store = call.suite.store_mut();
    let (reference, version) = event(&mut store, &body)?;
    call.committed();
    Ok(Reply::json(
        200,
        &result("attendance.respond", &reference, version),
    ))
}

/// Modifies one occurrence of a series, or cancels it if the body's `operation` says so.
pub(crate) fn recurrence(call: &Call<'_>) -> Answer {
    let body = call.json()?;
    let operation = match body.text("operation") {
        Some("cancel") => "recurrence.exception.cancel",
        _ => "recurrence.exception.modify",
    };
    let mut store = call.suite.store_mut();
    let (reference, version) = event(&mut store, &body)?;
    call.committed();
    Ok(Reply::json(200, &result(operation, &reference, version)))
}

/// Creates a hold, or releases the one that the body names if its `operation` is `release`.
pub(crate) fn hold(call: &Call<'_>) -> Answer {
    let body = call.json()?;
    let mut store = call.suite.store_mut();
    if body.text("operation") != Some("release") {
        let index = store.number(Kind::Hold);
        store.agenda.holds.insert(index, 1);
        let reference = store.references.name(Kind::Hold, index);
        call.committed();
        return Ok(Reply::json(201, &result("hold.create", &reference, 1)));
    }
    let released = body
        .text("publicReference")
        .and_then(|reference| Some((reference, store.references.index(Kind::Hold, reference)?)))
        .and_then(|(reference, index)| Some((reference, store.agenda.holds.remove(&index)?)));
    let (reference, version) = released.ok_or_else(|| Refusal::not_found("no such hold"))?;
    call.committed();
    Ok(Reply::json(
        200,
        &result("hold.release", reference, version + 1),
    ))
}

/// The event that the body names, one version on; without a name, one that nobody else knows.
fn event(store: &mut Store, body: &Json) -> Result<(String, u64), Refusal> {
    let Some(reference) = body.text("publicReference") else {
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
