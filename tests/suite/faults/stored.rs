//! Rows 55, 64, 72, 78 and 79: commands that were stored, and come back otherwise or too late.

use std::time::{Duration, SystemTime};

use sdk_core::{
    CallOptions, Effect, ErrorKind, Method, ParkReason, PreparedCommand, Secret, StoredRule,
    StoredStep,
};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::fixtures::{add_person, committed, created};
use crate::peer::{Peer, always};
use crate::samples::kick_off;
use crate::support::{Clients, assert_failed, assert_says, builder_at, calendar_at, crm_at};

/// A stored form after somebody edited it, with a digest that fits: a digest is against accidents only.
fn edited(command: &PreparedCommand, changes: &[(&str, Value)]) -> PreparedCommand {
    let mut form = serde_json::to_value(command).unwrap();
    for (member, value) in changes {
        form[*member] = value.clone();
    }
    let mut hash = Sha256::new();
    hash.update(2_u32.to_be_bytes());
    let mut add = |text: Option<&str>| match text {
        None => hash.update(u64::MAX.to_be_bytes()),
        Some(text) => {
            hash.update((text.len() as u64).to_be_bytes());
            hash.update(text);
        }
    };
    for member in [
        "application",
        "operation",
        "method",
        "audience",
        "path",
        "idempotencyKey",
    ] {
        add(form[member].as_str());
    }
    for header in form["headers"].as_array().into_iter().flatten() {
        add(header[0].as_str());
        add(header[1].as_str());
    }
    add(None);
    add(form["body"].as_str());
    hash.update(
        form["preparedAt"]
            .as_u64()
            .unwrap_or(u64::MAX)
            .to_be_bytes(),
    );
    for flag in ["sent", "replayShown", "withoutToken"] {
        hash.update([u8::from(form[flag].as_bool().unwrap_or(false))]);
    }
    hash.update([form["replayExact"].as_bool().map_or(2, u8::from)]);
    let digest = hash.finalize();
    let digest: Vec<_> = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    form["digest"] = digest.concat().into();
    serde_json::from_value(form).unwrap()
}

#[tokio::test]
async fn fault_55_a_stored_command_with_absurd_numbers_is_refused_or_waits_for_a_person() {
    let peer = Peer::start(always(created()));
    let calendar = calendar_at(&peer);
    let command = kick_off(&calendar).prepare().unwrap();
    for version in [0, 3, u32::MAX] {
        let mut form = serde_json::to_value(&command).unwrap();
        form["version"] = json!(version);
        let command: PreparedCommand = serde_json::from_value(form).unwrap();
        assert!(
            command
                .verify()
                .unwrap_err()
                .to_string()
                .contains(&format!("version {version}"))
        );
        calendar.send_prepared(&command).await.unwrap_err();
    }
    let rule = StoredRule::default();
    for at in [0, 1 << 62, u64::MAX] {
        let command = edited(&command, &[("preparedAt", json!(at))]);
        let step = rule.next(&command, None, SystemTime::now());
        assert!(matches!(step, StoredStep::Park(_)), "{at}: {step:?}");
    }
    assert!(peer.requests().is_empty());
}

