//! Rows 55, 78 and 79: stored commands. Forms of all versions are read and sent unchanged, and modified forms are
//! rejected.

use std::time::{SystemTime, UNIX_EPOCH};

use sdk_core::{
    App, CallOptions, Error, ErrorKind, ExactReplay, IdempotencyKey, Method, PreparedCommand,
    RawJson, Receipt, Suite,
};
use sdk_outbox::StoredStep;
use sdk_reference_server::ReferenceServer;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::fixtures::{add_person, created};
use crate::peer::{Peer, always};
use crate::samples::{event, kick_off};
use crate::support::{
    Clients, assert_says, assert_unsent, builder_at, builder_for, calendar_at, key, next_step,
    stored,
};

/// Each file is the output of a release. Never change a file; add another file next to it.
pub(crate) const EVENT_V1: &str = include_str!("fixtures/event-v1.json");
const CRM_V1: &str = include_str!("fixtures/crm-v1.json");
const EVENT_V2: &str = include_str!("fixtures/event-v2.json");

const CALENDAR: &str = "https://calendar.example";
const CRM: &str = "https://crm.example";

/// Returns a server and a suite with the audiences of the files.
fn audiences_of_the_files() -> (ReferenceServer, Suite) {
    let server = ReferenceServer::builder()
        .audience(sdk_reference_server::App::Calendar, CALENDAR)
        .audience(sdk_reference_server::App::Crm, CRM)
        .in_memory();
    let suite = builder_for(&server)
        .transport(server.service())
        .audience(App::Calendar, CALENDAR)
        .audience(App::Crm, CRM);
    (server, suite.suite())
}

fn form(command: &PreparedCommand) -> Value {
    serde_json::to_value(command).unwrap()
}

/// Returns a stored form with another value and a matching digest. The digest protects against accidental changes only.
fn edited(command: &PreparedCommand, field: &str, value: Value) -> PreparedCommand {
    let mut form = form(command);
    form[field] = value;
    let mut bytes = 2_u32.to_be_bytes().to_vec();
    let mut add = |text: Option<&str>| {
        let length = text.map_or(u64::MAX, |text| text.len() as u64);
        bytes.extend(length.to_be_bytes());
        bytes.extend(text.unwrap_or_default().bytes());
    };
    for field in "application operation method audience path idempotencyKey".split(' ') {
        add(form[field].as_str());
    }
    for header in form["headers"].as_array().into_iter().flatten() {
        add(header[0].as_str());
        add(header[1].as_str());
    }
    add(None);
    add(form["body"].as_str());
    let prepared = form["preparedAt"].as_u64().unwrap_or(u64::MAX);
    bytes.extend(prepared.to_be_bytes());
    let flags = ["sent", "replayShown", "withoutToken"];
    bytes.extend(flags.map(|flag| u8::from(form[flag].as_bool().unwrap_or(false))));
    bytes.push(form["replayExact"].as_bool().map_or(2, u8::from));
    let digest = Sha256::digest(&bytes);
    let digest: Vec<_> = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    form["digest"] = digest.concat().into();
    serde_json::from_value(form).unwrap()
}

async fn send(suite: &Suite, command: &PreparedCommand) -> Result<Receipt<RawJson>, Error> {
    match command.application() {
        "crm" => suite.crm().send_prepared(command).await,
        _ => suite.calendar().send_prepared(command).await,
    }
}

#[tokio::test]
async fn a_command_of_any_version_is_read_verified_and_sent() {
    for (file, prepared_at) in [
        (EVENT_V1, None),
        (EVENT_V2, Some(1_795_300_000_000)),
        (CRM_V1, None),
    ] {
        let (server, suite) = audiences_of_the_files();
        let command: PreparedCommand = serde_json::from_str(file).unwrap();
        command.verify().unwrap();
        let read: Value = serde_json::from_str(file).unwrap();
        assert_eq!(form(&command), read);
        // A program can sign the form, because encoding it again changes no byte.
        let written = serde_json::to_string(&command).unwrap();
        assert_eq!(serde_json::to_string(&stored(&command)).unwrap(), written);
        let since = |at: SystemTime| at.duration_since(UNIX_EPOCH).unwrap().as_millis();
        assert_eq!(command.prepared_at().map(since), prepared_at);
        // A form of version 1 doesn't record whether it was sent.
        assert_eq!(command.was_sent(), prepared_at.is_none());
        let key = command.idempotency_key().map(IdempotencyKey::as_str);
        for (field, shown) in [
            ("application", Some(command.application())),
            ("operation", Some(command.operation())),
            ("method", Some(command.method())),
            ("audience", command.audience()),
            ("path", Some(command.path())),
            ("idempotencyKey", key),
            ("body", Some(command.body())),
            ("digest", Some(command.digest())),
        ] {
            assert_eq!(shown, read[field].as_str(), "{field}");
        }

        for replayed in [false, true] {
            let receipt = send(&suite, &command).await.unwrap();
            assert_eq!(receipt.is_replay(), Some(replayed));
        }

        assert_eq!(server.commits(command.operation()), 1);
        for seen in server.requests_for(command.operation()) {
            assert_eq!(seen.body(), command.body().as_bytes());
            assert_eq!(seen.idempotency_key(), key);
            let is_crm = command.application() == "crm";
            assert_eq!(seen.query.as_deref(), is_crm.then_some("trace=1"));
            assert_eq!(seen.header("x-tenant"), is_crm.then_some("north"));
        }
    }
}

