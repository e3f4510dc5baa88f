//! Rows 33 and 34: replies of a later version of the service.

use sdk_core::{Effect, ErrorKind, Response, SchemaPolicy};
use sdk_crm::types::AttentionType;
use sdk_reference_server::Operation;
use serde::Serialize;
use serde_json::{Value, json};

use super::fixtures::server;
use crate::peer::{Peer, json};
use crate::samples::{event, kick_off};
use crate::support::{Clients, Events, assert_says, builder_for, calendar_for, crm_at, crm_for};

/// What came is what is written back, to the last member.
fn survives<T: Serialize>(response: &Response<T>) -> Value {
    let came: Value = serde_json::from_slice(response.bytes()).unwrap();
    assert_eq!(serde_json::to_value(&**response).unwrap(), came);
    came
}

#[tokio::test]
async fn fault_33_unknown_values_and_members_are_kept_and_written_back() {
    let server = server().await;
    let crm = crm_for(&server);
    server.fault_everywhere().unknown_enum().unknown_member();

    let today = crm.today().get().await.unwrap();
    survives(&today);
    assert_eq!(
        today.attention[0].type_,
        Some(AttentionType::Unknown("from_the_future".to_owned()))
    );
    assert!(today.extra.get("memberFromTheFuture").is_some());

    survives(&crm.funnel().get().await.unwrap());
    survives(&crm.presentation().get().await.unwrap());
    survives(&crm.people().list().await.unwrap());
    survives(&crm.opportunities().list().await.unwrap());
    let intake = server.sample_intake_submission();
    survives(&crm.intake().get(intake).await.unwrap());
    let event = event("Kick-off");
    let receipt = calendar_for(&server)
        .events()
        .command(&event)
        .await
        .unwrap();
    survives(&receipt.into_response());
}

#[tokio::test]
async fn fault_33_odd_references_and_missing_members_are_taken() {
    let odd = json!({
        "schemaVersion": "suite-crm-today.v1",
        "generatedAt": "2026-01-15T09:00:00Z",
        "workspace": "w",
        "counts": {"overdue": 1, "later": 12_345_678_901_234_567_890_u64},
        "attention": [
            {"owner": {"publicReference": "nobody"}, "recordVersion": null},
            {},
        ],
        "recentChanges": [{"subjectType": "spaceship", "actor": {}}],
    });
    let peer = Peer::start([json(200, &odd)]);

    let today = crm_at(&peer).today().get().await.unwrap();

    assert_eq!(survives(&today), odd);
    let owner = today.attention[0].owner.as_ref().unwrap();
    let reference = owner.public_reference.as_ref().unwrap();
    assert!(!reference.is_well_formed());
    assert_eq!(reference.as_str(), "nobody");
    assert_eq!(today.attention[1].owner, None);
}

#[tokio::test]
async fn fault_34_another_schema_version_is_an_error_that_names_both() {
    let server = server().await;
    let crm = crm_for(&server);
    server.fault(Operation::GetToday).schema_suffix("v9");

    let error = crm.today().get().await.unwrap_err();

    assert_eq!(error.kind(), ErrorKind::SchemaVersion);
    assert_eq!((error.status(), error.attempts()), (Some(200), 1));
    assert_says(&error, &["suite-crm-today.v9", "suite-crm-today.v1"]);
    assert!(error.request_id().is_some() && error.body().is_some());
    assert_eq!(server.attempts(Operation::GetToday), 1);
}

#[tokio::test]
async fn fault_34_a_command_with_another_schema_version_may_have_happened() {
    let server = server().await;
    server
        .fault(Operation::SubmitEventCommand)
        .schema_suffix("v2");

    let error = kick_off(&calendar_for(&server)).await.unwrap_err();

    assert_eq!(error.kind(), ErrorKind::SchemaVersion);
    assert_eq!((error.attempts(), error.effect()), (1, Effect::Unknown));
    assert!(error.command().is_some());
    assert_eq!(server.commits(Operation::SubmitEventCommand), 1);
}

#[tokio::test]
async fn fault_34_it_is_a_warning_if_so_configured() {
    let (events, _guard) = Events::here();
    let server = server().await;
    server.fault(Operation::GetToday).schema_suffix("v9");
    let lenient = builder_for(&server)
        .schema_policy(SchemaPolicy::Warn)
        .build()
        .unwrap();
    let suites = [
        lenient.crm().today().get(),
        crm_for(&server)
            .today()
            .get()
            .schema_policy(SchemaPolicy::Warn),
    ];

    for call in suites {
        let today = call.await.unwrap();
        assert_eq!(today.schema_version, "suite-crm-today.v9");
    }

    let warnings = events.lines("WARN", &["suite-crm-today.v1", "suite-crm-today.v9"]);
    assert_eq!(warnings.len(), 2, "{}", events.text());
}
