use sdk_core::ContractMatch;
use sdk_reference_server::{Operation, ReferenceServer};
use serde_json::json;

use crate::support::{Clients, answer, assert_says, crm_for, once, suite_for};

#[tokio::test]
async fn a_contract_that_is_served_as_it_was_built_for_has_no_findings() {
    let server = ReferenceServer::start().await;
    let suite = suite_for(&server);

    let crm = crm_for(&server).check_contract().await.unwrap();
    let accounting = suite.accounting().check_contract().await.unwrap();

    assert_eq!(crm.matches, ContractMatch::Same);
    assert_eq!(crm.served.as_deref(), Some("3.0.0"));
    let as_expected = crm.is_as_expected() && accounting.is_as_expected();
    assert!(
        as_expected,
        "{crm}
{accounting}"
    );
    let said = "accounting: built for contract 0.1.1, served 0.1.1 (preview)";
    assert_eq!(accounting.to_string(), said);
    assert_eq!(server.exchanges(), 0, "metadata needs no token");
}

#[tokio::test]
async fn a_later_contract_is_told_and_a_new_major_one_is_incompatible() {
    let server = ReferenceServer::start().await;
    let crm = crm_for(&server);
    for (version, expected) in [
        ("3.1.0", ContractMatch::Newer),
        ("4.0.0", ContractMatch::Incompatible),
    ] {
        server.clear_faults();
        let metadata = json!({"service": "suite-crm", "version": version, "status": "preview"});
        answer(&server, Operation::GetCrmMetadata, metadata.to_string());

        let report = crm.check_contract().await.unwrap();

        assert_eq!(report.matches, expected);
        assert_eq!(report.findings.len(), 1);
        assert_says(&report, &[version, "3.0.0"]);
    }
}

#[tokio::test]
async fn metadata_of_another_schema_is_a_finding_and_not_a_failure() {
    let server = ReferenceServer::start().await;
    let fault = server.fault(Operation::GetAccountingMetadata);
    fault.schema_suffix("v2");
    let accounting = suite_for(&server).accounting();

    let report = accounting.check_contract().await.unwrap();

    assert_says(&report, &["suite-accounting-api.v2"]);
}

#[tokio::test]
async fn what_differs_in_the_metadata_itself_is_told() {
    let server = ReferenceServer::start().await;
    let accounting = suite_for(&server).accounting();
    let metadata = json!({
        "schemaVersion": "suite-accounting-api.v1", "service": "suite-ledger", "version": "0.2.0", "status": "sunset",
        "sunsetOn": "2027-01-01", "successor": "/v2",
    });
    let metadata = metadata.to_string();
    answer(&server, Operation::GetAccountingMetadata, metadata);

    let report = accounting.check_contract().await.unwrap();

    assert_eq!(report.matches, ContractMatch::Incompatible);
    assert!(!report.is_as_expected());
    assert_eq!(
        report.to_string(),
        "accounting: built for contract 0.1.1, served 0.2.0 (sunset)\n  \
         - the application serves 0.2.0, which is not compatible with 0.1.1: expect errors, and update the SDK\n  \
         - its status is sunset, but was preview or not-public when this SDK was built\n  \
         - /meta has service suite-ledger, expected suite-accounting\n  \
         - /meta lacks the member openapiPath\n  \
         - /meta has members that this SDK does not know: successor, sunsetOn"
    );
    assert_eq!(server.attempts(Operation::GetAccountingMetadata), 1);
}

#[tokio::test]
async fn null_for_a_member_that_is_never_null_is_told() {
    let server = ReferenceServer::start().await;
    let metadata = json!({
        "schemaVersion": "suite-accounting-api.v1", "service": "suite-accounting", "version": "0.1.1",
        "status": "preview", "openapiPath": null,
    });
    answer(
        &server,
        Operation::GetAccountingMetadata,
        metadata.to_string(),
    );

    let report = suite_for(&server)
        .accounting()
        .check_contract()
        .await
        .unwrap();

    assert_eq!(report.findings, ["/meta has openapiPath null"]);
    assert!(!report.is_as_expected());
}

#[tokio::test]
async fn a_report_is_short_and_on_its_lines_whatever_the_metadata_holds() {
    let server = ReferenceServer::start().await;
    let crm = crm_for(&server);
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
    let server = ReferenceServer::start().await;
    let crm = crm_for(&server);

    let page = "<html><body>Sign in</body></html>";
    once(&server, Operation::GetCrmMetadata).body(page, "text/html");
    let error = crm.check_contract().await.unwrap_err();
    assert_says(&error, &["Sign in"]);

    once(&server, Operation::GetCrmMetadata).status(404);
    assert!(crm.check_contract().await.unwrap_err().is_not_found());
    assert_eq!(server.attempts(Operation::GetCrmMetadata), 2);
}

#[tokio::test]
async fn an_application_without_metadata_says_that_nothing_can_be_compared() {
    let server = ReferenceServer::start().await;
    let calendar = suite_for(&server).calendar();

    let report = calendar.check_contract().await.unwrap();

    assert_eq!(report.matches, ContractMatch::Unknown);
    assert_eq!(report.built_for, "1.6.0");
    assert!(server.requests().is_empty());
}
