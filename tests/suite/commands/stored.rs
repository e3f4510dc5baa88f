//! Commands that earlier versions and today's stored, which every later one reads and sends as they are.

use std::time::{SystemTime, UNIX_EPOCH};

use sdk_core::{PreparedCommand, Suite};
use sdk_reference_server::{App, Operation, ReferenceServer};
use serde_json::{Value, json};

use crate::samples::event;
use crate::support::{Clients, builder_for, key};

/// Each file is what a release wrote. Never change one: add another beside it.
pub(crate) const EVENT_V1: &str = include_str!("fixtures/event-v1.json");
const CRM_V1: &str = include_str!("fixtures/crm-v1.json");
const EVENT_V2: &str = include_str!("fixtures/event-v2.json");

const CALENDAR: &str = "https://calendar.example";
const CRM: &str = "https://crm.example";

/// A server, and a suite, whose audiences are those of the files.
async fn audiences_of_the_files() -> (ReferenceServer, Suite) {
    let server = ReferenceServer::builder()
        .audience(App::Calendar, CALENDAR)
        .audience(App::Crm, CRM)
        .start()
        .await;
    let suite = builder_for(&server).audience(sdk_core::App::Calendar, CALENDAR);
    let suite = suite.audience(sdk_core::App::Crm, CRM).suite();
    (server, suite)
}

#[tokio::test]
async fn an_event_command_of_any_version_is_read_verified_and_sent() {
    for (file, prepared_at) in [(EVENT_V1, None), (EVENT_V2, Some(1_795_300_000_000))] {
        let command: PreparedCommand = serde_json::from_str(file).unwrap();
        let since = |at: SystemTime| at.duration_since(UNIX_EPOCH).unwrap().as_millis();
        assert_eq!(command.prepared_at().map(since), prepared_at);
        is_read_verified_and_sent(&command).await;
        assert_eq!(
            serde_json::to_value(&command).unwrap(),
            serde_json::from_str::<Value>(file).unwrap()
        );
    }
}

async fn is_read_verified_and_sent(command: &PreparedCommand) {
    let (server, suite) = audiences_of_the_files().await;
    let calendar = suite.calendar();

    command.verify().unwrap();
    assert_eq!(command.application(), "calendar");
    assert_eq!(command.operation(), "submitEventCommand");
    assert_eq!(command.method(), "POST");
    assert_eq!(command.audience(), Some(CALENDAR));
    assert_eq!(command.path(), "/calendar/v1/event-commands");
    let fixture = key("fixture-event-command-v1");
    assert_eq!(command.idempotency_key(), Some(&fixture));
    assert_eq!(command.headers().count(), 0);

    let first = calendar.send_prepared(command).await.unwrap();
    let again = calendar.send_prepared(command).await.unwrap();

    let replays = [first.is_replay(), again.is_replay()];
    assert_eq!(replays, [Some(false), Some(true)]);
    for seen in server.requests_for(Operation::SubmitEventCommand) {
        assert_eq!(seen.body(), command.body().as_bytes());
        assert_eq!(seen.idempotency_key(), Some(fixture.as_str()));
    }
    assert_eq!(server.commits(Operation::SubmitEventCommand), 1);
}

#[tokio::test]
async fn a_crm_command_of_version_1_is_read_verified_and_sent() {
    let (server, suite) = audiences_of_the_files().await;
    let crm = suite.crm();
    let command: PreparedCommand = serde_json::from_str(CRM_V1).unwrap();

    command.verify().unwrap();
    let names = (command.application(), command.operation());
    assert_eq!(names, ("crm", "submitCommand"));
    assert_eq!(command.idempotency_key(), None);
    let headers: Vec<_> = command.headers().collect();
    assert_eq!(headers, [("x-tenant", "north")]);
    assert_eq!(command.path(), "/api/crm/v1/commands?trace=1");

    crm.send_prepared(&command).await.unwrap();

    let seen = server.requests_for(Operation::SubmitCommand).pop().unwrap();
    assert_eq!(seen.body(), command.body().as_bytes());
    assert_eq!(seen.header("x-tenant"), Some("north"));
    assert_eq!(seen.query.as_deref(), Some("trace=1"));
}

#[tokio::test]
async fn today_writes_what_the_files_hold() {
    let (_server, suite) = audiences_of_the_files().await;
    let (calendar, crm) = (suite.calendar(), suite.crm());
    let call = calendar.events().command(&event("Fixture"));
    let call = call.idempotency_key(key("fixture-event-command-v1"));
    let event = call.prepare();
    let person = json!({"commandType": "person.create", "payload": {"displayName": "Zoë Fixture"}});
    let call = crm.commands().submit(person).header("x-tenant", "north");
    let person = call.query("trace", "1").prepare();

    for (today, file) in [(event, EVENT_V2), (person, CRM_V1)] {
        let mut today = serde_json::to_value(today.unwrap()).unwrap();
        let mut file: Value = serde_json::from_str(file).unwrap();
        for changing in ["version", "preparedAt", "replayShown", "digest"] {
            today.as_object_mut().unwrap().remove(changing).unwrap();
            file.as_object_mut().unwrap().remove(changing);
        }
        assert_eq!(today, file, "{today:#}");
    }
}
