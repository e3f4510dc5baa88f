//! The format of an `Idempotency-Key`, and the bodies of commands.

use sdk_accounting::types::{CounterpartyReference, ImportMode, InvoiceDraftCreate, TaxAmount};
use sdk_calendar::types::EventCommand;
use sdk_core::IdempotencyKey;
use sdk_reference_server::Operation;
use serde_json::json;

use super::{assert_refused_locally, refuses};
use crate::contract::setup::Setup;
use crate::samples::{draft, import};

#[test]
fn fault_31_a_key_has_16_to_160_allowed_characters() {
    let odd = |odd| {
        let text = format!("sixteen-chars-{odd}-and-more");
        let rule = format!("must match ^[A-Za-z0-9._:-]+$: got the character {odd:?}");
        (text, rule)
    };
    let length = |length| {
        let rule = format!("must have 16 to 160 characters: got {length} characters");
        ("k".repeat(length), rule)
    };
    let lengths = [0, 15, 161].map(length);
    let odds = [' ', '/', '#', 'é', '\r', '\n', '\0'].map(odd);
    for (text, rule) in lengths.into_iter().chain(odds) {
        let error = text.parse::<IdempotencyKey>().unwrap_err();
        assert_refused_locally(&error, &format!("`Idempotency-Key` {rule}"));
        assert!(serde_json::from_value::<IdempotencyKey>(text.into()).is_err());
    }
    let every = "ABCXYZabcxyz0189._:-";
    for text in [&every[..16], &every.repeat(8)] {
        assert_eq!(text.parse::<IdempotencyKey>().unwrap().as_str(), text);
    }
}

#[tokio::test]
async fn the_mode_of_an_import_is_one_of_four() {
    let setup = Setup::in_memory();
    let runs = setup.accounting.import_runs();

    let why = "`mode` must be one of opening_balances, summary_history, full_history, evidence_only: \
               got \"odd\"";
    let odd = runs.create(&import("ledger-adapter", "odd".into()));
    refuses(&setup, odd, why).await;
    for mode in ImportMode::KNOWN {
        let run = import("ledger-adapter", (*mode).into());
        assert_eq!(runs.create(&run).await.unwrap().http_status(), 201);
        assert_eq!(setup.last_body(Operation::CreateImportRun)["mode"], *mode);
    }
    assert_eq!(setup.server.commits(Operation::CreateImportRun), 4);
}

#[tokio::test]
async fn a_draft_has_1_to_200_lines() {
    let setup = Setup::in_memory();
    let counterparty = setup.server.sample_counterparty();
    let drafts = setup.accounting.invoice_drafts();

    for count in [0, 201] {
        let why = format!("`lines` must have 1 to 200 items: got {count} items");
        refuses(&setup, drafts.create(&draft(&counterparty, count)), &why).await;
    }
    for count in [1, 200] {
        let receipt = drafts.create(&draft(&counterparty, count)).await.unwrap();
        assert_eq!(receipt.http_status(), 201);
    }
    assert_eq!(setup.server.commits(Operation::CreateInvoiceDraft), 2);
}

#[tokio::test]
async fn the_counterparty_of_a_draft_is_a_counterparty_reference() {
    let setup = Setup::in_memory();
    let drafts = setup.accounting.invoice_drafts();

    for text in [
        "",
        "FCP-abc",
        "FCP-0123456789A",
        "FCP-0123456789ABC",
        "FCP-0123456789ab",
        "PER-0123456789AB",
    ] {
        let rule = format!("must match ^FCP-[A-Z0-9]{{12}}$: got {text:?}");
        let why = format!("`counterpartyReference` {rule}");
        refuses(&setup, drafts.create(&draft(text, 1)), &why).await;
        let parsed = text.parse::<CounterpartyReference>().unwrap_err();
        assert_refused_locally(&parsed, &format!("`CounterpartyReference` {rule}"));
    }
}

#[tokio::test]
async fn the_times_of_a_command_must_be_rfc_3339() {
    let setup = Setup::in_memory();
    let text = "2026-02-30T09:00:00Z";
    let why = |field, form| format!("`{field}` must be an RFC 3339 {form}: got {text:?}");
    for (field, command) in [
        ("startsAt", EventCommand::create().starts_at(text)),
        ("endsAt", EventCommand::create().ends_at(text)),
    ] {
        let why = why(field, "date-time, such as 2026-01-15T09:00:00Z");
        refuses(&setup, setup.calendar.events().command(&command), &why).await;
    }
    let draft =
        || InvoiceDraftCreate::new("FCP-A0B1C2D3E4F5", TaxAmount::new(), [json!({}).into()]);
    for (field, draft) in [
        ("documentDate", draft().document_date(text)),
        ("dueDate", draft().due_date(text)),
    ] {
        let why = why(field, "date, such as 2026-01-15");
        let call = setup.accounting.invoice_drafts().create(&draft);
        refuses(&setup, call, &why).await;
    }
}
