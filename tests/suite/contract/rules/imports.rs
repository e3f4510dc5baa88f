//! The body of an import run.

use sdk_accounting::types::ImportMode;
use sdk_reference_server::{App, Operation};
use serde_json::{Value, json};

use crate::contract::both::Both;
use crate::samples::import;

const PATH: &str = "/import-runs";

/// A body that the server takes, to be spoilt.
fn body() -> Value {
    json!({
        "schemaVersion": "suite-accounting-import-create.v1",
        "adapterContractVersion": "suite-accounting-adapter.v1",
        "adapterId": "ledger-adapter",
        "adapterImplementationVersion": "1.0.0",
        "sourceApplication": {},
        "mode": "full_history",
        "intendedCoverage": {},
    })
}

fn with(member: &str, value: Value) -> Value {
    let mut body = body();
    body[member] = value;
    body
}

#[tokio::test]
async fn the_mode_of_a_run_is_one_of_four() {
    let both = Both::sides_of(App::Accounting).await;
    let runs = both.world.accounting.import_runs();

    let why = "`mode` must be one of opening_balances, summary_history, full_history, evidence_only: \
               got \"odd\"";
    let odd = runs.create(&import("ledger-adapter", "odd".into()));
    both.refuse_command(odd, why, PATH, &with("mode", json!("odd")))
        .await;
    for mode in ImportMode::KNOWN {
        let run = import("ledger-adapter", (*mode).into());
        assert_eq!(runs.create(&run).await.unwrap().http_status(), 201);
        assert_eq!(
            both.world.last_body(Operation::CreateImportRun)["mode"],
            *mode
        );
    }
    assert_eq!(both.world.server.commits(Operation::CreateImportRun), 4);
}

/// The SDK's types always have these members, so only the server's side can be tried.
#[tokio::test]
async fn a_run_without_a_required_member_is_refused() {
    let both = Both::sides_of(App::Accounting).await;

    for member in body().as_object().unwrap().keys() {
        both.server_refuses_command(PATH, &with(member, Value::Null))
            .await;
    }
    for member in ["schemaVersion", "adapterContractVersion"] {
        both.server_refuses_command(PATH, &with(member, json!("suite-other.v9")))
            .await;
    }
    for member in ["sourceApplication", "intendedCoverage"] {
        both.server_refuses_command(PATH, &with(member, json!("text")))
            .await;
    }
    assert_eq!(both.world.server.commits(Operation::CreateImportRun), 0);
}
