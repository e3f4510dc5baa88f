//! Holds, of which the contract shows only name and summary.

use super::result;
use crate::call::{Answer, Call};
use crate::data::reference::Kind;
use crate::message::Reply;
use crate::refusal::Refusal;

/// Creates a hold, or releases the one that the body names if its `operation` is `release`.
pub(crate) fn manage(call: &Call<'_>) -> Answer {
    let body = call.body();
    let mut store = call.suite.store_mut();
    if body["operation"] != "release" {
        let index = store.number(Kind::Hold);
        store.agenda.holds.insert(index, 1);
        let reference = store.references.name(Kind::Hold, index);
        call.committed();
        return Ok(Reply::json(201, &result("hold.create", &reference, 1)));
    }
    let released = body["publicReference"]
        .as_str()
        .and_then(|reference| Some((reference, store.references.index(Kind::Hold, reference)?)))
        .and_then(|(reference, index)| Some((reference, store.agenda.holds.remove(&index)?)));
    let (reference, version) = released.ok_or_else(|| Refusal::not_found("no such hold"))?;
    call.committed();
    Ok(Reply::json(
        200,
        &result("hold.release", reference, version + 1),
    ))
}