#[tokio::test]
async fn fault_64_a_stored_command_older_than_its_key_is_trusted_waits_for_a_person() {
    let peer = Peer::start(always(created()));
    let calendar = calendar_at(&peer);
    let command = kick_off(&calendar).prepare().unwrap();
    let prepared = command.prepared_at().unwrap();
    let rule = StoredRule::default();
    let hour = Duration::from_secs(3_600);

    assert_eq!(rule.next(&command, None, prepared), StoredStep::Send);
    assert_eq!(
        rule.next(&command, None, prepared + 24 * hour),
        StoredStep::Send
    );
    let StoredStep::Park(reason) = rule.next(&command, None, prepared + 26 * hour) else {
        panic!("it is too old");
    };
    let told = reason.to_string();
    assert_says(&told, &["26 h 0 min old", "check whether it happened"]);
    let patient = rule.with_max_age(48 * hour);
    assert_eq!(
        patient.next(&command, None, prepared + 26 * hour),
        StoredStep::Send
    );
    // Its age runs from when the store knows that it was first sent.
    let sent = Some(prepared + 25 * hour);
    assert_eq!(
        rule.next(&command, sent, prepared + 26 * hour),
        StoredStep::Send
    );
    // The clock of the other machine may be a little ahead, and not a day.
    assert_eq!(
        rule.next(&command, None, prepared - Duration::from_secs(60)),
        StoredStep::Send
    );
    let future = rule.next(&command, None, prepared - 24 * hour);
    assert!(matches!(
        future,
        StoredStep::Park(ParkReason::Future { .. })
    ));

    // A form of version 1 does not say when it was prepared, and stays readable.
    let old: PreparedCommand =
        serde_json::from_str(include_str!("../commands/fixtures/event-v1.json")).unwrap();
    old.verify().unwrap();
    assert_eq!(
        rule.next(&old, None, prepared),
        StoredStep::Park(ParkReason::UnknownAge)
    );
    assert_eq!(rule.next(&old, Some(prepared), prepared), StoredStep::Send);
    // By hand, it does what it is told.
    let ancient = edited(&command, &[("preparedAt", json!(1))]);
    calendar.send_prepared(&ancient).await.unwrap();
    assert_eq!(peer.requests().len(), 1);
}

#[tokio::test]
async fn fault_72_a_replay_sends_what_was_prepared_whatever_its_client_has_become() {
    let peer = Peer::start(always(committed()));
    let crm = crm_at(&peer);
    let with = |tenant: &str, trace: &str| {
        let defaults = CallOptions::default().with_header("x-tenant", tenant);
        crm.with_defaults(defaults.with_query("trace", trace))
    };
    let (before, after) = (with("north", "a"), with("south", "b"));
    let command = add_person(&before).header("x-part", "1").query("step", "2");
    let command = command.prepare().unwrap();
    before.send_prepared(&command).await.unwrap();

    after.send_prepared(&command).await.unwrap();
    crm.send_prepared(&command).await.unwrap();

    let seen = peer.requests();
    for again in &seen[1..] {
        assert_eq!(
            (&again.target, &again.headers, &again.body),
            (&seen[0].target, &seen[0].headers, &seen[0].body)
        );
    }
    assert_eq!(seen[0].header("x-tenant"), Some("north"));
    assert!(
        seen[0].target.ends_with("?trace=a&step=2"),
        "{}",
        seen[0].target
    );

    // What a failed call hands back is what it sent, too.
    let peer = Peer::start([crate::peer::close(), committed()]);
    let crm = crm_at(&peer);
    let defaults = CallOptions::default().with_header("x-tenant", "north");
    let error = add_person(&crm.with_defaults(defaults)).await.unwrap_err();
    crm.send_prepared(error.command().unwrap()).await.unwrap();
    let seen = peer.requests();
    assert_eq!(
        (&seen[0].headers, &seen[0].body),
        (&seen[1].headers, &seen[1].body)
    );
}

#[tokio::test]
async fn fault_78_a_stored_command_is_refused_as_the_call_would_be() {
    let peer = Peer::start(always(created()));
    let suite = builder_at(&format!("{}/base", peer.url())).core_url(peer.url());
    let suite = suite.build().unwrap();
    let calendar = suite.calendar();
    let event = kick_off(&calendar).prepare().unwrap();
    let raw = calendar
        .raw_call((Method::Post, "/calendar/v1/notes"))
        .body(json!({}));
    let raw = raw.prepare().unwrap();
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
    let changes = paths.iter().map(|path| (&raw, vec![("path", json!(path))]));
    let override_of = |name: &str| vec![("headers", json!([[name, "DELETE"]]))];
    let others = [
        (&raw, vec![("method", json!("GET"))]),
        (&raw, vec![("method", json!("TRACE"))]),
        (&raw, vec![("method", json!("post"))]),
        (&raw, override_of("X-HTTP-Method-Override")),
        (&raw, override_of("x-method-override")),
        (&raw, override_of("x-http-method")),
        (
            &raw,
            vec![("headers", json!([["authorization", "Bearer mine"]]))],
        ),
        (&raw, vec![("headers", json!([["x-a", "b\r\nc: d"]]))]),
        (&raw, vec![("body", json!("<xml/>"))]),
        (&raw, vec![("body", json!("{} trailing"))]),
        (&event, vec![("body", json!(""))]),
        (&event, vec![("method", json!("DELETE"))]),
        (&event, vec![("path", json!("/calendar/v1/hold-commands"))]),
        (&event, vec![("operation", json!("nothing"))]),
        (&event, vec![("idempotencyKey", Value::Null)]),
        (&event, vec![("audience", json!("crm"))]),
    ];
    for (command, changes) in changes.chain(others) {
        let odd = edited(command, &changes);
        odd.verify().unwrap();
        let error = calendar
            .send_prepared(&odd)
            .allow_raw_path()
            .await
            .unwrap_err();
        assert!(
            matches!(
                error.kind(),
                ErrorKind::PreparedCommand | ErrorKind::InvalidInput
            ),
            "{changes:?}: {error}"
        );
        assert_eq!(
            (error.effect(), error.attempts()),
            (Effect::NotSent, 0),
            "{changes:?}"
        );
    }
    // A raw call is any request of the application: it goes out only where that is expected.
    let error = calendar.send_prepared(&raw).await.unwrap_err();
    assert_says(&error, &["`allow_raw_path`"]);
    assert!(peer.requests().is_empty());
    calendar.send_prepared(&raw).allow_raw_path().await.unwrap();
    assert_eq!(peer.requests()[0].target, "/base/calendar/v1/notes");
}

