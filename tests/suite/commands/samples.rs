//! Commands that many tests send.

use sdk_accounting::types::{ImportMode, ImportRunCreate, InvoiceDraftCreate, TaxAmount};
use sdk_calendar::types::EventCommand;
use sdk_reference_server::ReferenceServer;
use serde_json::json;

/// A command that creates an event.
pub(super) fn event(title: &str) -> EventCommand {
    EventCommand::create()
        .collection_reference("team")
        .title(title)
        .starts_at("2026-02-02T09:00:00Z".parse().unwrap())
        .ends_at("2026-02-02T10:00:00Z".parse().unwrap())
        .timezone("UTC")
}

/// A draft with one line.
pub(super) fn draft(server: &ReferenceServer) -> InvoiceDraftCreate {
    let line = json!({"description": "Workshop"});
    InvoiceDraftCreate::new(server.sample_counterparty(), tax(), [line])
}

pub(super) fn tax() -> TaxAmount {
    TaxAmount::new().currency("EUR").minor_units(1900).scale(2)
}

pub(super) fn run() -> ImportRunCreate {
    let (source, coverage) = (json!({"name": "legacy"}), json!({"from": "2026-01-01"}));
    ImportRunCreate::new("ledger", "1.0.0", source, ImportMode::FullHistory, coverage)
}
