//! Rows 33 and 34: responses of a later version of the service.

use sdk_core::{CallOptions, Effect, ErrorKind, SchemaPolicy};
use sdk_crm::types::AttentionType;
use sdk_reference_server::Operation;
use serde_json::json;

use crate::fixtures::{in_memory, reaching};
use crate::peer::json;
use crate::samples::kick_off;
use crate::support::{Clients, Events, assert_says, assert_tried, run_script};

#[tokio::test]
async fn fault_33_unknown_values_unusual_references_and_missing_fields_are_accepted() {
    let odd = json!({
        "schemaVersion": "suite-crm-today.v1",
        "generatedAt": "2026-01-15T09:00:00Z",
        "workspace": "w",
        "counts": {"overdue": 1, "later": 12_345_678_901_234_567_890_u64},
        "attention": [
            {"type": "from_the_future", "owner": {"publicReference": "nobody"}, "recordVersion": null},
            {},
        ],
        "recentChanges": [{"subjectType": "spaceship", "actor": {}}],
        "memberFromTheFuture": 1,
    });
    let run = run_script([json(200, &odd)], async |suite| {
        suite.crm().today().get().await
    })
    .await;
    let today = run.result.unwrap();

    assert_eq!(serde_json::to_value(&*today).unwrap(), odd);
    let future = AttentionType::Unknown("from_the_future".to_owned());
    assert_eq!(today.attention[0].type_, Some(future));
    assert!(today.extra.get("memberFromTheFuture").is_some());
    let owner = today.attention[0].owner.as_ref().unwrap();
    let reference = owner.public_reference.as_ref().unwrap();
    assert!(!reference.is_well_formed());
    assert_eq!(reference.as_str(), "nobody");
    assert_eq!(today.attention[1].owner, None);
}

#[tokio::test]
async fn fault_34_another_schema_version_is_an_error_that_names_both_or_a_configured_warning() {
    let (events, _guard) = Events::here();
    let (server, builder) = in_memory();
    server.fault(Operation::GetToday).schema_suffix("v9");
    let (crm, lenient) = (builder.crm(), SchemaPolicy::Warn);
    let suite = reaching(&server).schema_policy(lenient);
    let defaults = CallOptions::default().with_schema_policy(lenient);
    for call in [
        crm.today().get().schema_policy(lenient),
        crm.with_defaults(defaults).today().get(),
        suite.crm().today().get(),
    ] {
        let today = call.await.unwrap();
        assert_eq!(today.schema_version, "suite-crm-today.v9");
        assert!(!today.attention.is_empty());
    }

    let warnings = events.lines("WARN", &["suite-crm-today.v1", "suite-crm-today.v9"]);
    assert_eq!(warnings.len(), 3, "{}", events.text());
    // The policy of the call doesn't change the client.
    let error = crm.today().get().await.unwrap_err();
    assert_tried(&error, ErrorKind::SchemaVersion, Effect::Unknown, 1);
    assert_says(&error, &["suite-crm-today.v9", "suite-crm-today.v1"]);

    // The command may have been applied.
    let event = Operation::SubmitEventCommand;
    server.fault(event).schema_suffix("v9");
    let error = kick_off(&reaching(&server).calendar()).await.unwrap_err();
    assert_tried(&error, ErrorKind::SchemaVersion, Effect::Unknown, 1);
    assert!(error.command().is_some());
    assert_eq!(server.commits(event), 1);
}
