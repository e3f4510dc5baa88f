use sdk_core::ContractMatch;
use sdk_reference_server::Operation;
use serde_json::json;

use crate::fixtures::in_memory;
use crate::support::{Clients, answer, assert_says, once};

#[tokio::test]
async fn a_contract_that_is_served_as_it_was_built_for_has_no_findings() {
    let (server, suite) = in_memory();
    let suite = suite.suite();

    let crm = suite.crm().check_contract().await.unwrap();
    let accounting = suite.accounting().check_contract().await.unwrap();
    let calendar = suite.calendar().check_contract().await.unwrap();

    assert_eq!(crm.matches, ContractMatch::Same);
    assert_eq!(crm.served.as_deref(), Some("3.0.0"));
    assert!(crm.is_as_expected() && accounting.is_as_expected());
    let said = "accounting: built for contract 0.1.1, served 0.1.1 (preview)";
    assert_eq!(accounting.to_string(), said);
    // It has no metadata, so that nothing can be compared.
    let unknown = (calendar.matches, calendar.built_for);
    assert_eq!(unknown, (ContractMatch::Unknown, "1.6.0"));
    assert_eq!(server.requests().len(), 2);
    assert_eq!(server.exchanges(), 0, "metadata needs no token");
}

#[tokio::test]
async fn each_difference_of_the_metadata_is_a_finding() {
    let (server, suite) = in_memory();
    let suite = suite.suite();
    let crm =
        |version: &str| json!({"service": "suite-crm", "version": version, "status": "preview"});
    let mut accounting = json!({
        "schemaVersion": "suite-accounting-api.v2", "service": "suite-accounting", "version": "0.1.1",
        "status": "preview", "openapiPath": "/openapi.json",
    });
    let later = accounting.clone();
    accounting["schemaVersion"] = "suite-accounting-api.v1".into();
    accounting["openapiPath"] = json!(null);
    let all = json!({
        "schemaVersion": "suite-accounting-api.v1", "service": "suite-ledger", "version": "0.2.0", "status": "sunset",
        "sunsetOn": "2027-01-01", "successor": "/v2",
    });
    let (meta, other) = (
        Operation::GetAccountingMetadata,
        ContractMatch::Incompatible,
    );
    for (operation, metadata, matches, findings) in [
        (
            Operation::GetCrmMetadata,
            crm("3.1.0"),
            ContractMatch::Newer,
            &["3.1.0, "][..],
        ),
        (
            Operation::GetCrmMetadata,
            crm("4.0.0"),
            other,
            &["4.0.0, which is not compatible with 3.0.0"],
        ),
        (
            meta,
            later,
            ContractMatch::Same,
            &["suite-accounting-api.v2"],
        ),
        (
            meta,
            accounting,
            ContractMatch::Same,
            &["/meta has openapiPath null"],
        ),
        (
            meta,
            all,
            other,
            &[
                "the application serves 0.2.0, which is not compatible with 0.1.1: expect errors, and update the SDK",
                "its status is sunset, but was preview or not-public when this SDK was built",
                "/meta has service suite-ledger, expected suite-accounting",
                "/meta lacks the member openapiPath",
                "/meta has members that this SDK does not know: successor, sunsetOn",
            ],
        ),
    ] {
        server.clear_faults();
        answer(&server, operation, metadata.to_string());

        let report = match operation.app().id() {
            "crm" => suite.crm().check_contract().await.unwrap(),
            _ => suite.accounting().check_contract().await.unwrap(),
        };

        assert_eq!(
            (report.matches, report.is_as_expected()),
            (matches, false),
            "{report}"
        );
        assert_eq!(report.findings.len(), findings.len(), "{report}");
        for (found, words) in report.findings.iter().zip(findings) {
            assert_says(found, &[words]);
            assert_says(&report, &[&format!("\n  - {found}")]);
        }
    }
}

#[tokio::test]
async fn a_report_is_short_and_on_its_lines_whatever_the_metadata_holds() {
    let (server, suite) = in_memory();
    let crm = suite.crm();
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    let long = "y".repeat(70_000);
    let new = format!(r#"{{"new":{deep},"version":"3.0.0"}}"#);
    let odd = format!(r#"{{"version":"{long}\n\u001b[31m","status":"{long}"}}"#);
    for (metadata, matches) in [
        (new, ContractMatch::Same),
        (odd, ContractMatch::Incompatible),
        (deep, ContractMatch::Unknown),
        ("null".to_owned(), ContractMatch::Unknown),
        (r#"{"version":3}"#.to_owned(), ContractMatch::Unknown),
    ] {
        server.clear_faults();
        answer(&server, Operation::GetCrmMetadata, metadata);

        let report = crm.check_contract().await.unwrap();

        assert_eq!(report.matches, matches);
        let text = report.to_string();
        let compared = matches == ContractMatch::Incompatible;
        assert_eq!(text.contains("cannot be compared with"), compared, "{text}");
        assert!(text.len() < 2_000 && !text.contains('\u{1b}'), "{text}");
        assert_eq!(text.lines().count(), 1 + report.findings.len(), "{text}");
    }
}

#[tokio::test]
async fn metadata_that_cannot_be_had_is_an_error_that_says_what_came() {
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
