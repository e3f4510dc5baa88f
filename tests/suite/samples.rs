//! Commands for many tests.

use sdk_accounting::types::{ImportMode, ImportRunCreate, InvoiceDraftCreate, TaxAmount};
use sdk_calendar::types::EventCommand;
use serde_json::{Value, json};

/// Returns a command that creates an event of one hour, without a conflict check.
pub(crate) fn event(title: &str) -> EventCommand {
    EventCommand::create()
        .collection_reference("team")
        .title(title)
        .starts_at("2026-02-02T09:00:00Z")
        .ends_at("2026-02-02T10:00:00Z")
        .timezone("UTC")
}

pub(crate) fn kick_off(calendar: &sdk_calendar::Client) -> sdk_calendar::SubmitEventCommand {
    calendar.events().command(&event("Kick-off"))
}

pub(crate) fn draft(counterparty: &str, lines: usize) -> InvoiceDraftCreate {
    let line = || json!({"description": "Workshop"}).into();
    InvoiceDraftCreate::new(counterparty, tax(), (0..lines).map(|_| line()))
}

pub(crate) fn tax() -> TaxAmount {
    TaxAmount::new()
        .currency("EUR")
        .minor_units("1900")
        .scale(2)
}

pub(crate) fn import(adapter: &str, mode: ImportMode) -> ImportRunCreate {
    let (source, coverage) = (json!({"name": "legacy"}), json!({"from": "2026-01-01"}));
    ImportRunCreate::new(adapter, "1.0.0", source, mode, coverage)
}

pub(crate) fn promotion(person: &str, job: &str) -> Value {
    json!({
        "commandType": "person.update",
        "subjectReference": person,
        "payload": {"jobTitle": job},
    })
}

pub(crate) fn new_person(name: &str) -> Value {
    json!({"commandType": "person.create", "payload": {"displayName": name}})
}
