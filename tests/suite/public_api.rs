//! The public API: exported names, argument types and URLs.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Bound;
use std::path::Path;

use sdk_core::{App, ErrorKind, Method, Page, RawJson, Record, testing};
use sdk_crm::operations::{LIST_PEOPLE, SUBMIT_COMMAND};
use serde_json::json;

use crate::fixtures::{PERSON, add_person, get_person, in_memory};
use crate::peer::{self, Peer, always};
use crate::samples::event;
use crate::support::{Clients, assert_says, assert_unsent, builder_at, stored};

fn read(file: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap()
}

/// Returns the words that follow `mark` at the start of a line.
fn words_after(mark: &str, file: &str) -> Vec<String> {
    let text = read(file);
    let lines = text.lines().map(str::trim);
    let end = |line: &str| line.find(|c: char| c != '_' && !c.is_ascii_alphanumeric());
    let word = |line: &str| Some(line[..end(line)?].to_owned());
    let lines = lines.filter_map(|line| line.strip_prefix(mark));
    lines.filter_map(word).collect()
}

#[test]
fn public_names_are_exported_without_globs() {
    for package in ["core", "crm", "calendar", "accounting", "platform"] {
        let text = read(&format!("sdk-{package}/src/lib.rs"));
        assert!(
            text.contains("pub use ") && !text.contains("::*"),
            "{package}"
        );
    }
}

/// Returns the names at the root of a crate, according to the recorded public API.
fn public_names(package: &str) -> BTreeSet<String> {
    let text = read(&format!("api/{package}.txt"));
    let root = format!("{}::", package.replace('-', "_"));
    let items = text.lines().filter(|line| !line.starts_with("impl"));
    let paths = items.filter_map(|line| {
        let (_, path) = line.split_once(&root)?;
        let is_path = |letter: char| letter == '_' || letter == ':' || letter.is_alphanumeric();
        let end = path.find(|letter| !is_path(letter)).unwrap_or(path.len());
        Some(path[..end].trim_end_matches(':'))
    });
    let names = paths.filter(|path| !path.contains("::"));
    names.map(str::to_owned).collect()
}

#[test]
fn every_client_reexports_the_names_of_sdk_core() {
    let core = public_names("sdk-core");
    for name in ["Suite", "TokenSource", "one_line", "testing", "transport"] {
        assert!(core.contains(name), "{name}");
    }
    for client in ["crm", "calendar", "accounting", "platform"] {
        let own = public_names(&format!("sdk-{client}"));
        let missing: Vec<_> = core.difference(&own).collect();
        assert!(missing.is_empty(), "{client}: {missing:?}");
    }
}

#[test]
fn methods_of_response_never_collide_with_fields_of_generated_types() {
    let response = "sdk-core/src/reply/response.rs";
    let mut methods = words_after("pub fn ", response);
    let words = words_after("pub ", response).into_iter();
    methods.extend(words.filter(|word| !["fn", "struct"].contains(&word.as_str())));
    for method in ["http_status", "into_inner"] {
        assert!(methods.contains(&method.to_owned()), "{method}");
    }
    for client in ["crm", "calendar", "accounting", "platform"] {
        let fields = words_after("pub ", &format!("sdk-{client}/src/generated/types.rs"));
        assert!(fields.contains(&"extra".to_owned()));
        let both: Vec<_> = fields
            .iter()
            .filter(|name| methods.contains(name))
            .collect();
        assert!(both.is_empty(), "{client}: {both:?}");
    }
}

