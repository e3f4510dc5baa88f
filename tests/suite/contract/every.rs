//! The behavior of every operation. Each test makes the call of every scenario and derives the expected behavior from
//! the operation table.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use sdk_core::{
    Error, IdempotencyKey, PreparedCommand, Provenance, RawJson, Receipt, Safety, Suite,
};
use sdk_reference_server::{App, ClientSpec, Operation};

use super::case::{assert_code, check_requests, failed, is_command, row, table};
use super::operations::{Answer, COVERED, Calls, Visitor, visit_all};
use super::setup::Setup;
use crate::support::{Clients, assert_says, stored};

/// Every operation can fail with these statuses for its own reasons, which the tests below cover.
const COMMON: [u16; 3] = [401, 403, 503];

#[test]
fn every_operation_has_one_scenario() {
    let mut scenarios: BTreeMap<&str, (&str, bool)> = BTreeMap::new();
    for (module, operations) in COVERED {
        for (operation, fails) in *operations {
            let twice = scenarios.insert(operation.id(), (module, *fails));
            assert_eq!(twice, None, "{} has two scenarios", operation.id());
        }
    }
    for row in table() {
        let Some((module, fails)) = scenarios.get(row.id) else {
            panic!("{row} has no scenario: add one in tests/suite/contract/operations/");
        };
        let particular = |status: &&u16| **status >= 400 && !COMMON.contains(*status);
        if let Some(status) = row.statuses.iter().find(particular) {
            assert!(
                fails,
                "{row} may fail with {status}: add that to its scenario in `{module}`"
            );
        }
        let by_name = row.provenance == Provenance::NameOnly;
        assert_eq!(*module == "name_only", by_name, "{row} is in `{module}`");
    }
}

#[test]
fn clients_and_reference_server_have_the_same_operation_tables() {
    assert_eq!(table().count(), Operation::ALL.len());
    for operation in Operation::ALL {
        let row = row(operation);
        assert_eq!(row.application.name(), operation.app().id(), "{row}");
        assert_eq!(row.method.as_str(), operation.method(), "{row}");
        assert_eq!(row.route, operation.path(), "{row}");
        assert_eq!(row.scopes, operation.scopes(), "{row}");
        assert_eq!(row.authenticated, operation.auth(), "{row}");
    }
}

/// Makes each operation fail with a status if `prepare` returns true, and checks the error.
struct Failing<P, C> {
    status: u16,
    prepare: P,
    check: C,
    failed: usize,
}

impl<P: Fn(&Setup, Operation) -> bool, C: Fn(&Setup, Operation, &Error)> Visitor for Failing<P, C> {
    async fn visit<A: Answer>(
        &mut self,
        setup: &Setup,
        calls: Calls<impl IntoFuture<Output = Result<A, Error>> + Clone>,
    ) {
        let operation = calls.operation;
        if (self.prepare)(setup, operation) {
            let exchanges = setup.server.exchanges();
            let error = calls.plain.await.err().unwrap();
            failed(setup, operation, &error, self.status);
            let renewed = u64::from(self.status == 401);
            assert_eq!(setup.server.exchanges(), exchanges + renewed, "{error}");
            (self.check)(setup, operation, &error);
            self.failed += 1;
        }
        setup.server.clear_faults();
    }
}

/// Visits every operation and returns the number of failures.
async fn fail_all(
    setup: &Setup,
    status: u16,
    prepare: impl Fn(&Setup, Operation) -> bool,
    check: impl Fn(&Setup, Operation, &Error),
) -> usize {
    let mut failing = Failing {
        status,
        prepare,
        check,
        failed: 0,
    };
    setup.prewarm().await;
    visit_all(setup, &mut failing).await;
    failing.failed
}

fn count(counts: impl Fn(&sdk_core::Operation) -> bool) -> usize {
    table().filter(|row| counts(row)).count()
}

#[tokio::test]
async fn an_outage_is_retried_if_that_is_safe() {
    let setup = Setup::in_memory();
    let down = |setup: &Setup, operation: Operation| {
        setup.server.fault(operation).status(503);
        true
    };
    let check = |setup: &Setup, operation: Operation, error: &Error| {
        let unkeyed = row(operation).safety == Safety::Unkeyed;
        assert_eq!(error.attempts(), if unkeyed { 1 } else { 3 }, "{error}");
        let again = error.to_string().contains("after 3 attempts");
        assert_eq!(again, !unkeyed, "{error}");
        // The token endpoint has its own error codes.
        if operation != Operation::ExchangeToken {
            assert_code(operation, error, "service_unavailable");
        }
        // The error returns the command with exactly the sent bytes.
        if let Some(command) = error.command() {
            assert_eq!(command.body().as_bytes(), setup.last(operation).body());
            assert_eq!(command.idempotency_key(), error.idempotency_key());
        }
    };

    assert_eq!(fail_all(&setup, 503, down, check).await, count(|_| true));
}

