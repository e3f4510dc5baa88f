//! Requests can be decoded again, for storage, logs and tests, and each can have fields that the SDK doesn't know yet.
//! For parameters and headers, see `contract::every`.

use std::fmt::Debug;

use sdk_accounting::types::ImportMode;
use sdk_calendar::types::{EventCommand, EventOperation, EventStatus, EventVisibility};
use sdk_core::{Members, RawJson, Record};
use sdk_crm::types::PersonReference;
use sdk_platform::types::TokenForm;
use sdk_reference_server::Operation;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::fixtures::in_memory;
use crate::samples::{draft, event, import};
use crate::support::{Clients, assert_says};

/// Encodes, decodes and encodes again. Checks that the values and the JSON strings are equal.
fn round_trip<T: Serialize + DeserializeOwned + PartialEq + Debug>(request: &T) -> Value {
    let written = serde_json::to_string(request).unwrap();
    let read: T = serde_json::from_str(&written).unwrap();
    assert_eq!(&read, request);
    assert_eq!(serde_json::to_string(&read).unwrap(), written);
    serde_json::from_str(&written).unwrap()
}

#[test]
fn each_typed_body_round_trips() {
    let mut command = EventCommand::new()
        .operation(EventOperation::Unknown("reschedule".to_owned()))
        .collection_reference("team")
        .title("Kick-off \"Ä\" \u{1f980}")
        .description("")
        .starts_at("2026-02-02T09:00:00.5Z")
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
    // An explicit null is sent through `extra`, and is decoded into `extra`.
    let mut command = EventCommand::new();
    command.extra.insert("recurrence", RawJson::null());
    assert_eq!(round_trip(&command), json!({"recurrence": null}));

    let mut draft = draft("FCP-ABCDEFGHIJKL", 1).internal_note("");
    draft.tax_amount = draft.tax_amount.minor_units("9".repeat(30));
    round_trip(&draft);
    round_trip(&import("adapter", ImportMode::EvidenceOnly));
    let token = TokenForm::new().client_secret("secret").scope("a b");
    assert_eq!(round_trip(&token)["grant_type"], "client_credentials");
}

#[tokio::test]
async fn every_typed_body_takes_an_undocumented_field() {
    let (server, suite) = in_memory();
    let suite = suite.suite();
    let digits = "123456789012345678901234567890";
    let new = digits.parse::<RawJson>().unwrap();
    let event = event("Kick-off").member("fromTheFuture", new.clone());
    let mut draft = draft(&server.sample_counterparty(), 1).member("fromTheFuture", new.clone());
    draft.tax_amount = draft.tax_amount.member("fromTheFuture", new.clone());
    let import = import("adapter", ImportMode::OpeningBalances).member("fromTheFuture", new);
    let exchange = TokenForm::new()
        .client_id(server.client_id())
        .client_secret(server.client_secret())
        .member("fromTheFuture", digits);
    let accounting = suite.accounting();

    suite.calendar().events().command(&event).await.unwrap();
    accounting.invoice_drafts().create(&draft).await.unwrap();
    accounting.import_runs().create(&import).await.unwrap();
    suite.platform().oauth().token(&exchange).await.unwrap();

    let field = format!(r#""fromTheFuture":{digits}"#);
    for (operation, field, times) in [
        (Operation::SubmitEventCommand, &*field, 1),
        (Operation::CreateInvoiceDraft, &field, 2),
        (Operation::CreateImportRun, &field, 1),
        // The server records no unknown form value, because it may be a secret.
        (Operation::ExchangeToken, "&fromTheFuture=", 1),
    ] {
        let request = server.requests_for(operation).pop().unwrap();
        let body = String::from_utf8(request.body().to_vec()).unwrap();
        assert_eq!(body.matches(field).count(), times, "{body}");
    }
}

#[test]
fn each_field_can_be_present_or_absent_independently() {
    let record: Record = r#"{"name":"Ann","note":null}"#.parse().unwrap();
    let text = |name| record.get::<String>(name).unwrap();
    assert_eq!(
        ["name", "note", "other"].map(text),
        [Some("Ann".to_owned()), None, None]
    );
    let odd = serde_json::from_str::<PersonReference>("1").unwrap_err();
    assert_says(&odd, &["expected a string"]);
    let odd: Record = "[1]".parse().unwrap();
    let error = odd.get::<String>("name").unwrap_err();
    assert_says(&error, &["field `name`", "found an array of 3 bytes"]);

    let raw = RawJson::from(record);
    let mut members = Members::from_iter([("a", raw.clone()), ("b", RawJson::null())]);
    assert_eq!(
        (members.remove("c"), members.remove("a")),
        (None, Some(raw))
    );
    let left: Vec<_> = members.iter().collect();
    assert_eq!(left, [("b", &RawJson::null())]);
    assert!(!members.is_empty());
    members.remove("b");
    assert!(members.is_empty());
}
