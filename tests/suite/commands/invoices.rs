//! Invoice drafts: lines and references are checked, amounts are exact.

use sdk_accounting::types::{InvoiceDraftCreate, TaxAmount};
use sdk_core::RawJson;
use sdk_reference_server::Operation;
use serde_json::json;

use super::samples::tax;
use super::stage::{Stage, assert_refused};

#[tokio::test]
async fn invoices_with_0_and_201_lines_and_bad_references_are_refused_before_the_wire() {
    let stage = Stage::start().await;
    let counterparty = stage.server.sample_counterparty();
    let draft = |reference: &str, lines: usize| {
        InvoiceDraftCreate::new(
            reference,
            tax(),
            (0..lines).map(|line| RawJson::from(json!({"line": line}))),
        )
    };
    let drafts = stage.accounting.invoice_drafts();
    let cases: [(&str, usize, &[&str]); 5] = [
        (
            &counterparty,
            0,
            &["`lines`", "have 1 to 200 items", "0 items"],
        ),
        (
            &counterparty,
            201,
            &["`lines`", "have 1 to 200 items", "201 items"],
        ),
        (
            "FCP-abc",
            1,
            &["`counterpartyReference`", "^FCP-[A-Z0-9]{12}$", "FCP-abc"],
        ),
        (
            "PER-0123456789AB",
            1,
            &["`counterpartyReference`", "PER-0123456789AB"],
        ),
        ("", 1, &["`counterpartyReference`"]),
    ];
    for (reference, lines, words) in cases {
        let error = drafts.create(&draft(reference, lines)).await.unwrap_err();
        println!("{lines:>3} lines, {reference:?}: {error}");
        assert_refused(&error, words);
    }
    assert!(stage.server.requests().is_empty());

    for lines in [1, 200] {
        let receipt = drafts.create(&draft(&counterparty, lines)).await.unwrap();
        println!(
            "{lines:>3} lines, {counterparty:?}: {} {}",
            receipt.http_status(),
            receipt.outcome
        );
    }
}

#[tokio::test]
async fn minor_units_go_out_digit_by_digit_whatever_they_are() {
    let stage = Stage::start().await;
    let thirty = 123_456_789_012_345_678_901_234_567_890_i128;
    let amounts: [(&str, RawJson, &str); 8] = [
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