#[tokio::test]
async fn a_token_that_is_always_rejected_is_renewed_once_and_then_reported() {
    let setup = Setup::in_memory();
    let refused = |setup: &Setup, operation: Operation| {
        setup.server.fault(operation).revoke_token();
        operation.auth()
    };
    // A 401 has no effect, so even a command without a key is resent once.
    let check = |_: &Setup, _: Operation, error: &Error| assert_eq!(error.attempts(), 2, "{error}");

    let failed = fail_all(&setup, 401, refused, check).await;

    assert_eq!(failed, count(|row| row.authenticated));
}

/// Makes an operation fail for two attempts, and then calls it again.
struct Back;

impl Visitor for Back {
    async fn visit<A: Answer>(
        &mut self,
        setup: &Setup,
        calls: Calls<impl IntoFuture<Output = Result<A, Error>> + Clone>,
    ) {
        let (operation, id) = (calls.operation, calls.operation.id());
        let row = row(operation);
        if row.safety == Safety::Unkeyed {
            return;
        }
        setup.server.fault(operation).times(2).status(503);

        let first = calls.plain.clone().await.unwrap().response();
        let again = calls.plain.await.unwrap().response();

        assert_eq!((first.attempts(), again.attempts()), (3, 1), "{id}");
        let seen = setup.server.requests_for(operation);
        let keys: Vec<_> = seen.iter().map(|seen| seen.idempotency_key()).collect();
        assert_eq!(keys[..3], [keys[0]; 3], "{id}");
        let body = seen[0].body();
        assert!(seen.iter().all(|seen| seen.body() == body), "{id}");
        // Each call has a new key, so equal commands count as two intended commands.
        assert_eq!(keys[0] != keys[3], is_command(row), "{id}");
        assert!(keys.iter().flatten().all(|key| key.len() == 32), "{id}");
        let commits = if is_command(row) { 2 } else { 0 };
        assert_eq!(setup.server.commits(operation), commits, "{id}");
    }
}

#[tokio::test]
async fn a_service_that_recovers_answers_the_same_call_with_the_same_key() {
    visit_all(&Setup::in_memory(), &mut Back).await;
}

/// Makes a token invalid before each call.
struct Ending(fn(&Setup));

impl Visitor for Ending {
    async fn visit<A: Answer>(
        &mut self,
        setup: &Setup,
        calls: Calls<impl IntoFuture<Output = Result<A, Error>> + Clone>,
    ) {
        let (operation, id) = (calls.operation, calls.operation.id());
        if !operation.auth() {
            return;
        }
        setup.prewarm().await;
        (self.0)(setup);
        let exchanges = setup.server.exchanges();

        let got = calls.plain.await.unwrap().response();

        assert_eq!(got.attempts(), 2, "{id}");
        assert_eq!(setup.server.exchanges(), exchanges + 1, "{id}");
        let seen = setup.server.requests_for(operation);
        let [first, second] = &seen[..] else {
            panic!("{id}: {} requests", seen.len())
        };
        assert_eq!(first.status, Some(401), "{id}");
        assert_eq!(second.status, Some(got.http_status()), "{id}");
        assert_eq!(first.idempotency_key(), second.idempotency_key(), "{id}");
        assert_eq!(first.body(), second.body(), "{id}");
        let commits = u64::from(is_command(row(operation)));
        assert_eq!(setup.server.commits(operation), commits, "{id}");
    }
}

#[tokio::test]
async fn after_a_revoked_or_expired_token_the_same_request_is_sent_with_a_new_token() {
    let ends: [fn(&Setup); 2] = [
        |setup| setup.server.revoke_tokens(),
        |setup| setup.server.advance(Duration::from_secs(300)),
    ];
    for end in ends {
        visit_all(&Setup::in_memory(), &mut Ending(end)).await;
    }
}

/// Returns whether the contract requires an entitlement and a workspace for the operation.
fn needs_binding(operation: Operation) -> bool {
    operation.auth() && operation.app() != App::Platform
}

#[tokio::test]
async fn an_error_names_the_missing_entitlement_or_workspace() {
    let without_app = |client: ClientSpec| client.apps([App::Platform]);
    for (rights, code, words) in [
        (
            without_app as fn(ClientSpec) -> ClientSpec,
            "entitlement_required",
            "the application's entitlement",
        ),
        (
            ClientSpec::without_workspace,
            "workspace_binding_required",
            "a workspace binding",
        ),
    ] {
        let setup = Setup::in_memory().with_rights(rights);
        let needs = |_: &Setup, operation: Operation| needs_binding(operation);
        let check = |_: &Setup, operation: Operation, error: &Error| {
            assert_eq!(error.attempts(), 1);
            assert_code(operation, error, code);
            let line = error.to_string();
            assert_says(&line, &[words]);
            let shown = !line.contains("requires no documented scope");
            assert_eq!(shown, !operation.scopes().is_empty(), "{line}");
        };

        let failed = fail_all(&setup, 403, needs, check).await;

        assert_eq!(
            failed,
            count(|row| row.authenticated && row.application != sdk_core::App::Platform)
        );
    }
}

