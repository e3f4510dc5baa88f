//! Requests are read back as they were written, so that they can be kept, logged and tested against.

use std::fmt::Debug;

use sdk_accounting::types::{ImportMode, ImportRunCreate, InvoiceDraftCreate, TaxAmount};
use sdk_calendar::types::{EventCommand, EventOperation, EventStatus, EventVisibility};
use sdk_core::Record;
use sdk_platform::types::TokenForm;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Writes, reads and writes again; the two are the same, and so are the two texts.
fn round_trip<T: Serialize + DeserializeOwned + PartialEq + Debug>(request: &T) -> Value {
    let written = serde_json::to_string(request).unwrap();
    let read: T = serde_json::from_str(&written).unwrap();
    assert_eq!(&read, request);
    assert_eq!(serde_json::to_string(&read).unwrap(), written);
    serde_json::from_str(&written).unwrap()
}

#[test]
fn an_event_command_round_trips() {
    let mut command = EventCommand::new()
        .operation(EventOperation::Unknown("reschedule".to_owned()))
        .collection_reference("team")
        .title("Kick-off \"Ä\" \u{1f980}")
        .description("")
        .location("Room 1")
        .starts_at("2026-02-02T09:00:00.5Z")
        .ends_at("2026-02-02T10:00:00Z")
        .timezone("Europe/Berlin")
        .all_day(false)
        .status(EventStatus::Confirmed)
        .visibility(EventVisibility::Standard)
        .attendee_actor_references(["ACR-0123456789AB"])
        .check_conflicts(true)
        .recurrence(Record::from(json!({"rule": "weekly"})));
    command.extra.insert(
        "fromTheFuture",
        "123456789012345678901234567890"
            .parse::<sdk_core::RawJson>()
            .unwrap(),
    );

    let written = round_trip(&command);

    assert_eq!(written["operation"], "reschedule");
    round_trip(&EventCommand::new());
    // An explicit null is sent through `extra`, and comes back from there.
    let mut command = EventCommand::new();
    command
        .extra
        .insert("recurrence", sdk_core::RawJson::null());
    assert_eq!(round_trip(&command), json!({"recurrence": null}));
}

#[test]
fn accounting_commands_round_trip_with_their_constants() {
    let tax = TaxAmount::new()
        .currency("EUR")
        .minor_units("9".repeat(30))
        .scale(2);
    let draft = InvoiceDraftCreate::new(
        "FCP-ABCDEFGHIJKL",
        tax,
        [json!({"description": "Workshop"}).into()],
    )
    .billing_profile_reference("profile")
    .document_date("2026-02-01")
    .due_date("2026-03-01")
    .customer_note("note")
    .internal_note("");
    assert_eq!(
        round_trip(&draft)["schemaVersion"],
        "suite-accounting-invoice-draft-create.v1"
    );

    let (source, coverage) = (json!({"name": "legacy"}), json!({"from": "2026-01-01"}));
    let import = ImportRunCreate::new(
        "adapter",
        "1.0.0",
        source,
        ImportMode::EvidenceOnly,
        coverage,
    );
    let written = round_trip(&import);
    assert_eq!(
        written["schemaVersion"],
        "suite-accounting-import-create.v1"
    );
    assert_eq!(
        written["adapterContractVersion"],
        "suite-accounting-adapter.v1"
    );
}

#[test]
fn a_token_request_round_trips() {
    let request = TokenForm::new()
        .client_id("id")
        .client_secret("secret")
        .scope("a b")
        .audience("crm");

    assert_eq!(round_trip(&request)["grant_type"], "client_credentials");
}
