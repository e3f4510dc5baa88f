//! Import runs.

use super::{once, result};
use crate::call::{Answer, Call};
use crate::data::reference::Kind;

pub(crate) fn create(call: &Call<'_>) -> Answer {
    once(call, |store| {
        store.ledger.imports += 1;
        let subject = store.name(Kind::ImportRun);
        // An import runs for a while, so this returns the other documented outcome.
        let outcome = "pending";
        Ok(result(call, store, "import-run.create", outcome, &subject))
    })
}