#[tokio::test]
async fn an_error_names_the_required_and_the_granted_scopes() {
    let all: BTreeSet<&[&str]> = Operation::all().map(Operation::scopes).collect();
    let mut failed = 0;
    for scopes in all.into_iter().filter(|scopes| !scopes.is_empty()) {
        let lacking = |client: ClientSpec, scope: &&str| client.without_scope(scope);
        let setup = Setup::in_memory();
        let setup = setup.with_rights(|client| scopes.iter().fold(client, lacking));
        let needs = |_: &Setup, operation: Operation| operation.scopes() == scopes;
        let check = |_: &Setup, operation: Operation, error: &Error| {
            let lacks = format!("the token lacks {}", scopes.join(" or "));
            assert_eq!(error.message(), lacks);
            assert_code(operation, error, "insufficient_scope");
            assert_eq!(error.attempts(), 1);
            let requires = match scopes {
                [scope] => format!("requires the scope {scope}"),
                several => format!("requires any of the scopes {}", several.join(", ")),
            };
            let others = Operation::all().filter(|other| other.app() == operation.app());
            let held = others
                .flat_map(Operation::scopes)
                .find(|scope| !scopes.contains(scope));
            // A token has the scopes of its audience. The endpoint may omit an empty list (RFC 6749).
            let granted = held.map_or("did not list the granted scopes", |scope| scope);
            assert_says(&error, &[&requires, granted]);
        };

        failed += fail_all(&setup, 403, needs, check).await;
    }
    assert_eq!(failed, count(|row| !row.scopes.is_empty()));
}

/// Sends a parameter and a header of a later contract, which the SDK does not know yet.
struct Extended;

impl Visitor for Extended {
    async fn visit<A: Answer>(
        &mut self,
        setup: &Setup,
        calls: Calls<impl IntoFuture<Output = Result<A, Error>> + Clone>,
    ) {
        let id = calls.operation.id();
        let sent = calls.extended.await;
        assert!(sent.is_ok(), "{id}: {:?}", sent.err());
        let request = setup.last(calls.operation);
        assert_eq!(request.header("x-from-the-future"), Some("yes"), "{id}");
        let query = setup.last_query(calls.operation);
        assert!(query.ends_with("fromTheFuture=a+b%26c"), "{id}: {query}");
        check_requests(row(calls.operation), &[request]);
    }
}

/// This test uses sockets, to show that nothing between the SDK and the server changes a request.
#[tokio::test]
async fn every_builder_takes_an_undocumented_parameter_and_header() {
    visit_all(&Setup::start().await, &mut Extended).await;
}

/// Prepares commands without sending anything, stores them, and sends them from another process.
struct Stored(usize);

impl Visitor for Stored {
    async fn visit<A: Answer>(
        &mut self,
        setup: &Setup,
        calls: Calls<impl IntoFuture<Output = Result<A, Error>> + Clone>,
    ) {
        let (operation, id) = (calls.operation, calls.operation.id());
        let Some(command) = calls.prepared else {
            return;
        };
        assert!(setup.server.requests_for(operation).is_empty(), "{id}");
        let command = stored(&command.unwrap());
        command.verify().unwrap();

        let receipt = send_prepared(&setup.elsewhere(), &command).await.unwrap();

        assert_eq!(receipt.api_operation().id, id);
        assert_eq!(command.operation(), id);
        let seen = setup.last(operation);
        assert_eq!(&*seen.method, command.method());
        assert_eq!(&*seen.path, command.path());
        assert_eq!(seen.body(), command.body().as_bytes());
        assert_eq!(seen.header("content-type"), Some("application/json"));
        let key = command.idempotency_key().map(IdempotencyKey::as_str);
        assert_eq!(seen.idempotency_key(), key);
        let keyed = row(operation).safety == Safety::Keyed;
        assert_eq!(key.is_some(), keyed, "{id}");
        self.0 += 1;
    }
}

async fn send_prepared(
    suite: &Suite,
    command: &PreparedCommand,
) -> Result<Receipt<RawJson>, Error> {
    match command.application() {
        "crm" => suite.crm().send_prepared(command).await,
        "calendar" => suite.calendar().send_prepared(command).await,
        "accounting" => suite.accounting().send_prepared(command).await,
        other => panic!("add the client of {other} here"),
    }
}

#[tokio::test]
async fn every_command_can_be_prepared_stored_and_sent_by_another_process() {
    let mut stored = Stored(0);
    visit_all(&Setup::in_memory(), &mut stored).await;
    assert_eq!(stored.0, count(is_command));
}
