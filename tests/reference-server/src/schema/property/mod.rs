//! Calls all operations with valid and invalid input that is generated from the specs.
//!
//! No input may cause a 500 or an undocumented status, and each body must conform to the spec. The inputs depend on a
//! seed. To test more of them, run `PROPERTY_SEED=7 PROPERTY_ROUNDS=500 cargo core property`.

mod driver;
mod invalid;
mod templates;
mod valid;

use std::collections::{BTreeMap, BTreeSet};

use driver::{Driver, is_command, operations, successes};
use fastrand::Rng;
use serde_json::Value;

use crate::app::App;
use crate::client::ClientSpec;
use crate::generated::operations::Operation;
use crate::message::Request;
use crate::schema::{Served, built_in};

/// The number of valid calls per operation.
const ROUNDS: u64 = 40;

fn setting(name: &str, default: u64) -> u64 {
    let given = std::env::var(name).ok();
    given.map_or(default, |text| text.parse().expect("a number"))
}

#[test]
fn the_server_checks_every_rule_of_the_specs() {
    for app in App::all() {
        assert_eq!(built_in(app).unwrap().notes, [""; 0], "{app}");
    }
}

#[test]
fn valid_input_gets_a_documented_response_that_conforms() {
    let mut driver = Driver::new();
    let mut random = Rng::with_seed(setting("PROPERTY_SEED", 1));
    let mut statuses: BTreeMap<&str, BTreeSet<u16>> = BTreeMap::new();
    for _ in 0..setting("PROPERTY_ROUNDS", ROUNDS) {
        for operation in operations() {
            let request = valid::request(operation, &mut random, &driver.pool);
            let got = driver.call(operation, &request);
            let seen = statuses.entry(&operation.id).or_default();
            seen.insert(got.status);
            let open = valid::is_open(operation);
            assert!(got.status != 400 || open, "{request:?}: {}", got.body);
            if is_command(operation) && got.status < 300 {
                seen.insert(replayed(&mut driver, operation, &request, got.body));
            } else if let Some(next) = valid::next_page(&request, &got.body) {
                assert_eq!(driver.call(operation, &next).status, 200, "{next:?}");
            }
        }
    }
    for operation in operations() {
        let seen = &statuses[&*operation.id];
        let id = &operation.id;
        let expected = successes(operation);
        assert!(
            expected.iter().any(|status| seen.contains(status)),
            "{id} never succeeded: {seen:?}"
        );
        // For a name-only operation, the success statuses are a guess of the spec.
        let named = operation.written.is_some_and(Operation::name_only);
        let missing = expected.iter().find(|status| !seen.contains(status));
        assert!(named || missing.is_none(), "{id}: {missing:?}");
    }
}

/// Resends a committed command. Checks that the result is the same and nothing is committed again. Returns the status.
fn replayed(driver: &mut Driver, operation: &Served, request: &Request, first: Value) -> u16 {
    let commits = |driver: &Driver| driver.suite.counters.of(operation).commits;
    let before = commits(driver);
    let again = driver.call(operation, request);
    let result = |mut body: Value| {
        body.as_object_mut().unwrap().remove("replayed");
        body
    };
    assert!(again.status < 300, "{request:?}: {}", again.body);
    assert_eq!(result(again.body), result(first), "{request:?}");
    assert_eq!(commits(driver), before, "{request:?}");
    again.status
}

#[test]
fn invalid_input_is_rejected_with_400() {
    let mut driver = Driver::new();
    let mut random = Rng::with_seed(setting("PROPERTY_SEED", 1));
    // Collect references first, so that each request breaks only one rule.
    for _ in 0..4 {
        for operation in operations() {
            let request = valid::request(operation, &mut random, &driver.pool);
            driver.call(operation, &request);
        }
    }
    let mut rejected = 0;
    for operation in operations() {
        let before = driver.suite.counters.of(operation).commits;
        for (what, request) in invalid::requests(operation, &mut random, &driver.pool) {
            let got = driver.call(operation, &request);
            let id = &operation.id;
            assert_eq!(got.status, 400, "{id}: {what}: {request:?}\n{}", got.body);
            rejected += 1;
        }
        let after = driver.suite.counters.of(operation).commits;
        assert_eq!(after, before, "{}", operation.id);
    }
    assert!(rejected > 1_000, "only {rejected}");
}

/// A token must be valid for this application, entitled to it, bound to a workspace, and have the scope. These rules
/// apply to every protected operation, even if the contract's endpoint table doesn't list 401 and 403.
#[test]
fn missing_rights_get_401_and_403_everywhere() {
    let (mut driver, elsewhere) = (Driver::new(), Driver::new());
    let mut random = Rng::with_seed(3);
    add_clients(&driver);
    for operation in operations() {
        let (id, app) = (&operation.id, operation.app);
        let known = operation.written.unwrap();
        assert_eq!(known.auth(), !operation.security.is_empty(), "{id}");
        if !known.auth() {
            continue;
        }
        let request = valid::request(operation, &mut random, &driver.pool);
        let other = if app == App::Crm {
            App::Calendar
        } else {
            App::Crm
        };
        let foreign = [driver.token_of(other), elsewhere.token_of(app)];
        let foreign = foreign.map(|token| format!("Bearer {token}"));
        let wrong = ["", "Bearer", "Bearer eyJ.e30.x", "Basic cmVmOnNlY3JldA=="];
        for authorization in wrong.into_iter().chain(foreign.iter().map(|it| &**it)) {
            let got = driver.call_as(operation, &request, authorization);
            assert_eq!(got.status, 401, "{id} {authorization:?}");
            assert!(got.is_challenge, "{id} {authorization:?}");
        }
        let mut lacking = Vec::new();
        if app != App::Platform {
            lacking.push(("unentitled".to_owned(), "entitlement_required"));
            lacking.push(("unbound".to_owned(), "workspace_binding_required"));
        }
        if !known.scopes().is_empty() {
            lacking.push((format!("without-{id}"), "insufficient_scope"));
        }
        for (client, code) in lacking {
            let authorization = format!("Bearer {}", driver.token(app, &client, "secret"));
            let got = driver.call_as(operation, &request, &authorization);
            let shown = got.body.to_string().to_lowercase();
            assert!(got.status == 403 && shown.contains(code), "{id}: {shown}");
        }
        // Any scope of the operation admits the call, but a known record command may need a specific scope.
        let request = Request {
            body: "{}".into(),
            ..request
        };
        for scope in known.scopes() {
            let token = driver.token(app, &format!("only-{scope}"), "secret");
            let got = driver.call_as(operation, &request, &format!("Bearer {token}"));
            assert!(![401, 403].contains(&got.status), "{id} {scope}");
        }
    }
}

fn add_clients(driver: &Driver) {
    let new = |id: String| ClientSpec::new(id, "secret");
    let add = |client| driver.suite.add_client(client).unwrap();
    add(new("unentitled".to_owned()).apps([]));
    add(new("unbound".to_owned()).without_workspace());
    for operation in Operation::ALL {
        let mut without = new(format!("without-{}", operation.id()));
        for scope in operation.scopes() {
            without = without.without_scope(scope);
            add(new(format!("only-{scope}")).scopes([*scope]));
        }
        add(without);
    }
}
