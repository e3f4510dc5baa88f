//! The digest that a person approves. A second implementation, from its documentation, computes the same digest.

use sdk_core::{ExactReplay, Operation, PreparedCommand};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::Stage;

const ORIGIN: &str = "https://calendar.example";
const CLIENT: &str = "billing-service";

/// Computes the digest from the stored form.
fn second(form: &Value, origin: &str, client: &str) -> String {
    let mut parts = vec![Some(origin), Some(client)];
    let fields = "application operation method audience path idempotencyKey";
    parts.extend(fields.split(' ').map(|it| form[it].as_str()));
    for header in form["headers"].as_array().into_iter().flatten() {
        parts.extend([header[0].as_str(), header[1].as_str()]);
    }
    parts.extend([None, form["body"].as_str()]);
    let mut input = b"suite-approval/v1\n".to_vec();
    for part in parts {
        input.extend(part.map_or([0xff; 8], |it| (it.len() as u64).to_be_bytes()));
        input.extend(part.unwrap_or_default().bytes());
    }
    let flag = |name: &str| form[name].as_bool();
    input.extend(["replayShown", "withoutToken"].map(|it| u8::from(flag(it) == Some(true))));
    input.push(flag("replayExact").map_or(2, u8::from));
    let digest = Sha256::digest(&input);
    let digest: Vec<_> = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    digest.concat()
}

/// Prepares each command operation of the contract, without and with options.
fn prepared(stage: &Stage) -> Vec<PreparedCommand> {
    let commands = |all: &'static [&'static Operation]| {
        let commands = all.iter().copied().filter(|it| it.safety.is_command());
        commands.filter(|it| !it.secret_response)
    };
    let crm = commands(sdk_crm::Client::operations()).map(|it| stage.crm.raw_call(it));
    let calendar = commands(sdk_calendar::Client::operations());
    let calendar = calendar.map(|it| stage.calendar.raw_call(it));
    let accounting = commands(sdk_accounting::Client::operations());
    let accounting = accounting.map(|it| stage.accounting.raw_call(it));
    let calls = crm.chain(calendar).chain(accounting);
    let call = calls.map(|it| it.body(json!({"title": "Über \u{202e}", "n": 1})));
    let all = call.flat_map(|call| {
        let keyed = call.clone().idempotency_key("order-4711.attempt-1");
        let more = keyed.header("x-team", "blue").query("view", "a b");
        [
            call,
            more.exact_replay(ExactReplay::Forbidden).without_token(),
        ]
    });
    all.map(|it| it.prepare().unwrap()).collect()
}

#[tokio::test]
async fn a_second_implementation_computes_the_same_approval_digest() {
    let stage = Stage::start();
    let all = prepared(&stage);
    assert_eq!(all.len(), 2 * 10, "each command of the contract, twice");
    for command in &all {
        let form = serde_json::to_value(command).unwrap();
        let digest = command.approval_digest(ORIGIN, CLIENT);
        assert_eq!(digest, second(&form, ORIGIN, CLIENT), "{form}");
        assert_ne!(digest, command.digest());
    }
}

#[tokio::test]
async fn preparing_a_keyed_command_again_gives_the_same_approval_digest() {
    let stage = Stage::start();
    let digests = |all: Vec<PreparedCommand>| -> Vec<String> {
        let keyed = all.iter().filter(|it| it.headers().count() > 0);
        keyed.map(|it| it.approval_digest(ORIGIN, CLIENT)).collect()
    };
    let first = prepared(&stage);
    // The stored form contains the time in milliseconds.
    let later = loop {
        let later = prepared(&stage);
        if later[0].prepared_at() > first[0].prepared_at() {
            break later;
        }
    };
    assert_eq!(digests(first), digests(later));
}

#[tokio::test]
async fn each_change_of_the_request_its_origin_or_its_sender_changes_the_approval_digest() {
    let stage = Stage::start();
    let command = prepared(&stage).pop().unwrap();
    let form = serde_json::to_value(&command).unwrap();
    let digest = command.approval_digest(ORIGIN, CLIENT);
    assert_ne!(digest, command.approval_digest(CLIENT, ORIGIN));
    assert_ne!(digest, command.approval_digest(ORIGIN, "billing-servicf"));
    assert_ne!(
        digest,
        command.approval_digest("http://calendar.example", CLIENT)
    );
    // These fields change neither the request nor the number of attempts.
    let excluded = ["version", "preparedAt", "sent", "digest"];
    for (field, value) in form.as_object().unwrap() {
        let mut edited = form.clone();
        edited[field] = match value {
            Value::Bool(it) => (!it).into(),
            Value::Number(it) => (it.as_u64().unwrap() - 1).into(),
            Value::Array(_) => json!([["x-team", "red"]]),
            text => format!("{}x", text.as_str().unwrap()).into(),
        };
        let edited: PreparedCommand = serde_json::from_value(edited).unwrap();
        let is_same = edited.approval_digest(ORIGIN, CLIENT) == digest;
        assert_eq!(is_same, excluded.contains(&field.as_str()), "{field}");
    }
    let mut sent = form.clone();
    sent["sent"] = true.into();
    let sent: PreparedCommand = serde_json::from_value(sent).unwrap();
    assert_eq!(sent.approval_digest(ORIGIN, CLIENT), digest);
}
