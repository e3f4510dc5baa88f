//! The organization and its installation.

use serde_json::json;

use crate::call::{Answer, Call};
use crate::message::Reply;

pub(crate) fn get(call: &Call<'_>) -> Answer {
    Ok(Reply::ok(&json!({
        "organization": {"displayName": "Reference Works", "timezone": "Europe/Oslo", "locale": "en"},
        "installation": {"status": "active", "workspace": call.suite.workspace()},
    })))
}
