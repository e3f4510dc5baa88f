use sdk_core::{CallOptions, ErrorKind, SchemaPolicy};
use sdk_reference_server::{Operation, ReferenceServer};

use crate::support::{Clients, assert_says, builder_for, crm_for};

#[tokio::test]
async fn fault_34_a_new_suffix_is_an_error_that_names_both_and_is_not_repeated() {
    let server = ReferenceServer::start().await;
    server.fault(Operation::GetToday).schema_suffix("v9");

    let error = crm_for(&server).today().get().await.unwrap_err();

    assert_eq!(error.kind(), ErrorKind::SchemaVersion);
    assert_says(&error, &["suite-crm-today.v1", "suite-crm-today.v9"]);
    assert!(error.body().is_some(), "the reply is at hand");
    assert_eq!(server.attempts(Operation::GetToday), 1);
}

#[tokio::test]
async fn fault_34_a_new_suffix_is_a_warning_per_call_per_client_or_per_suite() {
    let server = ReferenceServer::start().await;
    server.fault(Operation::GetToday).schema_suffix("v9");
    let crm = crm_for(&server);
    let tolerant = CallOptions::default().with_schema_policy(SchemaPolicy::Warn);
    let suite = builder_for(&server)
        .schema_policy(SchemaPolicy::Warn)
        .build()
        .unwrap();

    let by_call = crm
        .today()
        .get()
        .schema_policy(SchemaPolicy::Warn)
        .await
        .unwrap();
    let by_client = crm.with_defaults(tolerant).today().get().await.unwrap();
    let by_suite = suite.crm().today().get().await.unwrap();

    for today in [&by_call, &by_client, &by_suite] {
        assert_eq!(today.schema_version, "suite-crm-today.v9");
        assert!(!today.attention.is_empty());
    }
    assert!(
        crm.today().get().await.is_err(),
        "the client itself is as strict as before"
    );
}
