//! Liveness, readiness and metadata: open to everyone. Their bodies are not shown.

use serde_json::json;

use crate::message::Reply;

pub(crate) fn health() -> Reply {
    Reply::ok(&json!({"status": "alive"}))
}

pub(crate) fn readiness() -> Reply {
    Reply::ok(&json!({"status": "ready"}))
}

pub(crate) fn metadata() -> Reply {
    Reply::ok(&json!({
        "service": "suite-crm",
        "version": "3.0.0",
        "status": "preview",
        "openapiPath": "/openapi.yaml",
    }))
}
