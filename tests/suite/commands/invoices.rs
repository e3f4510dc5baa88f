//! Invoice drafts: lines and references are checked, amounts are exact.

use sdk_accounting::types::InvoiceDraftCreate;
use sdk_core::RawJson;
use sdk_reference_server::Operation;
use serde_json::json;

use super::stage::Stage;
use crate::samples::tax;
use crate::support::assert_says;

#[tokio::test]
async fn minor_units_go_out_digit_by_digit_whatever_they_are() {
    let stage = Stage::start().await;
    let thirty = 123_456_789_012_345_678_901_234_567_890_i128;
    let [forty, point, long] = [
        "1234567890123456789012345678901234567890",
        "19.00",
        "123456789012345678901234567890.10",
    ];
    let raw = |digits: &str| -> RawJson { digits.parse().unwrap() };
    for (amount, digits) in [
        (thirty.into(), "123456789012345678901234567890"),
        (raw(forty), forty),
        ("1900".into(), "\"1900\""),
        (
            thirty.to_string().into(),
            "\"123456789012345678901234567890\"",
        ),
        ((-1900).into(), "-1900"),
        ((-thirty).into(), "-123456789012345678901234567890"),
        (u64::MAX.into(), "18446744073709551615"),
        (raw(point), point),
        (raw(long), long),
    ] {
        let mut tax = tax();
        tax.minor_units = Some(amount);
        let counterparty = stage.server.sample_counterparty();
        let draft = InvoiceDraftCreate::new(counterparty, tax, [json!({}).into()]);

        stage
            .accounting
            .invoice_drafts()
            .create(&draft)
            .await
            .unwrap();

        let body = stage.sent(Operation::CreateInvoiceDraft);
        let sent = format!(r#""taxAmount":{{"currency":"EUR","minorUnits":{digits},"scale":2}}"#);
        assert_says(&body, &[&sent]);
        // And back, out of what was sent.
        let again: InvoiceDraftCreate = serde_json::from_str(&body).unwrap();
        assert_eq!(
            again.tax_amount.minor_units.as_ref().unwrap().as_str(),
            digits
        );
        assert_eq!(serde_json::to_string(&again).unwrap(), body);
    }
}

#[tokio::test]
async fn an_optional_member_of_a_draft_can_be_left_out_or_be_null() {
    let stage = Stage::start().await;
    let counterparty = stage.server.sample_counterparty();
    let draft = InvoiceDraftCreate::new(counterparty, tax(), [json!({}).into()]);
    let drafts = stage.accounting.invoice_drafts();

    drafts.create(&draft).await.unwrap();
    let sent = || stage.sent(Operation::CreateInvoiceDraft);
    assert!(!sent().contains("dueDate"));
    let null = draft
        .customer_note("Thank you.")
        .member("dueDate", RawJson::null());
    drafts.create(&null).await.unwrap();
    assert_says(&sent(), &[r#""dueDate":null"#]);
}
