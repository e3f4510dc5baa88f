//! Invoice drafts: lines and references are checked, amounts are exact.

use sdk_accounting::types::{InvoiceDraftCreate, TaxAmount};
use sdk_core::RawJson;
use sdk_reference_server::Operation;
use serde_json::json;

use super::samples::tax;
use super::stage::Stage;

#[tokio::test]
async fn minor_units_go_out_digit_by_digit_whatever_they_are() {
    let stage = Stage::start().await;
    let thirty = 123_456_789_012_345_678_901_234_567_890_i128;
    let amounts: [(&str, RawJson, &str); 9] = [
        ("30 digits", thirty.into(), "123456789012345678901234567890"),
        (
            "40 digits",
            "1234567890123456789012345678901234567890".parse().unwrap(),
            "1234567890123456789012345678901234567890",
        ),
        ("a string", "1900".into(), "\"1900\""),
        (
            "a string of 30 digits",
            thirty.to_string().into(),
            "\"123456789012345678901234567890\"",
        ),
        ("negative", (-1900).into(), "-1900"),
        (
            "negative, 30 digits",
            (-thirty).into(),
            "-123456789012345678901234567890",
        ),
        (
            "the largest of 64 bits",
            u64::MAX.into(),
            "18446744073709551615",
        ),
        ("with a point", "19.00".parse().unwrap(), "19.00"),
        (
            "30 digits and a point",
            "123456789012345678901234567890.10".parse().unwrap(),
            "123456789012345678901234567890.10",
        ),
    ];
    for (name, amount, digits) in amounts {
        let tax = TaxAmount::new()
            .currency("EUR")
            .minor_units(amount)
            .scale(2);
        let counterparty = stage.server.sample_counterparty();
        let draft = InvoiceDraftCreate::new(counterparty, tax, [json!({}).into()]);

        let receipt = stage
            .accounting
            .invoice_drafts()
            .create(&draft)
            .await
            .unwrap();

        let body = stage.sent(Operation::CreateInvoiceDraft);
        let expected =
            format!(r#""taxAmount":{{"currency":"EUR","minorUnits":{digits},"scale":2}}"#);
        assert!(body.contains(&expected), "{body}");
        // And back, out of what was sent.
        let again: InvoiceDraftCreate = serde_json::from_str(&body).unwrap();
        assert_eq!(
            again.tax_amount.minor_units.as_ref().unwrap().as_str(),
            digits
        );
        assert_eq!(serde_json::to_string(&again).unwrap(), body);
        println!(
            "minor units, {name}: sent as {digits}, {} {}",
            receipt.http_status(),
            receipt.outcome
        );
    }
}

#[tokio::test]
async fn an_optional_member_of_a_draft_can_be_left_out_or_be_null() {
    let stage = Stage::start().await;
    let counterparty = stage.server.sample_counterparty();
    let draft = InvoiceDraftCreate::new(counterparty, tax(), [json!({}).into()]);
    let drafts = stage.accounting.invoice_drafts();

    drafts.create(&draft).await.unwrap();
    assert!(
        !stage
            .sent(Operation::CreateInvoiceDraft)
            .contains("dueDate")
    );
    let null = draft
        .customer_note("Thank you.")
        .member("dueDate", RawJson::null());
    drafts.create(&null).await.unwrap();
    assert!(
        stage
            .sent(Operation::CreateInvoiceDraft)
            .contains(r#""dueDate":null"#)
    );
}
