//! All operations, called with valid and invalid input that is generated from the specs.
//!
//! Whatever is sent: no 500, no status that is not documented, and each body is what the spec says. The inputs follow
//! from a seed; `PROPERTY_SEED=7 PROPERTY_ROUNDS=500 cargo test --test property` looks further.

mod driver;
mod invalid;
mod pattern;
mod pool;
mod request;
mod rights;
mod schema;
mod spec;
mod spoilt;
mod templates;
mod valid;

use std::collections::{BTreeMap, BTreeSet};

use driver::{Driver, Mode, Reply};
use fastrand::Rng;
use request::Request;
use sdk_reference_server::Operation;
use serde_json::Value;
use spec::Described;

/// How often each operation is called with valid input.
const ROUNDS: u64 = 40;

fn setting(name: &str, default: u64) -> u64 {
    let given = std::env::var(name).ok();
    given.map_or(default, |text| text.parse().expect("a number"))
}

#[tokio::test]
async fn valid_input_gets_a_documented_reply_that_conforms() {
    valid_input(Mode::Written).await;
}

#[tokio::test]
async fn valid_input_gets_a_sample_that_conforms() {
    valid_input(Mode::FromSchema).await;
}

async fn valid_input(mode: Mode) {
    let operations = spec::operations();
    let mut driver = Driver::start(mode).await;
    let mut random = Rng::with_seed(setting("PROPERTY_SEED", 1));
    let mut statuses: BTreeMap<&str, BTreeSet<u16>> = BTreeMap::new();
    for _ in 0..setting("PROPERTY_ROUNDS", ROUNDS) {
        for operation in operations {
            let request = valid::request(operation, &mut random, &driver.pool);
            let reply = driver.call(operation, &request).await;
            let seen = statuses.entry(&operation.id).or_default();
            seen.insert(reply.status);
            assert!(
                reply.status != 400 || valid::is_open(operation),
                "{}: {request:?}: {}",
                operation.id,
                reply.text
            );
            // A schema does not say that a command without a key is known by its body.
            let keyed = !request.headers.is_empty() || mode == Mode::Written;
            if operation.is_command() && keyed && reply.status < 300 {
                seen.insert(replayed(&mut driver, operation, &request, reply).await);
            } else if let Some(follow_up) = valid::next_page(&request, &reply.body) {
                let reply = driver.call(operation, &follow_up).await;
                assert_eq!(reply.status, 200, "{}: {follow_up:?}", operation.id);
            }
        }
    }
    for operation in operations {
        let seen = &statuses[operation.id.as_str()];
        let succeeded = operation.successes().any(|status| seen.contains(&status));
        // The Platform has its handlers in either mode, and no publication of a sample.
        let sampled = mode == Mode::FromSchema && operation.app == "platform";
        assert!(
            succeeded || sampled,
            "{} never succeeded: {seen:?}",
            operation.id
        );
        // Of an operation known by name, 200 and 201 are a guess of the spec; of several, a sample is of the first.
        let missing = operation.successes().find(|status| !seen.contains(status));
        assert!(
            operation.name_only || mode == Mode::FromSchema || missing.is_none(),
            "{}: {missing:?}",
            operation.id
        );
    }
    assert_eq!(statuses.len(), Operation::all().count());
}

/// Sends a command again that was committed: the result is the same, and nothing is committed. Gives the status.
async fn replayed(
    driver: &mut Driver,
    operation: &Described,
    request: &Request,
    first: Reply,
) -> u16 {
    let before = driver.peer.commits(operation.id.as_str());
    let again = driver.call(operation, request).await;
    let result = |mut body: Value| {
        body.as_object_mut().unwrap().remove("replayed");
        body
    };
    assert!(
        again.status < 300,
        "{}: {request:?}: {}",
        operation.id,
        again.text
    );
    assert_eq!(
        result(again.body),
        result(first.body),
        "{}: {request:?}",
        operation.id
    );
    assert_eq!(
        driver.peer.commits(operation.id.as_str()),
        before,
        "{}",
        operation.id
    );
    again.status
}

#[tokio::test]
async fn invalid_input_gets_the_documented_refusal() {
    invalid_input(Mode::Written).await;
}

#[tokio::test]
async fn invalid_input_is_refused_by_its_schema() {
    invalid_input(Mode::FromSchema).await;
}

async fn invalid_input(mode: Mode) {
    let operations = spec::operations();
    let mut driver = Driver::start(mode).await;
    let mut random = Rng::with_seed(setting("PROPERTY_SEED", 1));
    // References to begin with, so that each request is wrong in one thing only.
    for _ in 0..4 {
        for operation in operations {
            let request = valid::request(operation, &mut random, &driver.pool);
            driver.call(operation, &request).await;
        }
    }
    let mut refused = 0;
    for operation in operations {
        let before = driver.peer.commits(operation.id.as_str());
        for (what, request) in invalid::requests(operation, &mut random, &driver.pool) {
            let reply = driver.call(operation, &request).await;
            assert_eq!(
                reply.status, 400,
                "{}: {what}: {request:?}\n{}",
                operation.id, reply.text
            );
            refused += 1;
        }
        assert_eq!(
            driver.peer.commits(operation.id.as_str()),
            before,
            "{}",
            operation.id
        );
    }
    assert!(refused > 250, "only {refused}");
}

#[tokio::test]
async fn rights_that_are_missing_get_401_and_403_everywhere() {
    rights::check(Mode::Written).await;
    rights::check(Mode::FromSchema).await;
}
