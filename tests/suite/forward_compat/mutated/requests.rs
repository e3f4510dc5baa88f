//! Requests are read back as they were written, so that they can be kept, logged and tested against.

use std::fmt::Debug;

use sdk_accounting::types::ImportMode;
use sdk_calendar::types::{EventCommand, EventOperation, EventStatus, EventVisibility};
use sdk_core::{RawJson, Record};
use sdk_platform::types::TokenForm;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::samples::{draft, import};

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
    let digits = "123456789012345678901234567890";
    let digits: RawJson = digits.parse().unwrap();
    command.extra.insert("fromTheFuture", digits);

    let written = round_trip(&command);

    assert_eq!(written["operation"], "reschedule");
    round_trip(&EventCommand::new());
    // An explicit null is sent through `extra`, and comes back from there.
    let mut command = EventCommand::new();
    command.extra.insert("recurrence", RawJson::null());
    assert_eq!(round_trip(&command), json!({"recurrence": null}));
}

#[test]
fn accounting_commands_round_trip_with_their_constants() {
    let mut draft = draft("FCP-ABCDEFGHIJKL", 1)
        .billing_profile_reference("profile")
        .document_date("2026-02-01")
        .due_date("2026-03-01")
        .customer_note("note")
        .internal_note("");
    draft.tax_amount = draft.tax_amount.minor_units("9".repeat(30));
    let version = &round_trip(&draft)["schemaVersion"];
    assert_eq!(version, "suite-accounting-invoice-draft-create.v1");

    let written = round_trip(&import("adapter", ImportMode::EvidenceOnly));
    let adapter = &written["adapterContractVersion"];
    assert_eq!(
        written["schemaVersion"],
        "suite-accounting-import-create.v1"
    );
    assert_eq!(adapter, "suite-accounting-adapter.v1");
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
