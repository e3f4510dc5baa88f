//! What truly cannot be read is an error that says where it is, what was expected and what came, with the body at hand.

use sdk_core::{Error, ErrorKind, SchemaPolicy};
use sdk_reference_server::{Operation, ReferenceServer};
use serde_json::{Value, json};

use crate::support::crm_for;

fn today() -> Value {
    json!({
        "schemaVersion": "suite-crm-today.v1",
        "generatedAt": "2026-01-15T09:00:00Z",
        "workspace": "w",
        "counts": {},
        "attention": [{}, {}, {}, {"title": "Call back"}],
        "recentChanges": [],
    })
}

/// What a call of `getToday` fails with when this is the reply.
async fn failure(body: &str) -> Error {
    let server = ReferenceServer::start().await;
    server
        .fault(Operation::GetToday)
        .body(body.to_owned(), "application/json");

    let error = crm_for(&server).today().get().await.unwrap_err();

    assert_eq!(
        server.attempts(Operation::GetToday),
        1,
        "it would be no better a second time"
    );
    assert_eq!(error.body(), Some(body.as_bytes()));
    assert_eq!((error.status(), error.retryable()), (Some(200), false));
    assert!(error.request_id().is_some());
    error
}

#[tokio::test]
async fn fault_33_what_cannot_be_read_is_named_by_path_expectation_and_finding() {
    for (pointer, value, said) in [
        (
            "/attention/3/dueAt",
            json!(17),
            "at `attention[3].dueAt`: expected a timestamp string, found 17",
        ),
        (
            "/attention/3/owner",
            json!("Ann"),
            "at `attention[3].owner`: expected an object (AttentionOwner), found \"Ann\"",
        ),
        (
            "/attention/3/title",
            json!(5),
            "at `attention[3].title`: expected a string, found 5",
        ),
        (
            "/attention/1",
            json!(null),
            "at `attention[1]`: expected an object (AttentionItem), found null",
        ),
        (
            "/generatedAt",
            json!(null),
            "at `generatedAt`: expected a timestamp string, found null",
        ),
        (
            "/recentChanges",
            json!({}),
            "at `recentChanges`: expected a sequence, found {}",
        ),
    ] {
        let mut body = today();
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        match body.pointer_mut(parent).unwrap() {
            Value::Array(items) => items[name.parse::<usize>().unwrap()] = value,
            object => object[name] = value,
        }

        let error = failure(&body.to_string()).await;

        assert_eq!(error.kind(), ErrorKind::Decode);
        assert_eq!(error.message(), said);
        let line = error.to_string();
        assert!(
            line.starts_with(&format!(
                "crm.getToday: 200 {}: {said}; the body begins with",
                error.kind()
            )),
            "{line}"
        );
    }
}

#[tokio::test]
async fn fault_33_a_missing_required_member_is_named() {
    let mut body = today();
    body.as_object_mut().unwrap().remove("counts");

    let error = failure(&body.to_string()).await;

    assert_eq!(error.message(), "at `counts`: a required member is missing");
}

#[tokio::test]
async fn fault_33_an_integer_that_64_bits_do_not_hold_is_no_integer_of_the_contract() {
    let digits = "123456789012345678901234567890";
    let body = today().to_string().replace(
        r#""title":"Call back""#,
        &format!(r#""recordVersion":{digits}"#),
    );

    let error = failure(&body).await;

    let said =
        format!("at `attention[3].recordVersion`: expected an integer of 64 bits, found {digits}");
    assert_eq!(error.message(), said);
}

#[tokio::test]
async fn fault_34_an_unreadable_reply_of_another_schema_says_both_even_when_it_may_be_read() {
    let mut body = today();
    body["schemaVersion"] = json!("suite-crm-today.v2");
    body["attention"][3]["dueAt"] = json!({"day": 17});
    let server = ReferenceServer::start().await;
    server
        .fault(Operation::GetToday)
        .body(body.to_string(), "application/json");
    let call = crm_for(&server).today().get();

    for policy in [SchemaPolicy::Refuse, SchemaPolicy::Warn] {
        let error = call.clone().schema_policy(policy).await.unwrap_err();

        assert_eq!(error.kind(), ErrorKind::SchemaVersion);
        let line = error.to_string();
        for part in [
            "suite-crm-today.v1",
            "suite-crm-today.v2",
            "at `attention[3].dueAt`",
            r#"found {"day":17}"#,
        ] {
            assert!(line.contains(part), "{part} in {line}");
        }
        assert!(error.body().is_some());
    }
}
