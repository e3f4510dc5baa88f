//! Accounting: the operations whose bodies the contract shows.

use sdk_accounting::Client;
use sdk_accounting::types::{AccountingOutcome, ImportMode};
use sdk_core::Error;
use sdk_reference_server::Operation;
use serde_json::json;

use crate::contract::case::{Done, operations};
use crate::contract::world::World;
use crate::samples::{draft, import};
use crate::support::key;

operations! {
    GetAccountingMetadata => metadata_needs_no_token, metadata_that_is_down_is_a_503;
    ListFinancialCounterparties => counterparties_come_as_one_page, counterparties_without_their_scope_are_a_403;
    CreateInvoiceDraft => a_draft_is_created_with_a_201, a_draft_for_an_archived_counterparty_is_a_422;
    CreateImportRun => an_import_run_is_pending_with_a_201, another_run_under_the_same_key_is_a_409;
}

async fn metadata_needs_no_token(world: &World) -> Done {
    let meta = world.accounting.service().meta().await.unwrap();

    assert_eq!(meta.schema_version, "suite-accounting-api.v1");
    assert_eq!(meta.service, "suite-accounting");
    assert_eq!(meta.version, "0.1.1");
    assert_eq!(meta.openapi_path, "/openapi.yaml");
    assert_eq!(world.server.attempts(Operation::ExchangeToken), 0);
    Done::of(&meta)
}

async fn metadata_that_is_down_is_a_503(world: &World) -> Error {
    let fault = world
        .server
        .fault(Operation::GetAccountingMetadata)
        .status(503);

    let error = world.accounting.service().meta().await.unwrap_err();

    assert_eq!(fault.struck(), 3);
    error
}

async fn counterparties_come_as_one_page(world: &World) -> Done {
    let page = world.accounting.counterparties().list().await.unwrap();

    let items = &page.to_value().unwrap()["items"];
    assert_eq!(items.as_array().unwrap().len(), 40);
    assert_eq!(
        items[0]["publicReference"],
        world.server.sample_counterparty()
    );
    // It takes no parameters.
    assert_eq!(
        world.last(Operation::ListFinancialCounterparties).query,
        None
    );
    Done::of(&page)
}

async fn counterparties_without_their_scope_are_a_403(world: &World) -> Error {
    let suite = world
        .suite
        .with_scopes("accounting", ["accounting:imports:create"])
        .unwrap();
    let accounting = sdk_accounting::Client::new(&suite).unwrap();

    let error = accounting.counterparties().list().await.unwrap_err();

    let line = error.to_string();
    assert!(
        line.contains("the scope accounting:counterparties:read"),
        "{line}"
    );
    assert!(
        line.contains("was granted accounting:imports:create"),
        "{line}"
    );
    error
}

async fn a_draft_is_created_with_a_201(world: &World) -> Done {
    let counterparty = world.server.sample_counterparty();
    let draft = draft(&counterparty, 1)
        .billing_profile_reference("BP-1")
        .document_date("2026-01-15".parse().unwrap())
        .due_date("2026-02-14".parse().unwrap())
        .customer_note("Thank you.")
        .internal_note("Ask Ada.");

    let receipt = world
        .accounting
        .invoice_drafts()
        .create(&draft)
        .await
        .unwrap();

    assert_eq!(receipt.schema_version, "suite-accounting-command-result.v1");
    assert_eq!(receipt.outcome, AccountingOutcome::Succeeded);
    assert_eq!((receipt.record_version, receipt.replayed), (1, false));
    assert!(!receipt.command_receipt_reference.is_empty());
    assert_eq!(receipt.http_status(), 201);
    let key = receipt.idempotency_key().unwrap().as_str();
    let seen = world.last(Operation::CreateInvoiceDraft);
    assert_eq!(seen.idempotency_key(), Some(key));
    let sent = json!({
        "schemaVersion": "suite-accounting-invoice-draft-create.v1",
        "counterpartyReference": counterparty,
        "billingProfileReference": "BP-1",
        "documentDate": "2026-01-15",
        "dueDate": "2026-02-14",
        "customerNote": "Thank you.",
        "internalNote": "Ask Ada.",
        "taxAmount": {"currency": "EUR", "minorUnits": "1900", "scale": 2},
        "lines": [{"description": "Workshop"}],
    });
    assert_eq!(world.last_body(Operation::CreateInvoiceDraft), sent);
    Done::of(&receipt.into_response())
}

async fn a_draft_for_an_archived_counterparty_is_a_422(world: &World) -> Error {
    let draft = draft(&world.server.archived_counterparty(), 1);

    let error = world
        .accounting
        .invoice_drafts()
        .create(&draft)
        .await
        .unwrap_err();

    assert_eq!(error.code(), Some("invoice_draft_rejected"));
    assert_eq!(error.attempts(), 1);
    error
}

async fn an_import_run_is_pending_with_a_201(world: &World) -> Done {
    let run = import("ledger-adapter", ImportMode::SummaryHistory);

    let receipt = world.accounting.import_runs().create(&run).await.unwrap();

    assert_eq!(receipt.outcome, AccountingOutcome::Pending);
    assert_eq!((receipt.record_version, receipt.replayed), (1, false));
    assert_eq!(receipt.http_status(), 201);
    let sent = json!({
        "schemaVersion": "suite-accounting-import-create.v1",
        "adapterContractVersion": "suite-accounting-adapter.v1",
        "adapterId": "ledger-adapter",
        "adapterImplementationVersion": "1.0.0",
        "sourceApplication": {"name": "legacy"},
        "mode": "summary_history",
        "intendedCoverage": {"from": "2026-01-01"},
    });
    assert_eq!(world.last_body(Operation::CreateImportRun), sent);
    Done::of(&receipt.into_response())
}

async fn another_run_under_the_same_key_is_a_409(world: &World) -> Error {
    let elsewhere = Client::new(&world.elsewhere()).unwrap();
    let run = |accounting: &Client, adapter| {
        let runs = accounting.import_runs();
        runs.create(&import(adapter, ImportMode::EvidenceOnly))
            .idempotency_key(key("import-run-2026-01"))
    };
    run(&world.accounting, "first").await.unwrap();

    let error = run(&elsewhere, "second").await.unwrap_err();

    assert!(error.is_conflict());
    assert_eq!(error.attempts(), 1);
    error
}
