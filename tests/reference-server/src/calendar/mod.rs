//! The Calendar.

pub(crate) mod command;
pub(crate) mod events;
pub(crate) mod named;

use serde_json::{Value, json};

/// The documented result of a calendar command.
fn result(operation: &str, reference: &str, version: u64) -> Value {
    json!({
        "schemaVersion": "suite-calendar-command-result.v1",
        "operation": operation,
        "outcome": "succeeded",
        "publicReference": reference,
        "recordVersion": version,
        "replayed": false,
    })
}
