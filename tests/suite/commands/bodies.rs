//! Typed bodies of commands: documented fields are checked, other fields are allowed, and amounts are exact.

use jiff::civil::date;
use jiff::tz::TimeZone;
use sdk_accounting::types::{ImportMode, InvoiceDraftCreate};
use sdk_calendar::types::EventCommand;
use sdk_core::{ErrorKind, RawJson};
use sdk_reference_server::Operation;
use serde_json::{Value, json};

use super::Stage;
use crate::samples::{import, tax};
use crate::support::{assert_says, assert_unsent};

/// Returns a named zone that doesn't depend on the machine's time zone database.
fn berlin() -> TimeZone {
    let header =
        b"TZif2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\x04";
    let block = [&header[..], &3600_i32.to_be_bytes(), b"\0\0CET\0"].concat();
    let rule = b"\nCET-1CEST,M3.5.0,M10.5.0/3\n";
    TimeZone::tzif("Europe/Berlin", &[&block[..], &block, rule].concat()).unwrap()
}

#[tokio::test]
async fn an_event_is_sent_with_instants_and_the_name_of_its_zone() {
    let stage = Stage::start();
    // The clocks change to summer time during this night.
    let night = [
        date(2026, 3, 28).at(22, 0, 0, 0),
        date(2026, 3, 29).at(8, 30, 0, 0),
    ];
    let [start, end] = night.map(|at| at.to_zoned(berlin()).unwrap());
    let command = EventCommand::create()
        .collection_reference("team")
        .title("Night shift")
        .between(&start, &end)
        .recurrence(json!({"rule": "weekly", "interval": 1}));
    let mut expected = json!({
        "operation": "create",
        "collectionReference": "team",
        "title": "Night shift",
        "startsAt": "2026-03-28T21:00:00Z",
        "endsAt": "2026-03-29T06:30:00Z",
        "timezone": "Europe/Berlin",
        "recurrence": {"rule": "weekly", "interval": 1},
    });
    for command in [command.clone(), command.no_recurrence()] {
        stage.calendar.events().command(&command).await.unwrap();
        let sent: Value = serde_json::from_str(&stage.sent(Operation::SubmitEventCommand)).unwrap();
        assert_eq!(sent, expected);
        expected["recurrence"] = Value::Null;
    }
}

#[tokio::test]
async fn a_field_with_a_wrong_type_or_its_own_method_is_rejected() {
    let stage = Stage::start();
    let (events, runs) = (stage.calendar.events(), stage.accounting.import_runs());
    let odd = EventCommand::create().recurrence(RawJson::from(json!("weekly")));
    let twice = EventCommand::create().member("title", "Kick-off");
    let mut list = import("ledger", ImportMode::FullHistory);
    let version = list.clone().member("schemaVersion", "v9");
    list.source_application = json!(["legacy"]).into();
    let rejected = |error, words: &[&str]| assert_unsent(&error, ErrorKind::InvalidInput, words);
    let of_event = |command| events.command(command).prepare().unwrap_err();
    rejected(of_event(&odd), &["`recurrence`", "an object or null"]);
    rejected(of_event(&twice), &["`title`", "its own field or method"]);
    let of_run = |run| runs.create(run).prepare().unwrap_err();
    rejected(of_run(&list), &["`sourceApplication`", "be an object"]);
    rejected(of_run(&version), &["`schemaVersion`"]);
    let null = EventCommand::create().member("title", RawJson::null());
    events.command(&null).prepare().unwrap();
}

#[tokio::test]
async fn minor_units_are_sent_with_exactly_the_given_digits() {
    let stage = Stage::start();
    let counterparty = stage.server.sample_counterparty();
    let thirty = 123_456_789_012_345_678_901_234_567_890_i128;
    let [forty, point] = [
        "1234567890123456789012345678901234567890",
        "123456789012345678901234567890.10",
    ];
    let raw = |digits: &str| -> RawJson { digits.parse().unwrap() };
    for (amount, digits) in [
        (raw(forty), forty),
        (raw(point), point),
        ("1900".into(), "\"1900\""),
        (
            thirty.to_string().into(),
            "\"123456789012345678901234567890\"",
        ),
        ((-1900).into(), "-1900"),
        ((-thirty).into(), "-123456789012345678901234567890"),
        (u64::MAX.into(), "18446744073709551615"),
    ] {
        let mut tax = tax();
        tax.minor_units = Some(amount);
        let draft = InvoiceDraftCreate::new(counterparty.clone(), tax, [json!({}).into()]);
        let draft = draft.member("dueDate", RawJson::null());

        let drafts = stage.accounting.invoice_drafts();
        drafts.create(&draft).await.unwrap();

        let body = stage.sent(Operation::CreateInvoiceDraft);
        let sent = format!(r#""taxAmount":{{"currency":"EUR","minorUnits":{digits},"scale":2}}"#);
        assert_says(&body, &[&sent, r#""dueDate":null"#]);
        // Decoding and encoding the body changes nothing.
        let again: InvoiceDraftCreate = serde_json::from_str(&body).unwrap();
        let units = again.tax_amount.minor_units.as_ref().unwrap();
        assert_eq!(units.as_str(), digits);
        assert_eq!(serde_json::to_string(&again).unwrap(), body);
    }
}
