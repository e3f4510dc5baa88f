//! Liveness, readiness and metadata, without a token. The contract doesn't document their bodies.

use serde_json::json;

use crate::call::{Answer, Call};
use crate::message::Reply;

pub(crate) fn health(_: &Call<'_>) -> Answer {
    Ok(Reply::ok(&json!({"status": "alive"})))
}

pub(crate) fn ready(_: &Call<'_>) -> Answer {
    Ok(Reply::ok(&json!({"status": "ready"})))
}

pub(crate) fn meta(_: &Call<'_>) -> Answer {
    Ok(Reply::ok(&json!({
        "service": "suite-crm",
        "version": "3.0.0",
        "status": "preview",
        "openapiPath": "/openapi.yaml",
    })))
}
