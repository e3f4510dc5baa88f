//! Commands that many tests send.

use sdk_accounting::types::{ImportMode, ImportRunCreate, InvoiceDraftCreate, TaxAmount};
use sdk_calendar::types::EventCommand;
use serde_json::{Value, json};

/// A command that creates an event of one hour, and does not check for conflicts.
pub(crate) fn event(title: &str) -> EventCommand {
    EventCommand::create()
        .collection_reference("team")
        .title(title)
        .starts_at("2026-02-02T09:00:00Z")
        .ends_at("2026-02-02T10:00:00Z")
        .timezone("UTC")
}

/// A call that creates one.
pub(crate) fn kick_off(calendar: &sdk_calendar::Client) -> sdk_calendar::SubmitEventCommand {
    calendar.events().command(&event("Kick-off"))
}

/// A draft with so many lines.
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

/// A run of an adapter of this name.
pub(crate) fn import(adapter: &str, mode: ImportMode) -> ImportRunCreate {
    let (source, coverage) = (json!({"name": "legacy"}), json!({"from": "2026-01-01"}));
    ImportRunCreate::new(adapter, "1.0.0", source, mode, coverage)
}

/// A record command that gives a person another job.
pub(crate) fn promotion(person: &str, job: &str) -> Value {
    json!({
        "commandType": "person.update",
        "subjectReference": person,
        "payload": {"jobTitle": job},
    })
}

/// A CRM command that adds a person.
pub(crate) fn new_person(name: &str) -> Value {
    json!({"commandType": "person.create", "payload": {"displayName": name}})
}
