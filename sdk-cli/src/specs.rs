//! The contract as OpenAPI documents, and the list of assumptions, as `cargo xtask codegen` writes them.

use std::sync::LazyLock;

use serde_json::Value;

/// `{"specs": {"crm": {...}, ...}, "assumptions": [{"id": ..., "title": ..., "override": ...}]}`
pub(crate) fn specs() -> &'static Value {
    static SPECS: LazyLock<Value> = LazyLock::new(|| {
        serde_json::from_str(include_str!("generated/specs.json")).expect("a generated file")
    });
    &SPECS
}

/// The target of a local `$ref`, or the schema itself.
pub(crate) fn resolved(document: &'static Value, schema: &'static Value) -> &'static Value {
    match schema["$ref"].as_str() {
        Some(reference) => document
            .pointer(reference.trim_start_matches('#'))
            .unwrap_or(&Value::Null),
        None => schema,
    }
}
