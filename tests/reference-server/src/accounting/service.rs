//! Metadata and readiness. For readiness, the contract documents only method and path.

use serde_json::json;

use crate::call::{Answer, Call};
use crate::message::Reply;

pub(crate) fn meta(_: &Call<'_>) -> Answer {
    Ok(Reply::ok(&json!({
        "schemaVersion": "suite-accounting-api.v1",
        "service": "suite-accounting",
        "version": "0.1.1",
        "status": "preview",
        "openapiPath": "/openapi.yaml",
    })))
}

pub(crate) fn ready(_: &Call<'_>) -> Answer {
    Ok(Reply::ok(&json!({"status": "ready"})))
}
