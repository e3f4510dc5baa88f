//! Accounting: the operations with documented bodies.

use sdk_accounting::Client;
use sdk_accounting::types::{
    AccountingCommandResult, AccountingMetadata, AccountingOutcome, ImportMode, InvoiceDraftCreate,
};
use sdk_core::{Error, RawJson, Receipt, Response};
use sdk_reference_server::Operation;
use serde_json::json;

use super::operations;
use crate::contract::setup::Setup;
use crate::samples::{draft, import};
use crate::support::{Clients, key};

operations! {
    GetAccountingMetadata: |setup| setup.accounting.service().meta() => metadata;
    ListFinancialCounterparties: |setup| setup.accounting.counterparties().list() => all_on_one_page;
    CreateInvoiceDraft: |setup| setup.accounting.invoice_drafts().create(&whole_draft(setup)) => a_draft_is_created,
        422 "invoice_draft_rejected" "":
        |setup| setup.accounting.invoice_drafts().create(&draft(&setup.server.archived_counterparty(), 1));
    CreateImportRun: |setup| setup.accounting.import_runs().create(&import("ledger", ImportMode::SummaryHistory)) => a_run_is_pending,
        409 "idempotency_conflict" "": |setup| another_run_under_the_same_key(setup);
}

fn metadata(_: &Setup, meta: &Response<AccountingMetadata>) {
    assert_eq!(meta.schema_version, "suite-accounting-api.v1");
    assert_eq!(meta.service, "suite-accounting");
    assert_eq!(meta.version, "0.1.1");
    assert_eq!(meta.openapi_path, "/openapi.yaml");
}

fn all_on_one_page(setup: &Setup, page: &Response<RawJson>) {
    let items = &page.to_value().unwrap()["items"];
    assert_eq!(items.as_array().unwrap().len(), 40);
    let first = setup.server.sample_counterparty();
    assert_eq!(items[0]["publicReference"], first);
    // The operation has no parameters.
    let seen = setup.last(Operation::ListFinancialCounterparties);
    assert_eq!(seen.query, None);
}

fn whole_draft(setup: &Setup) -> InvoiceDraftCreate {
    draft(&setup.server.sample_counterparty(), 1)
        .billing_profile_reference("BP-1")
        .document_date("2026-01-15")
        .due_date("2026-02-14")
        .customer_note("Thank you.")
        .internal_note("Ask Ada.")
}

fn a_draft_is_created(setup: &Setup, receipt: &Receipt<AccountingCommandResult>) {
    assert_eq!(receipt.schema_version, "suite-accounting-command-result.v1");
    assert_eq!(receipt.outcome, AccountingOutcome::Succeeded);
    assert_eq!((receipt.record_version, receipt.replayed), (1, false));
    assert!(!receipt.command_receipt_reference.is_empty());
    assert_eq!(receipt.http_status(), 201);
    let key = receipt.idempotency_key().unwrap().as_str();
    let seen = setup.last(Operation::CreateInvoiceDraft);
    assert_eq!(seen.idempotency_key(), Some(key));
    let sent = json!({
        "schemaVersion": "suite-accounting-invoice-draft-create.v1",
        "counterpartyReference": setup.server.sample_counterparty(),
        "billingProfileReference": "BP-1",
        "documentDate": "2026-01-15",
        "dueDate": "2026-02-14",
        "customerNote": "Thank you.",
        "internalNote": "Ask Ada.",
        "taxAmount": {"currency": "EUR", "minorUnits": "1900", "scale": 2},
        "lines": [{"description": "Workshop"}],
    });
    assert_eq!(setup.last_body(Operation::CreateInvoiceDraft), sent);
}

fn a_run_is_pending(setup: &Setup, receipt: &Receipt<AccountingCommandResult>) {
    assert_eq!(receipt.outcome, AccountingOutcome::Pending);
    assert_eq!((receipt.record_version, receipt.replayed), (1, false));
    assert_eq!(receipt.http_status(), 201);
    let sent = json!({
        "schemaVersion": "suite-accounting-import-create.v1",
        "adapterContractVersion": "suite-accounting-adapter.v1",
        "adapterId": "ledger",
        "adapterImplementationVersion": "1.0.0",
        "sourceApplication": {"name": "legacy"},
        "mode": "summary_history",
        "intendedCoverage": {"from": "2026-01-01"},
    });
    assert_eq!(setup.last_body(Operation::CreateImportRun), sent);
}

async fn another_run_under_the_same_key(
    setup: &Setup,
) -> Result<Receipt<AccountingCommandResult>, Error> {
    let elsewhere = setup.elsewhere().accounting();
    let run = |accounting: &Client, adapter| {
        let runs = accounting.import_runs();
        runs.create(&import(adapter, ImportMode::EvidenceOnly))
            .idempotency_key(key("import-run-2026-01"))
    };
    run(&setup.accounting, "first").await.unwrap();
    run(&elsewhere, "second").await
}