#[test]
fn the_current_version_writes_the_content_of_the_files() {
    let (_server, suite) = audiences_of_the_files();
    let (calendar, crm) = (suite.calendar(), suite.crm());
    let call = calendar.events().command(&event("Fixture"));
    let call = call.idempotency_key(key("fixture-event-command-v1"));
    let event = call.prepare();
    let person = json!({"commandType": "person.create", "payload": {"displayName": "Zoë Fixture"}});
    let call = crm.commands().submit(person).header("x-tenant", "north");
    let person = call.query("trace", "1").prepare();

    for (today, file) in [(event, EVENT_V2), (person, CRM_V1)] {
        let mut today = form(&today.unwrap());
        let mut file: Value = serde_json::from_str(file).unwrap();
        for changing in ["version", "preparedAt", "replayShown", "digest"] {
            today.as_object_mut().unwrap().remove(changing).unwrap();
            file.as_object_mut().unwrap().remove(changing);
        }
        assert_eq!(today, file, "{today:#}");
    }
}

#[tokio::test]
async fn fault_55_a_form_that_was_modified_in_the_store_is_rejected() {
    let (server, suite) = audiences_of_the_files();
    let (calendar, crm) = (suite.calendar(), suite.crm());
    let event = kick_off(&calendar).header("x-tenant", "a").prepare();
    let event = form(&event.unwrap());
    let body = event["body"].as_str().unwrap();
    let mut edits = Vec::new();
    for (field, value) in [
        ("version", json!(1)),
        ("version", json!(3)),
        ("preparedAt", json!(0)),
        ("preparedAt", Value::Null),
        ("preparedAt", json!(u64::MAX)),
        ("application", json!("crm")),
        ("operation", json!("manageHold")),
        ("method", json!("PUT")),
        ("audience", json!("https://elsewhere.example")),
        ("audience", Value::Null),
        ("path", json!("/calendar/v1/hold-commands")),
        ("path", json!("/calendar/v1/../../crm")),
        ("idempotencyKey", json!("another-key-of-22-char")),
        ("idempotencyKey", Value::Null),
        ("headers", json!([["x-tenant", "b"]])),
        ("headers", json!([])),
        ("body", json!(body.replace("Kick-off", "Kick-out"))),
        ("digest", json!("0".repeat(64))),
    ] {
        edits.push((event.clone(), field, value));
    }
    let call = || add_person(&crm);
    let [allowed, forbidden] =
        [ExactReplay::Allowed, ExactReplay::Forbidden].map(|replay| call().exact_replay(replay));
    for call in [call(), allowed.without_token(), forbidden] {
        let form = form(&call.prepare().unwrap());
        let flags = ["sent", "replayShown", "withoutToken"];
        let flags = flags.map(|flag| (flag, json!(form[flag] != true)));
        let exact = [Value::Null, json!(true), json!(false)].map(|exact| ("replayExact", exact));
        let others = flags.into_iter().chain(exact);
        let others = others.filter(|(field, value)| form[*field] != *value);
        edits.extend(others.map(|(field, value)| (form.clone(), field, value)));
    }
    // The digest of version 1 doesn't cover the fields of version 2.
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let now = json!(u64::try_from(now.as_millis()).unwrap());
    let old: Value = serde_json::from_str(EVENT_V1).unwrap();
    edits.push((old.clone(), "preparedAt", now));
    for flag in ["sent", "replayShown", "withoutToken", "replayExact"] {
        edits.push((old.clone(), flag, json!(true)));
    }

    for (form, field, value) in edits {
        let about = format!("{field}: {value} in version {}", form["version"]);
        let mut changed = form;
        changed[field] = value;
        let changed: PreparedCommand = serde_json::from_value(changed).unwrap();
        assert!(changed.verify().is_err(), "{about}");
        let error = send(&suite, &changed).await.unwrap_err();
        assert_unsent(&error, ErrorKind::PreparedCommand, &[]);
    }
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn fault_55_a_stored_command_with_extreme_numbers_is_rejected_or_waits_for_a_person() {
    let peer = Peer::start([]);
    let calendar = calendar_at(&peer);
    let command = kick_off(&calendar).prepare().unwrap();
    for version in [0, 3, u32::MAX] {
        let command = edited(&command, "version", json!(version));
        let error = command.verify().unwrap_err();
        assert_says(&error, &[&format!("version {version}")]);
        calendar.send_prepared(&command).await.unwrap_err();
    }
    // The largest time has the same digest as a missing time.
    let unclear = edited(&command, "preparedAt", json!(u64::MAX));
    unclear.verify().unwrap_err();
    for at in [0, 1 << 62, u64::MAX] {
        let command = edited(&command, "preparedAt", json!(at));
        let step = next_step(&command, None, SystemTime::now());
        assert!(matches!(step, StoredStep::Park(_)), "{at}: {step:?}");
    }
    assert!(peer.requests().is_empty());
}

#[tokio::test]
async fn fault_78_a_stored_command_is_rejected_as_the_call_would_be() {
    let peer = Peer::start(always(created()));
    let suite = builder_at(&format!("{}/base", peer.url())).core_url(peer.url());
    let calendar = suite.calendar();
    let event = kick_off(&calendar).prepare().unwrap();
    let raw = calendar.raw_call((Method::Post, "/calendar/v1/notes"));
    let raw = raw.body(json!({})).prepare().unwrap();
    let paths = [
        "/calendar/v1/../v2/notes",
        "/calendar/%2e%2e/%2E%2E/notes",
        "/calendar/%252e%252e/notes",
        "/..;/admin",
        "/calendar\\..\\notes",
        "/calendar/%5cnotes",
        "//evil.suite.test/notes",
        "/../base-sibling/notes",
        "/..",
        "-sibling/notes",
        "@evil.suite.test/notes",
        "https://evil.suite.test/notes",
        "/notes#fragment",
        "/notes\r\nx: y",
        "/notes?_method=DELETE",
    ];
    let paths = paths.map(|path| (&raw, "path", json!(path)));
    let header = |name: &str, value: &str| json!([[name, value]]);
    let others = [
        (&raw, "method", json!("GET")),
        (&raw, "method", json!("TRACE")),
        (&raw, "method", json!("post")),
        (&raw, "headers", header("X-HTTP-Method-Override", "DELETE")),
        (&raw, "headers", header("x-method-override", "DELETE")),
        (&raw, "headers", header("x-http-method", "DELETE")),
        (&raw, "headers", header("authorization", "Bearer mine")),
        (&raw, "headers", header("x-a", "b\r\nc: d")),
        (&raw, "body", json!("<xml/>")),
        (&raw, "body", json!("{} trailing")),
        (&event, "body", json!("")),
        (&event, "method", json!("DELETE")),
        (&event, "path", json!("/calendar/v1/hold-commands")),
        (&event, "operation", json!("nothing")),
        (&event, "idempotencyKey", Value::Null),
        (&event, "audience", json!("crm")),
    ];
    for (command, field, value) in paths.into_iter().chain(others) {
        let about = format!("{field}: {value}");
        let odd = edited(command, field, value);
        odd.verify().unwrap();
        let call = calendar.send_prepared(&odd).allow_raw_path();
        let error = call.await.unwrap_err();
        let kinds = [ErrorKind::PreparedCommand, ErrorKind::InvalidInput];
        assert!(kinds.contains(&error.kind()), "{about}: {error}");
        assert_unsent(&error, error.kind(), &[]);
    }
    // A raw call can be any request of the application, so it is sent only if the caller allows raw commands.
    let error = calendar.send_prepared(&raw).await.unwrap_err();
    assert_unsent(&error, ErrorKind::PreparedCommand, &["`allow_raw_path`"]);
    let read = calendar.raw_call((Method::Get, "/calendar/v1/notes"));
    let error = read.prepare().unwrap_err();
    assert_unsent(&error, ErrorKind::PreparedCommand, &[]);
    assert!(peer.requests().is_empty());
    calendar.send_prepared(&raw).allow_raw_path().await.unwrap();
    assert_eq!(peer.requests()[0].target, "/base/calendar/v1/notes");
}

#[tokio::test]
async fn fault_79_tens_of_thousands_of_headers_are_an_error_not_a_panic() {
    let peer = Peer::start([]);
    let calendar = calendar_at(&peer);
    let names = (0..40_000).map(|number| format!("x-{number}"));
    let options = names.clone().fold(CallOptions::default(), |options, name| {
        options.with_header(&name, "1")
    });
    let call = kick_off(&calendar);
    let call = names
        .clone()
        .take(200)
        .fold(call, |call, name| call.header(&name, "1"));
    let headers: Vec<_> = names.map(|name| json!([name, "1"])).collect();
    let command = kick_off(&calendar).prepare().unwrap();
    let command = edited(&command, "headers", json!(headers));
    for error in [
        kick_off(&calendar.with_defaults(options))
            .await
            .unwrap_err(),
        call.await.unwrap_err(),
        calendar.send_prepared(&command).await.unwrap_err(),
    ] {
        assert_unsent(&error, ErrorKind::InvalidInput, &["at most 128"]);
    }
    assert!(peer.requests().is_empty());
}
