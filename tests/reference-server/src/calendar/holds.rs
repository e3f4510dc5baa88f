//! Holds. The contract documents only the operation's name and summary.

use super::result;
use crate::call::{Answer, Call};
use crate::data::reference::Kind;
use crate::message::Reply;
use crate::refusal::Refusal;

/// Creates a hold. If the body's `operation` is `release`, releases the hold that the body names.
pub(crate) fn manage(call: &Call<'_>) -> Answer {
    let body = call.body();
    let mut store = call.suite.store_mut();
    if body["operation"] != "release" {
        let index = store.number(Kind::Hold);
        store.agenda.holds.insert(index);
        let reference = store.references.name(Kind::Hold, index);
        call.committed();
        return Ok(Reply::json(201, &result("hold.create", &reference, 1)));
    }
    let reference = body["publicReference"].as_str().unwrap_or_default();
    let index = store.references.index(Kind::Hold, reference);
    if !index.is_some_and(|index| store.agenda.holds.remove(&index)) {
        return Err(Refusal::not_found("no such hold"));
    }
    call.committed();
    Ok(Reply::ok(&result("hold.release", reference, 2)))
}
