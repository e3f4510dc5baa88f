//! Who the caller is. The contract shows only method and path.

use serde_json::json;

use crate::call::{Answer, Call};
use crate::message::Reply;

pub(crate) fn get(call: &Call<'_>) -> Answer {
    let caller = call.caller()?;
    Ok(Reply::ok(&json!({
        "actorReference": caller.actor_reference(),
        "clientId": caller.client_id(),
        "workspace": caller.workspace(),
        "scopes": caller.scopes(),
    })))
}
