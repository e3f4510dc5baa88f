//! Metadata, and three operations that are known by method and path only.

use serde_json::json;

use crate::call::{Answer, Call};
use crate::message::Reply;

pub(crate) fn metadata() -> Reply {
    Reply::ok(&json!({
        "schemaVersion": "suite-accounting-api.v1",
        "service": "suite-accounting",
        "version": "0.1.1",
        "status": "preview",
        "openapiPath": "/openapi.yaml",
    }))
}

pub(crate) fn readiness() -> Reply {
    Reply::ok(&json!({"status": "ready"}))
}

/// Who the caller is.
pub(crate) fn actor(call: &Call<'_>) -> Answer {
    let caller = call.caller()?;
    Ok(Reply::ok(&json!({
        "actorReference": caller.actor_reference(),
        "clientId": caller.client_id(),
        "workspace": caller.workspace(),
        "scopes": caller.scopes(),
    })))
}

pub(crate) fn overview(call: &Call<'_>) -> Answer {
    let store = call.suite.store();
    Ok(Reply::ok(&json!({
        "counterparties": store.counterparties.length(),
        "invoiceDrafts": store.ledger.drafts,
        "importRuns": store.ledger.imports,
        "approvalIntents": store.ledger.approvals,
        "recentCommands": store.ledger.committed(),
    })))
}
