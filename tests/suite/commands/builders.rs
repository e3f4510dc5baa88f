//! Typed event commands and import runs: what the contract shows is filled in and checked, the rest stays open.

use jiff::civil::date;
use jiff::tz::TimeZone;
use sdk_accounting::types::ImportMode;
use sdk_calendar::types::EventCommand;
use sdk_core::{ErrorKind, RawJson};
use sdk_reference_server::Operation;
use serde_json::{Value, json};

use super::stage::Stage;
use crate::samples::import;
use crate::support::{assert_says, assert_unsent};

/// A zone with a name, made by hand: nothing is read from the machine that the test runs on.
fn berlin() -> TimeZone {
    let header =
        b"TZif2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\x04";
    let block = [&header[..], &3600_i32.to_be_bytes(), b"\0\0CET\0"].concat();
    let rule = b"\nCET-1CEST,M3.5.0,M10.5.0/3\n";
    TimeZone::tzif("Europe/Berlin", &[&block[..], &block, rule].concat()).unwrap()
}

#[tokio::test]
async fn an_event_goes_out_with_instants_and_the_name_of_its_zone() {
    let stage = Stage::start().await;
    // Winter time on one side of the night, summer time on the other.
    let start = date(2026, 3, 28).at(22, 0, 0, 0);
    let end = date(2026, 3, 29).at(8, 30, 0, 0);
    let [start, end] = [start, end].map(|at| at.to_zoned(berlin()).unwrap());
    let command = EventCommand::create()
        .collection_reference("team")
        .title("Night shift")
        .between(&start, &end)
        .attendee_actor_references([stage.server.sample_actor()])
        .recurrence(json!({"rule": "weekly", "interval": 1}));

    let events = stage.calendar.events();

    events.command(&command).await.unwrap();

    let body: Value = serde_json::from_str(&stage.sent(Operation::SubmitEventCommand)).unwrap();
    assert_eq!(body["operation"], "create");
    assert_eq!(body["startsAt"], "2026-03-28T21:00:00Z");
    assert_eq!(body["endsAt"], "2026-03-29T06:30:00Z");
    assert_eq!(body["timezone"], "Europe/Berlin");
    assert_eq!(body["recurrence"], json!({"rule": "weekly", "interval": 1}));

    events.command(&command.no_recurrence()).await.unwrap();
    let body = stage.sent(Operation::SubmitEventCommand);
    assert_says(&body, &[r#""recurrence":null"#]);
}

#[tokio::test]
async fn what_is_no_object_or_stands_in_the_wrong_place_is_refused() {
    let stage = Stage::start().await;
    let events = stage.calendar.events();
    let refused = |error, words: &[&str]| assert_unsent(&error, ErrorKind::InvalidInput, words);
    let odd = EventCommand::create().recurrence(RawJson::from(json!("weekly")));
    let error = events.command(&odd).await.unwrap_err();
    refused(error, &["`recurrence`", "an object or null"]);
    let twice = EventCommand::create().member("title", "Kick-off");
    let error = events.command(&twice).await.unwrap_err();
    refused(error, &["`title`", "its own field or method"]);
    let null = EventCommand::create().member("title", RawJson::null());
    events.command(&null).prepare().unwrap();

    let runs = stage.accounting.import_runs();
    let mut import = import("ledger", ImportMode::FullHistory);
    let version = import.clone().member("schemaVersion", "v9");
    import.source_application = json!(["legacy"]).into();
    let error = runs.create(&import).await.unwrap_err();
    refused(error, &["`sourceApplication`", "be an object", "legacy"]);
    let error = runs.create(&version).await.unwrap_err();
    refused(error, &["`schemaVersion`"]);
    assert!(stage.server.requests().is_empty());
}
