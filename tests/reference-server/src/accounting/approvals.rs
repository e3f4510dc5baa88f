//! Approval intents: known by method and path only. Any JSON is taken.

use super::result;
use crate::call::{Answer, Call};
use crate::data::reference::Kind;
use crate::message::Reply;

pub(crate) fn create(call: &Call<'_>) -> Answer {
    call.json()?;
    let mut store = call.suite.store_mut();
    store.ledger.approvals += 1;
    let subject = store.name(Kind::ApprovalIntent);
    let result = result(&mut store, "approval-intent.create", "pending", &subject);
    call.committed();
    Ok(Reply::json(201, &result))
}
