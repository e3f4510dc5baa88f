//! Approval intents. The contract documents only method and path. The server accepts any JSON; if the body names a
//! draft, that draft then waits for approval.

use super::result;
use crate::call::{Answer, Call};
use crate::data::reference::Kind;
use crate::message::Reply;
use crate::refusal::Refusal;

pub(crate) fn create(call: &Call<'_>) -> Answer {
    let named = ["subjectReference", "publicReference"]
        .iter()
        .find_map(|name| call.body()[name].as_str());
    let mut store = call.suite.store_mut();
    let intent = store.name(Kind::ApprovalIntent);
    if let Some(reference) = named {
        let draft = store.ledger.draft_mut(reference);
        let draft = draft.ok_or_else(|| Refusal::not_found("no such invoice draft"))?;
        draft.status = "approval_pending";
        draft.approval_intent_reference = Some(intent.clone());
        draft.record_version += 1;
    }
    store.ledger.approvals += 1;
    let result = result(
        call,
        &mut store,
        "approval-intent.create",
        "pending",
        &intent,
    );
    call.committed();
    Ok(Reply::json(201, &result))
}
