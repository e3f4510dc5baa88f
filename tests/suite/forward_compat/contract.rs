//! Contract reports: every difference between a service's metadata and the contract that the SDK was built from.

use sdk_core::ContractMatch::{Incompatible, Newer, Same, Unknown};
use sdk_reference_server::Operation;
use serde_json::json;

use crate::fixtures::in_memory;
use crate::support::{Clients, answer, assert_says, once};

#[tokio::test]
async fn an_unchanged_contract_has_no_findings() {
    let (server, suite) = in_memory();
    let suite = suite.suite();

    let crm = suite.crm().check_contract().await.unwrap();
    let accounting = suite.accounting().check_contract().await.unwrap();
    let calendar = suite.calendar().check_contract().await.unwrap();

    assert_eq!(crm.matches, Same);
    assert_eq!(crm.served.as_deref(), Some("3.0.0"));
    assert!(crm.is_as_expected() && accounting.is_as_expected());
    let phrase = "accounting: built for contract 0.1.1, served 0.1.1 (preview)";
    assert_eq!(accounting.to_string(), phrase);
    // The Calendar has no metadata, so nothing can be compared.
    let unknown = (calendar.matches, calendar.built_for);
    assert_eq!(unknown, (Unknown, "1.6.0"));
    assert_eq!(server.requests().len(), 2);
    assert_eq!(server.exchanges(), 0, "metadata needs no token");
}

#[tokio::test]
async fn each_difference_of_the_metadata_is_a_finding() {
    let (server, suite) = in_memory();
    let suite = suite.suite();
    let crm = |version| json!({"service": "suite-crm", "version": version, "status": "preview"});
    let later = json!({
        "schemaVersion": "suite-accounting-api.v2", "service": "suite-accounting", "version": "0.1.1",
        "status": "preview", "openapiPath": null,
    });
    let all = json!({
        "schemaVersion": "suite-accounting-api.v1", "service": "suite-ledger", "version": "0.2.0", "status": "sunset",
        "sunsetOn": "2027-01-01", "successor": "/v2",
    });
    let all_findings = [
        "the application serves 0.2.0, which is not compatible with 0.1.1: expect errors, and update the SDK",
        "its status is sunset, but was preview or not-public when this SDK was built",
        "/meta has service suite-ledger, expected suite-accounting",
        "/meta lacks the field openapiPath",
        "/meta has fields that this SDK does not know: successor, sunsetOn",
    ];
    for (metadata, matches, findings) in [
        (crm("3.1.0"), Newer, &["3.1.0, "][..]),
        (crm("4.0.0"), Incompatible, &["not compatible with 3.0.0"]),
        (
            later,
            Same,
            &["suite-accounting-api.v2", "openapiPath null"],
        ),
        (all, Incompatible, &all_findings),
    ] {
        server.clear_faults();
        let text = metadata.to_string();
        answer(&server, Operation::GetCrmMetadata, text.clone());
        answer(&server, Operation::GetAccountingMetadata, text);

        let report = match metadata["service"].as_str() {
            Some("suite-crm") => suite.crm().check_contract().await.unwrap(),
            _ => suite.accounting().check_contract().await.unwrap(),
        };

        let got = (report.matches, report.is_as_expected());
        assert_eq!(got, (matches, false), "{report}");
        assert_eq!(report.findings.len(), findings.len(), "{report}");
        for (found, words) in report.findings.iter().zip(findings) {
            assert_says(found, &[words]);
            assert_says(&report, &[&format!("\n  - {found}")]);
        }
    }
}

#[tokio::test]
async fn a_report_stays_short_and_well_formed_for_any_metadata() {
    let (server, suite) = in_memory();
    let crm = suite.crm();
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    let long = "y".repeat(70_000);
    let new = format!(r#"{{"new":{deep},"version":"3.0.0"}}"#);
    let odd = format!(r#"{{"version":"{long}\n\u001b[31m","status":"{long}"}}"#);
    for (metadata, matches) in [
        (new, Same),
        (odd, Incompatible),
        (deep, Unknown),
        ("null".to_owned(), Unknown),
        (r#"{"version":3}"#.to_owned(), Unknown),
    ] {
        server.clear_faults();
        answer(&server, Operation::GetCrmMetadata, metadata);

        let report = crm.check_contract().await.unwrap();

        assert_eq!(report.matches, matches);
        let text = report.to_string();
        let compared = matches == Incompatible;
        assert_eq!(text.contains("cannot be compared with"), compared, "{text}");
        assert!(text.len() < 2_000 && !text.contains('\u{1b}'), "{text}");
        assert_eq!(text.lines().count(), 1 + report.findings.len(), "{text}");
    }
}

#[tokio::test]
async fn unreadable_metadata_is_an_error_that_quotes_the_response() {
    let (server, suite) = in_memory();
    let crm = suite.crm();

    let page = "<html><body>Sign in</body></html>";
    once(&server, Operation::GetCrmMetadata).body(page, "text/html");
    let error = crm.check_contract().await.unwrap_err();
    assert_says(&error, &["Sign in"]);

    once(&server, Operation::GetCrmMetadata).status(404);
    assert!(crm.check_contract().await.unwrap_err().is_not_found());
    assert_eq!(server.attempts(Operation::GetCrmMetadata), 2);
}
