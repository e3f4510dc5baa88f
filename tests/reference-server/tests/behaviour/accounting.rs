//! Accounting: reads after a command (A81), and amounts.

use sdk_reference_server::App;
use serde_json::{Value, json};

use crate::peer::{Got, Peer};
use crate::rows::{DRAFTS, IMPORTS, INTENTS, KEY, changed, rejects, send, shows};

const OTHER_KEY: &str = "another-key-of-its-own";

/// Changes to a draft that conform to the schema, but break a business rule.
const REJECTED: &str = r#"
    {"counterpartyReference": "FCP-ZZZZZZZZZZZZ"} | 422 | invoice_draft_rejected | counterparty
    {"counterpartyReference": "{archived}"} | 422 | invoice_draft_rejected | counterparty
    {"dueDate": "2026-01-30"} | 422 | invoice_draft_rejected | dueDate
    {"taxAmount": "2500"} | 400 | validation_failed | taxAmount"#;

fn draft(peer: &Peer) -> Value {
    json!({
        "schemaVersion": "suite-accounting-invoice-draft-create.v1",
        "counterpartyReference": peer.server.sample_counterparty(),
        "billingProfileReference": null,
        "documentDate": "2026-01-31",
        "dueDate": "2026-02-28",
        "taxAmount": {"currency": "EUR", "minorUnits": "2500", "scale": 2},
        "lines": [{"description": "Work"}],
    })
}

fn import() -> Value {
    json!({
        "schemaVersion": "suite-accounting-import-create.v1",
        "adapterId": "ledger-export",
        "adapterContractVersion": "suite-accounting-adapter.v1",
        "adapterImplementationVersion": "2.1.0",
        "sourceApplication": {"name": "Old Books"},
        "mode": "opening_balances",
        "intendedCoverage": {},
    })
}

#[tokio::test]
async fn a_rejected_draft_does_not_use_up_its_key() {
    let peer = Peer::start().await;
    rejects(&peer, DRAFTS, &draft(&peer), REJECTED).await;
    send(&peer, DRAFTS, KEY, &draft(&peer)).await.expect(201);
}

#[tokio::test]
async fn a_key_belongs_to_the_actor_and_not_to_the_operation() {
    let mut peer = Peer::start().await;
    send(&peer, DRAFTS, KEY, &draft(&peer)).await.expect(201);
    let conflict = "{} | 409 | idempotency_conflict |";
    rejects(&peer, IMPORTS, &import(), conflict).await;
    peer.becomes("other", |client| client);
    send(&peer, IMPORTS, KEY, &import()).await.expect(201);
}

#[tokio::test]
async fn commands_can_be_read_back_by_their_receipts() {
    let peer = Peer::start().await;
    let counterparties = (App::Accounting, "/counterparties");
    let acme = json!({"displayName": "Acme"});
    let acme = send(&peer, counterparties, KEY, &acme).await.expect(201);
    let acme = acme["subjectReference"].clone();
    let draft = changed(&draft(&peer), &json!({"counterpartyReference": acme}));
    let draft = send(&peer, DRAFTS, KEY, &draft).await.expect(201);
    let run = send(&peer, IMPORTS, OTHER_KEY, &import()).await.expect(201);
    let intent = json!({"subjectReference": draft["subjectReference"]});
    let intent = send(&peer, INTENTS, KEY, &intent).await.expect(201);
    let unknown = r#"{"subjectReference": "IVD-0123456789AB"} | 404 | not_found |"#;
    rejects(&peer, INTENTS, &json!({}), unknown).await;

    let [receipt, subject, intent, run] = [
        &draft["commandReceiptReference"],
        &draft["subjectReference"],
        &intent["subjectReference"],
        &run["subjectReference"],
    ];
    let shown = format!(
        r#"
        /counterparties | /items/40/publicReference | {acme}
        /invoices | /items/0/commandReceiptReference | {receipt}
        /invoices | /items/0/status | "approval_pending"
        /invoices | /items/0/recordVersion | 2
        /invoices | /items/0/approvalIntentReference | {intent}
        /overview | /invoiceDrafts | 1
        /overview | /importRuns | 1
        /overview | /approvalIntents | 1
        /overview | /recentCommands/0/subjectReference | {intent}
        /overview | /recentCommands/1/subjectReference | {run}
        /overview | /recentCommands/2/subjectReference | {subject}"#
    );
    shows(&peer, App::Accounting, &shown).await;
}

async fn send_amount(peer: &Peer, key: &str, amount: &str) -> Got {
    let body = changed(&draft(peer), &json!({"taxAmount": {}})).to_string();
    let amount = format!(r#""taxAmount":{amount}"#);
    let body = body.replace(r#""taxAmount":{}"#, &amount);
    peer.post_text(DRAFTS.0, DRAFTS.1, key, body).await
}

#[tokio::test]
async fn amounts_keep_every_digit() {
    let peer = Peer::start().await;
    let amounts = [
        r#"{"minorUnits":123456789012345678901234567890,"scale":2}"#,
        r#"{"minorUnits":123456789012345678901234567891,"scale":2}"#,
        r#"{"minorUnits":"0042","scale":2,"rate":1.10}"#,
    ];
    for (number, amount) in amounts.iter().enumerate() {
        let key = format!("amounts-0000000-{number}");
        send_amount(&peer, &key, amount).await.expect(201);
        if number > 0 {
            // A different digit makes a different command.
            let conflict = send_amount(&peer, "amounts-0000000-0", amount).await;
            conflict.expect(409);
        }
    }
    let invoices = peer.get(App::Accounting, "/invoices").await.text;
    for amount in amounts {
        let amount = format!(r#""taxAmount":{amount}"#);
        assert!(invoices.contains(&amount), "{amount}: {invoices}");
    }
    // A fault that rewrites a response preserves every digit, too.
    let fault = peer.server.fault("listInvoices");
    fault.unknown_enum().unknown_member();
    let invoices = peer.get(App::Accounting, "/invoices").await.text;
    for digits in ["345678901234567890,", "345678901234567891,", "1.10,"] {
        assert!(invoices.contains(digits), "{digits}: {invoices}");
    }
}
