//! Stored commands. A parsed command is written back equal, a modified command is rejected, and an accepted command is
//! sent unchanged.

use http::HeaderValue;
use sdk_core::{ErrorKind, PreparedCommand};
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use url::Url;

use super::choice;
use super::stage::{is_tidy, on, reply};

/// The fields that version 1 of the stored form does not have.
const LATER: [&str; 5] = [
    "preparedAt",
    "sent",
    "replayShown",
    "withoutToken",
    "replayExact",
];

/// The targets of the commands in the corpus: application, operation, method, audience and path.
const USUAL: [&str; 2] = [
    "calendar submitEventCommand POST https://calendar.suite.test /calendar/v1/event-commands",
    "crm submitCommand POST https://crm.suite.test /api/crm/v1/commands",
];

/// An even first byte keeps the digest. An odd first byte recomputes it, like someone with write access to the table.
pub(super) fn run(data: &[u8]) {
    let (pick, text) = choice(data);
    let Ok(mut command) = serde_json::from_slice::<PreparedCommand>(text) else {
        return;
    };
    if pick % 2 == 1 {
        let mut stored = serde_json::to_value(&command).expect("it is JSON");
        stored["digest"] = digest(&stored).into();
        command = serde_json::from_value(stored).expect("only the digest changed");
    }
    let stored = serde_json::to_value(&command).expect("it is JSON");
    let written = stored.to_string();
    assert_eq!(
        serde_json::from_str::<PreparedCommand>(&written).expect("as written"),
        command
    );
    let has = |name: &&str| !stored[*name].is_null();
    let known = match stored["version"].as_u64() {
        Some(1) => !LATER.iter().any(has),
        // A missing time has the same digest as the largest time.
        Some(2) => stored["preparedAt"] != u64::MAX,
        _ => false,
    };
    let unchanged = known && stored["digest"] == digest(&stored);
    assert_eq!(command.verify().is_ok(), unchanged, "{written}");
    let body = r#"{"schemaVersion": "suite-calendar-command-result.v1"}"#;
    on(vec![reply(200, body)], async |stage| {
        let call = match command.application() {
            "calendar" => stage.calendar.send_prepared(&command),
            _ => stage.crm.send_prepared(&command),
        };
        let result = call.await;
        let script = stage.script();
        if let Err(error) = &result {
            is_tidy(error);
            assert!(!script.seen.is_empty() || error.kind() != ErrorKind::Decode);
        }
        assert!(
            script.seen.len() <= usize::from(command.verify().is_ok()),
            "{written}"
        );
        let Some(sent) = script.seen.first() else {
            assert!(!unchanged || !is_usual(&stored), "{written}");
            return;
        };
        let origin = format!("https://{}.suite.test", command.application());
        let target = Url::parse(&format!("{origin}{}", command.path())).expect("it was sent");
        assert_eq!(sent.uri().to_string(), target.as_str());
        assert_eq!(target.origin().ascii_serialization(), origin);
        assert_eq!(
            (sent.method().as_str(), &sent.body()[..]),
            (command.method(), command.body().as_bytes())
        );
        let key = command.idempotency_key().map(|key| key.as_str().as_bytes());
        let sent_key = sent.headers().get("idempotency-key");
        assert_eq!(sent_key.map(HeaderValue::as_bytes), key);
        for (name, value) in command.headers() {
            let mut all = sent.headers().get_all(name).iter();
            let is_sent = all.any(|it| it.as_bytes() == value.as_bytes());
            assert!(is_sent, "{name}");
        }
    });
}

/// Returns whether everything except the digest is valid.
fn is_usual(stored: &Value) -> bool {
    let names = ["application", "operation", "method", "audience", "path"];
    let target = names.map(|name| stored[name].as_str().unwrap_or_default());
    let body = stored["body"].as_str().unwrap_or_default();
    USUAL.contains(&target.join(" ").as_str())
        && stored["idempotencyKey"].is_string() == (target[0] == "calendar")
        && stored["headers"] == json!([["x-trace", "a b"]])
        && serde_json::from_str::<IgnoredAny>(body).is_ok()
}

/// Computes the digest from the JSON, as the stored form's documentation describes.
pub(crate) fn digest(stored: &Value) -> String {
    let version = stored["version"].as_u64().unwrap_or_default();
    let mut hash = Sha256::new();
    hash.update(u32::try_from(version).unwrap_or_default().to_be_bytes());
    let mut add = |part: &Value| match part.as_str() {
        None => hash.update(u64::MAX.to_be_bytes()),
        Some(text) => {
            hash.update((text.len() as u64).to_be_bytes());
            hash.update(text);
        }
    };
    for name in "application operation method audience path idempotencyKey".split(' ') {
        add(&stored[name]);
    }
    for pair in stored["headers"].as_array().into_iter().flatten() {
        add(&pair[0]);
        add(&pair[1]);
    }
    add(&Value::Null);
    add(&stored["body"]);
    if version > 1 {
        let prepared_at = stored["preparedAt"].as_u64().unwrap_or(u64::MAX);
        hash.update(prepared_at.to_be_bytes());
        let flags = ["sent", "replayShown", "withoutToken"];
        hash.update(flags.map(|name| u8::from(stored[name] == true)));
        hash.update([stored["replayExact"].as_bool().map_or(2, u8::from)]);
    }
    let digest = hash.finalize();
    let hex = |text: String, byte: &u8| text + &format!("{byte:02x}");
    digest.iter().fold(String::new(), hex)
}