#[tokio::test]
async fn a_base_url_with_a_path_may_end_in_a_slash() {
    let empty = json!({"items": [], "nextCursor": null});
    let peer = Peer::start(always(peer::json(200, &empty)));
    for base in ["/prefix", "/prefix/"] {
        let url = format!("{}{base}", peer.url());
        let crm = builder_at(&peer.url()).application_url(App::Crm, url).crm();
        let before = peer.requests().len();
        assert_eq!(crm.origin(), format!("{}/prefix", peer.url()));

        crm.people().list().await.unwrap();
        get_person(&crm).await.unwrap();
        let command = add_person(&crm).prepare().unwrap();
        add_person(&crm).await.unwrap();
        crm.send_prepared(&stored(&command)).await.unwrap();

        assert_eq!(command.path(), "/api/crm/v1/commands");
        let commands = "/prefix/api/crm/v1/commands";
        let people = "/prefix/api/crm/v1/people";
        let person = format!("{people}/{PERSON}");
        let seen = peer.requests().into_iter().skip(before);
        let seen: Vec<_> = seen.map(|seen| seen.target).collect();
        assert_eq!(seen, [people, &person, commands, commands], "{base}");
    }
}

#[tokio::test]
async fn references_and_keys_can_be_passed_as_strings_or_values() {
    let (server, suite) = in_memory();
    let suite = suite.suite();
    let (calendar, crm) = (suite.calendar(), suite.crm());
    let reference: String = server.sample_person();
    let person = crm.people().get(&reference).await.unwrap();
    assert_eq!(person.text("publicReference"), Some(reference));

    let (kick_off, key) = (event("Kick-off"), "order-4711.delivery".to_owned());
    let command = || calendar.events().command(&kick_off);
    for call in [
        command().idempotency_key(&key),
        command().idempotency_key(&*key),
        command().idempotency_key(key.clone()),
        command().idempotency_key(Cow::from(&key)),
    ] {
        let receipt = call.await.unwrap();
        assert_eq!(receipt.idempotency_key().unwrap().as_str(), key);
    }
}

#[tokio::test]
async fn an_invalid_key_fails_the_call_locally() {
    let (server, suite) = in_memory();
    let suite = suite.suite();
    let (calendar, crm) = (suite.calendar(), suite.crm());
    let kick_off = event("Kick-off");
    let raw = crm
        .raw_call((Method::Post, "/api/crm/v1/notes"))
        .body(json!({}));
    let unkeyed = crm.commands().submit(json!({}));
    let command = || calendar.events().command(&kick_off);
    let keyed = || command().idempotency_key("short: canary");
    // A valid key set later does not hide the mistake.
    let good = keyed().idempotency_key("order-4711.delivery");
    for error in [
        keyed().await.unwrap_err(),
        keyed().prepare().unwrap_err(),
        good.await.unwrap_err(),
        raw.idempotency_key("short: canary").await.unwrap_err(),
        unkeyed.idempotency_key("short: canary").await.unwrap_err(),
    ] {
        let phrase = "`Idempotency-Key` must have 16 to 160 characters: got 13";
        assert_unsent(&error, ErrorKind::InvalidInput, &[phrase]);
        assert!(!error.to_string().contains("canary"), "{error}");
    }
    assert!(server.requests().is_empty());
}

#[test]
fn a_receipt_survives_a_failed_decode_and_a_last_page_has_no_extra_fields() {
    let reply = testing::response(&SUBMIT_COMMAND, 201).json(&json!({"publicReference": PERSON}));
    let receipt = reply.receipt::<RawJson>().unwrap();
    for error in [
        receipt.decode::<BTreeMap<String, u64>>().unwrap_err(),
        // An enum's error would quote the unknown variant.
        receipt.decode::<BTreeMap<String, Bound<u8>>>().unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::Value);
        assert_says(&error, &["at `publicReference`", "a string of 18 bytes"]);
        assert!(!error.to_string().contains(PERSON), "{error}");
    }
    let got = (receipt.is_committed(), receipt.http_status());
    assert_eq!(got, (Some(true), 201));

    let page = json!({"items": [], "nextCursor": null});
    let reply = testing::response(&LIST_PEOPLE, 200).json(&page);
    let last = reply.build::<Page<Record>>().unwrap();
    assert!(last.extra.is_empty() && last.next_cursor().is_none());
    assert_eq!(serde_json::to_value(&*last).unwrap(), page);
}
