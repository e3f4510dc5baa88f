//! The caller's identity. The contract documents only method and path.

use serde_json::json;

use crate::call::{Answer, Call};
use crate::message::Reply;

pub(crate) fn get(call: &Call<'_>) -> Answer {
    let claims = &call.caller()?.claims;
    let scopes: Vec<&str> = claims.scope.split_whitespace().collect();
    Ok(Reply::ok(&json!({
        "actorReference": claims.actor,
        "clientId": claims.client_id,
        "workspace": claims.workspace,
        "scopes": scopes,
    })))
}
