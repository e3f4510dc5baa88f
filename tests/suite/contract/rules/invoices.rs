//! The body of an invoice draft.

use sdk_accounting::types::CounterpartyReference;
use sdk_reference_server::{App, Operation};
use serde_json::{Value, json};

use crate::contract::both::{Both, assert_refused_locally};
use crate::samples::draft;

const PATH: &str = "/invoice-drafts";

/// A body that the server takes, to be spoilt.
fn body(counterparty: &str) -> Value {
    json!({
        "schemaVersion": "suite-accounting-invoice-draft-create.v1",
        "counterpartyReference": counterparty,
        "taxAmount": {"currency": "EUR", "minorUnits": "1900", "scale": 2},
        "lines": [{"description": "Workshop"}],
    })
}

fn with(mut body: Value, member: &str, value: Value) -> Value {
    body[member] = value;
    body
}

#[tokio::test]
async fn a_draft_has_1_to_200_lines() {
    let both = Both::sides_of(App::Accounting).await;
    let counterparty = both.world.server.sample_counterparty();
    let drafts = both.world.accounting.invoice_drafts();

    for count in [0, 201] {
        let why = format!("`lines` must have 1 to 200 items: got {count} items");
        let spoilt = with(body(&counterparty), "lines", json!(vec![json!({}); count]));
        both.refuse_command(
            drafts.create(&draft(&counterparty, count)),
            &why,
            PATH,
            &spoilt,
        )
        .await;
    }
    for count in [1, 200] {
        let receipt = drafts.create(&draft(&counterparty, count)).await.unwrap();
        assert_eq!(receipt.http_status(), 201);
    }
    assert_eq!(both.world.server.commits(Operation::CreateInvoiceDraft), 2);
}

#[tokio::test]
async fn the_counterparty_of_a_draft_has_the_form_of_one() {
    let both = Both::sides_of(App::Accounting).await;
    let drafts = both.world.accounting.invoice_drafts();

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
        both.refuse_command(drafts.create(&draft(text, 1)), &why, PATH, &body(text))
            .await;
        let parsed = text.parse::<CounterpartyReference>().unwrap_err();
        assert_refused_locally(&parsed, &format!("`CounterpartyReference` {rule}"));
    }
    // Of the right form, and of nobody: a rejection, not a broken rule.
    let error = drafts
        .create(&draft("FCP-ZZZZZZZZZZZZ", 1))
        .await
        .unwrap_err();
    assert_eq!(error.status(), Some(422));
}

/// The SDK's types always have these members, so only the server's side can be tried.
#[tokio::test]
async fn a_draft_without_a_required_member_is_refused() {
    let both = Both::sides_of(App::Accounting).await;
    let whole = body(&both.world.server.sample_counterparty());

    for member in [
        "schemaVersion",
        "counterpartyReference",
        "taxAmount",
        "lines",
    ] {
        both.server_refuses_command(PATH, &with(whole.clone(), member, Value::Null))
            .await;
    }
    let other = json!("suite-accounting-invoice-draft-create.v2");
    both.server_refuses_command(PATH, &with(whole.clone(), "schemaVersion", other))
        .await;
    both.server_refuses_command(PATH, &with(whole.clone(), "lines", json!({})))
        .await;
    both.server_refuses_command(PATH, &with(whole, "taxAmount", json!({"scale": "2"})))
        .await;
    assert_eq!(both.world.server.commits(Operation::CreateInvoiceDraft), 0);
}

#[tokio::test]
async fn optional_members_of_a_draft_have_their_types() {
    let both = Both::sides_of(App::Accounting).await;
    let whole = body(&both.world.server.sample_counterparty());

    for member in ["billingProfileReference", "customerNote", "internalNote"] {
        both.server_refuses_command(PATH, &with(whole.clone(), member, json!(1)))
            .await;
    }
    for member in ["documentDate", "dueDate"] {
        for value in [json!("15.01.2026"), json!("2026-02-30"), json!(20_260_115)] {
            both.server_refuses_command(PATH, &with(whole.clone(), member, value))
                .await;
        }
    }
}