#[tokio::test]
async fn fault_78_a_sealed_command_is_safe_from_who_can_write_to_the_table() {
    let peer = Peer::start(always(created()));
    let calendar = calendar_at(&peer);
    let [secret, another] = ["from the vault: 1", "from the vault: 2"].map(Secret::from);
    let command = kick_off(&calendar).prepare().unwrap();
    let sealed = command.clone().seal(&secret).unwrap();
    let sealed: PreparedCommand =
        serde_json::from_str(&serde_json::to_string(&sealed).unwrap()).unwrap();

    let body = command.body().replace("Kick-off", "Kick-out");
    let forged = edited(&sealed, &[("body", json!(body))]);
    forged.verify().unwrap();
    let resealed = forged.clone().seal(&another).unwrap();
    for (command, words) in [
        (&command, "not sealed"),
        (&forged, "does not match"),
        (&resealed, "does not match"),
    ] {
        let error = calendar
            .send_prepared(command)
            .sealed_by(&secret)
            .await
            .unwrap_err();
        assert_failed(&error, ErrorKind::PreparedCommand, Effect::NotSent);
        assert_says(&error, &[words]);
    }
    // A variable that was not set is no secret.
    let empty = Secret::from("");
    for error in [
        command.clone().seal(&empty).unwrap_err(),
        calendar
            .send_prepared(&sealed)
            .sealed_by(&empty)
            .await
            .unwrap_err(),
    ] {
        assert_says(&error, &["at least 16 bytes"]);
    }
    assert!(peer.requests().is_empty());
    calendar
        .send_prepared(&sealed)
        .sealed_by(&secret)
        .await
        .unwrap();
    assert_eq!(peer.requests()[0].text(), command.body());
}

#[tokio::test]
async fn fault_79_tens_of_thousands_of_headers_are_an_error_and_no_panic() {
    let peer = Peer::start(always(created()));
    let calendar = calendar_at(&peer);
    let mut options = CallOptions::default();
    let mut call = kick_off(&calendar);
    for number in 0..40_000 {
        options = options.with_header(&format!("x-{number}"), "1");
        if number < 200 {
            call = call.header(&format!("x-{number}"), "1");
        }
    }
    let many = calendar.with_defaults(options);
    let error = kick_off(&many).await.unwrap_err();
    assert_failed(&error, ErrorKind::InvalidInput, Effect::NotSent);
    assert!(call.await.unwrap_err().to_string().contains("at most 128"));

    let command = kick_off(&calendar).prepare().unwrap();
    let headers: Vec<_> = (0..40_000)
        .map(|number| json!([format!("x-{number}"), "1"]))
        .collect();
    let stored = edited(&command, &[("headers", json!(headers))]);
    let error = calendar.send_prepared(&stored).await.unwrap_err();
    assert_eq!(error.effect(), Effect::NotSent);
    assert!(peer.requests().is_empty());
}
