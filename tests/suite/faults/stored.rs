//! Rows 55, 64, 72, 78 and 79: commands that were stored, and come back otherwise or too late.

use std::time::{Duration, SystemTime};

use hmac_sha256::HMAC;
use sdk_core::{CallOptions, Effect, ErrorKind, Method, PreparedCommand};
use sdk_outbox::{ParkReason, StoredRule, StoredState, StoredStep};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::commands::stored::EVENT_V1;
use crate::fixtures::{add_person, committed, created};
use crate::peer::{Peer, always};
use crate::samples::kick_off;
use crate::support::{
    Clients, assert_failed, assert_says, builder_at, calendar_at, crm_at, next_step, stored,
};

/// A stored form after somebody edited it, with a digest that fits: a digest is against accidents only.
fn edited(command: &PreparedCommand, member: &str, value: Value) -> PreparedCommand {
    let mut form = serde_json::to_value(command).unwrap();
    form[member] = value;
    let mut hash = Sha256::new();
    hash.update(2_u32.to_be_bytes());
    let mut add = |text: Option<&str>| match text {
        None => hash.update(u64::MAX.to_be_bytes()),
        Some(text) => {
            hash.update((text.len() as u64).to_be_bytes());
            hash.update(text);
        }
    };
    for member in "application operation method audience path idempotencyKey".split(' ') {
        add(form[member].as_str());
    }
    for header in form["headers"].as_array().into_iter().flatten() {
        add(header[0].as_str());
        add(header[1].as_str());
    }
    add(None);
    add(form["body"].as_str());
    let prepared = form["preparedAt"].as_u64().unwrap_or(u64::MAX);
    hash.update(prepared.to_be_bytes());
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
        let command = edited(&command, "version", json!(version));
        let error = command.verify().unwrap_err();
        assert_says(&error, &[&format!("version {version}")]);
        calendar.send_prepared(&command).await.unwrap_err();
    }
    // The digest of the largest time is that of none.
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
async fn fault_64_a_stored_command_older_than_its_key_is_trusted_waits_for_a_person() {
    let peer = Peer::start(always(created()));
    let calendar = calendar_at(&peer);
    let command = kick_off(&calendar).prepare().unwrap();
    let prepared = command.prepared_at().unwrap();
    let hour = Duration::from_secs(3_600);

    let next = |sent: Option<_>, at| next_step(&command, sent, at);
    assert_eq!(next(None, prepared), StoredStep::Send);
    assert_eq!(next(None, prepared + 24 * hour), StoredStep::Send);
    let later = prepared + 26 * hour;
    let StoredStep::Park(reason) = next(None, later) else {
        panic!("it is too old");
    };
    assert_says(&reason, &["26 h 0 min old", "check whether it happened"]);
    let patient = StoredRule::default().with_max_age(48 * hour);
    assert_eq!(
        patient.next(&StoredState::of(&command), later),
        StoredStep::Send
    );
    // Its age runs from when the store knows that it was first sent.
    assert_eq!(next(Some(prepared + 25 * hour), later), StoredStep::Send);
    // The clock of the other machine may be a little ahead, and not a day.
    let ahead = |seconds| next(None, prepared - Duration::from_secs(seconds));
    assert_eq!(ahead(300), StoredStep::Send);
    assert!(matches!(
        ahead(301),
        StoredStep::Park(ParkReason::Future { .. })
    ));

    // A form of version 1 does not say when it was prepared, and stays readable.
    let old: PreparedCommand = serde_json::from_str(EVENT_V1).unwrap();
    old.verify().unwrap();
    let unknown = StoredStep::Park(ParkReason::UnknownAge);
    assert_eq!(next_step(&old, None, prepared), unknown);
    assert_eq!(next_step(&old, Some(prepared), prepared), StoredStep::Send);
    // By hand, it does what it is told.
    let ancient = edited(&command, "preparedAt", json!(1));
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
    assert!(seen[0].target.ends_with("?trace=a&step=2"));

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
    for (command, member, value) in paths.into_iter().chain(others) {
        let about = format!("{member}: {value}");
        let odd = edited(command, member, value);
        odd.verify().unwrap();
        let call = calendar.send_prepared(&odd).allow_raw_path();
        let error = call.await.unwrap_err();
        let kinds = [ErrorKind::PreparedCommand, ErrorKind::InvalidInput];
        assert!(kinds.contains(&error.kind()), "{about}: {error}");
        let told = (error.effect(), error.attempts());
        assert_eq!(told, (Effect::NotSent, 0), "{about}");
    }
    // A raw call is any request of the application: it goes out only where that is expected.
    let error = calendar.send_prepared(&raw).await.unwrap_err();
    assert_says(&error, &["`allow_raw_path`"]);
    assert!(peer.requests().is_empty());
    calendar.send_prepared(&raw).allow_raw_path().await.unwrap();
    assert_eq!(peer.requests()[0].target, "/base/calendar/v1/notes");
}

#[tokio::test]
async fn fault_78_a_digest_is_against_accidents_and_a_signature_of_the_form_against_writers() {
    let command = kick_off(&calendar_at(&Peer::start([]))).prepare().unwrap();
    let secret = "from the vault: 1";
    let form = serde_json::to_string(&command).unwrap();
    let signature = HMAC::mac(&form, secret);

    let body = command.body().replace("Kick-off", "Kick-out");
    let forged = edited(&command, "body", json!(body));

    // Anybody who can write to the table can compute the digest, but not the signature.
    forged.verify().unwrap();
    let forged = serde_json::to_string(&forged).unwrap();
    assert!(!HMAC::verify(&forged, secret, &signature));
    // The form that is read and written again is the one that was signed.
    let again = serde_json::to_string(&stored(&command)).unwrap();
    assert!(HMAC::verify(&again, secret, &signature));
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
    let header = |number| json!([format!("x-{number}"), "1"]);
    let headers: Vec<_> = (0..40_000).map(header).collect();
    let stored = edited(&command, "headers", json!(headers));
    let error = calendar.send_prepared(&stored).await.unwrap_err();
    assert_eq!(error.effect(), Effect::NotSent);
    assert!(peer.requests().is_empty());
}
