//! Rows 59 and 66: members of another type or value than documented.

use sdk_accounting::types::ImportMode;
use sdk_calendar::types::CalendarCommandResult;
use sdk_core::{Effect, ErrorKind, Method, Record, SchemaPolicy};
use sdk_reference_server::{Operation, ReferenceServer};
use serde_json::{Value, json};

use super::shapes::assert_unreadable;
use crate::fixtures::{PERSON, add_person, created};
use crate::peer::{Peer, Step, always, json, reply};
use crate::samples::{import, kick_off};
use crate::support::{
    Clients, Events, answer, assert_failed, builder_for, calendar_at, crm_at, crm_for, suite_at,
};

#[tokio::test]
async fn fault_59_an_item_or_record_of_another_type_is_an_error_with_its_path() {
    let server = ReferenceServer::start().await;
    let crm = crm_for(&server);
    for row in [
        r#"[{"a": 1}, null] | at `items[1]`: expected an object, found null"#,
        r#"["Ann"] | at `items[0]`: expected an object, found a string of 5 bytes"#,
        r#""none" | at `items`: expected an array, found a string of 6 bytes"#,
    ] {
        let (items, said) = row.split_once(" | ").unwrap();
        let page = format!(r#"{{"items":{items},"nextCursor":null}}"#);
        answer(&server, Operation::ListPeople, page).times(1);
        let error = crm.people().list().await.unwrap_err();
        assert_unreadable(&error, ErrorKind::Decode, &[said]);
    }
    answer(&server, Operation::GetPerson, "\"Ann\"").times(1);
    let error = crm.people().get(server.sample_person()).await.unwrap_err();
    assert_unreadable(&error, ErrorKind::Decode, &["expected an object"]);
    // Nor does a record that a caller made of something else answer as if the member were absent.
    let text: Record = "\"Ann\"".parse().unwrap();
    assert!(text.get::<String>("displayName").is_err());
}

#[tokio::test]
async fn fault_59_a_constant_with_another_value_is_an_error_or_reported() {
    let result = |outcome: &str| {
        let mut result: Value = serde_json::from_slice(created().text()).unwrap();
        result["outcome"] = json!(outcome);
        json(201, &result)
    };
    let peer = Peer::start([result("failed"), result("failed")]);
    let calendar = calendar_at(&peer);
    let error = kick_off(&calendar).await.unwrap_err();
    let said = "at `outcome`: expected the constant succeeded, found failed";
    assert_unreadable(&error, ErrorKind::Decode, &[said, "its effect is unknown"]);
    assert_eq!(peer.requests().len(), 1);

    let (events, _guard) = Events::here();
    let call = calendar
        .send_prepared(error.command().unwrap())
        .typed::<CalendarCommandResult>();
    let receipt = call.schema_policy(SchemaPolicy::Warn).await.unwrap();
    assert_eq!(receipt.outcome, "failed");
    let words = ["a constant has an unexpected value", "outcome", "failed"];
    let warned = events.lines("WARN", &words);
    assert_eq!(warned.len(), 1, "{}", events.text());

    let server = ReferenceServer::start().await;
    let crm = crm_for(&server);
    let mut presentation = serde_json::to_value(&*crm.presentation().get().await.unwrap()).unwrap();
    presentation["appId"] = json!("calendar");
    let presentation = presentation.to_string();
    answer(&server, Operation::GetPresentation, presentation);
    let error = crm.presentation().get().await.unwrap_err();
    let said = "at `appId`: expected the constant crm, found calendar";
    assert_unreadable(&error, ErrorKind::Decode, &[said]);
}

#[tokio::test]
async fn fault_66_a_schema_version_that_is_null_or_absent_is_reported_like_another() {
    let server = ReferenceServer::start().await;
    let crm = crm_for(&server);
    let expected = "this SDK was built for suite-crm-opportunities-page.v2";
    let page = |version: &str| format!(r#"{{{version}"items":[],"nextCursor":null}}"#);
    for (version, said) in [
        ("", "no schemaVersion"),
        (r#""schemaVersion":null,"#, "schemaVersion null"),
        (r#""schemaVersion":2,"#, "schemaVersion 2"),
        (r#""schemaVersion":"page.v3","#, "schemaVersion page.v3"),
    ] {
        answer(&server, Operation::ListOpportunities, page(version)).times(2);
        let error = crm.opportunities().list().await.unwrap_err();
        assert_unreadable(&error, ErrorKind::SchemaVersion, &[said, expected]);
        let raw = crm.raw_call(&sdk_crm::operations::LIST_OPPORTUNITIES);
        assert_eq!(raw.await.unwrap_err().kind(), ErrorKind::SchemaVersion);

        if said != "schemaVersion 2" {
            let lenient = builder_for(&server).schema_policy(SchemaPolicy::Warn);
            answer(&server, Operation::ListOpportunities, page(version)).times(1);
            lenient.crm().opportunities().list().await.unwrap();
        }
    }
    // Where it is required by its type, too.
    let mut today = serde_json::to_value(&*crm.today().get().await.unwrap()).unwrap();
    for version in [Some(Value::Null), None] {
        match version {
            Some(null) => today["schemaVersion"] = null,
            None => drop(today.as_object_mut().unwrap().remove("schemaVersion")),
        }
        answer(&server, Operation::GetToday, today.to_string()).times(1);
        let error = crm.today().get().await.unwrap_err();
        assert_unreadable(&error, ErrorKind::SchemaVersion, &["suite-crm-today.v1"]);
    }
}

#[tokio::test]
async fn fault_66_what_is_no_json_has_no_schema_version() {
    let cut = r#"{"items": ["#;
    for body in [
        "<html>busy</html>",
        "{'items': []}",
        r#"{"items": [] "nextCursor": null}"#,
        r#"{"items": [}"#,
        r#"{"schemaVersion": "suite-crm-opportunities-page.v2", items: []}"#,
        r#"{"items": [], "nextCursor": null, "schemaVersion": "v3"} trailing"#,
        // What is wrong comes after what has another type.
        r#"{"schemaVersion": 7, "items": [], oops}"#,
        r#"{"items": 7, "nextCursor": NaN}"#,
        cut,
    ] {
        let whole = body != cut;
        let step = reply(200)
            .header("content-type", "application/json")
            .body(body);
        let peer = Peer::start(always(step));
        let crm = crm_at(&peer);
        let raw = crm.raw_call(&sdk_crm::operations::LIST_OPPORTUNITIES);
        let lenient = crm.opportunities().list().schema_policy(SchemaPolicy::Warn);
        let mut walk = crm.opportunities().list().items();

        for error in [
            crm.opportunities().list().await.unwrap_err(),
            lenient.await.unwrap_err(),
            raw.await.unwrap_err(),
            walk.try_next().await.unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::Decode, "{body}: {error}");
            assert_eq!(error.status(), Some(200));
            let line = error.to_string();
            assert!(!line.contains("this SDK was built for"), "{body}: {line}");
            assert_eq!(error.is_retryable(), !whole, "{body}: {line}");
            assert_eq!(error.body().unwrap(), body.as_bytes());
        }
        assert_eq!(peer.requests().len(), if whole { 4 } else { 12 });
    }
}

/// The result of an import with this outcome.
fn imported(status: u16, outcome: &Value) -> Step {
    let mut result = json!({
        "schemaVersion": "suite-accounting-command-result.v1",
        "operation": "import_run.create",
        "outcome": outcome,
        "commandReceiptReference": "RCT-1",
        "subjectReference": "IMP-1",
        "recordVersion": 1,
        "replayed": false,
    });
    if outcome.is_null() {
        result.as_object_mut().unwrap().remove("outcome");
    }
    json(status, &result)
}

#[tokio::test]
async fn fault_59_a_result_that_does_not_say_succeeded_is_not_called_committed() {
    for (status, outcome, committed) in [
        (201, json!("succeeded"), Some(true)),
        (201, json!("pending"), None),
        (201, json!("failed"), None),
        (201, json!("Succeeded"), None),
        (201, json!(true), None),
        (201, Value::Null, None),
        (202, json!("succeeded"), None),
    ] {
        let peer = Peer::start(always(imported(status, &outcome)));
        let accounting = suite_at(&peer).accounting();
        let body = import("adapter", ImportMode::EvidenceOnly);
        let typed = accounting.import_runs().create(&body).await;
        let command = accounting.import_runs().create(&body).prepare().unwrap();
        let stored = accounting.send_prepared(&command).await.unwrap();
        if let Ok(receipt) = &typed {
            assert_eq!(receipt.is_committed(), committed, "{status} {outcome}");
            assert_eq!(receipt.is_replay(), Some(false));
        } else {
            let error = typed.unwrap_err();
            assert!(!outcome.is_string(), "{error}");
            assert_failed(&error, ErrorKind::Decode, Effect::Unknown);
        }
        assert_eq!(stored.is_committed(), committed, "{status} {outcome}");
        assert_eq!(stored.http_status(), status);
        let requests = peer.requests();
        assert_eq!(requests.len(), 2);
        assert!(requests.iter().all(|seen| seen.key().is_some()));
    }

    // A calendar's that is taken all the same, and a reply of an operation of which nothing is shown.
    let mut failed: Value = serde_json::from_slice(created().text()).unwrap();
    failed["outcome"] = json!("failed");
    let peer = Peer::start([json(201, &failed), json(201, &failed)]);
    let calendar = calendar_at(&peer);
    let call = kick_off(&calendar);
    let receipt = call.schema_policy(SchemaPolicy::Warn).await.unwrap();
    assert_eq!(receipt.is_committed(), None);
    let raw = calendar.raw_call((Method::Post, "/api/calendar/v1/notes"));
    assert_eq!(raw.await.unwrap().is_committed(), None);

    // Of the CRM's results nothing is shown: the status alone speaks.
    let pending = json!({"outcome": "pending", "publicReference": PERSON});
    let result = |status| json(status, &pending);
    let peer = Peer::start([result(201), result(200), result(202)]);
    let crm = crm_at(&peer);
    let yes = Some(true);
    for expected in [(yes, Some(false)), (yes, yes), (None, None)] {
        let receipt = add_person(&crm).await.unwrap();
        assert_eq!((receipt.is_committed(), receipt.is_replay()), expected);
    }
    assert_eq!(peer.requests().len(), 3);
}
