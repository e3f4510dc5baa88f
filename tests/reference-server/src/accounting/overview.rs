//! Counts and most recent commands. The contract documents only method and path.

use serde_json::json;

use crate::call::{Answer, Call};
use crate::message::Reply;

pub(crate) fn get(call: &Call<'_>) -> Answer {
    let store = call.suite.store();
    Ok(Reply::ok(&json!({
        "counterparties": store.counterparties.length(),
        "invoiceDrafts": store.ledger.drafts,
        "importRuns": store.ledger.imports,
        "approvalIntents": store.ledger.approvals,
        "recentCommands": store.ledger.committed(),
    })))
}
