use sdk_core::ContractMatch;
use sdk_reference_server::{Operation, ReferenceServer};
use serde_json::json;

use crate::support::{crm_for, suite_for};

#[tokio::test]
async fn a_contract_that_is_served_as_it_was_built_for_has_no_findings() {
    let server = ReferenceServer::start().await;
    let suite = suite_for(&server);

    let crm = crm_for(&server).check_contract().await.unwrap();
    let accounting = sdk_accounting::Client::new(&suite)
        .unwrap()
        .check_contract()
        .await
        .unwrap();

    assert_eq!(
        (crm.matches, crm.served.as_deref()),
        (ContractMatch::Same, Some("3.0.0"))
    );
    assert!(
        crm.is_as_expected() && accounting.is_as_expected(),
        "{crm}\n{accounting}"
    );
    assert_eq!(
        accounting.to_string(),
        "accounting: built for contract 0.1.1, served 0.1.1 (preview)"
    );
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
        server
            .fault(Operation::GetCrmMetadata)
            .body(metadata.to_string(), "application/json");

        let report = crm.check_contract().await.unwrap();

        assert_eq!(report.matches, expected);
        assert_eq!(report.findings.len(), 1);
        assert!(
            report.to_string().contains(version) && report.to_string().contains("3.0.0"),
            "{report}"
        );
    }
}

#[tokio::test]
async fn metadata_of_another_schema_is_a_finding_and_not_a_failure() {
    let server = ReferenceServer::start().await;
    server
        .fault(Operation::GetAccountingMetadata)
        .schema_suffix("v2");
    let accounting = sdk_accounting::Client::new(&suite_for(&server)).unwrap();

    let report = accounting.check_contract().await.unwrap();

    assert!(
        report.to_string().contains("suite-accounting-api.v2"),
        "{report}"
    );
}

#[tokio::test]
async fn an_application_without_metadata_says_that_nothing_can_be_compared() {
    let server = ReferenceServer::start().await;
    let calendar = sdk_calendar::Client::new(&suite_for(&server)).unwrap();

    let report = calendar.check_contract().await.unwrap();

    assert_eq!(
        (report.matches, report.built_for),
        (ContractMatch::Unknown, "1.6.0")
    );
    assert!(server.requests().is_empty());
}
