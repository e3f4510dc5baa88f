//! What truly cannot be read is an error that says where it is, what was expected and what came, with the body at hand.

use std::iter;

use sdk_core::{Effect, Error, ErrorKind, Members, RawJson, SchemaPolicy};
use sdk_reference_server::{Operation, ReferenceServer};
use serde_json::{Value, json};

use crate::support::{answer, assert_says, assert_tried, crm_for, once};

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
    answer(&server, Operation::GetToday, body.to_owned());

    let error = crm_for(&server).today().get().await.unwrap_err();

    assert_eq!(
        server.attempts(Operation::GetToday),
        1,
        "it would be no better a second time"
    );
    assert_eq!(error.body(), Some(body.as_bytes()));
    assert_eq!((error.status(), error.is_retryable()), (Some(200), false));
    assert!(error.request_id().is_some());
    error
}

/// Where, what stands there, and what is expected instead.
const ODD: &str = r#"
attention[3].dueAt | 17 | an RFC 3339 date-time, found 17
attention[3].owner | "Ann" | an object (AttentionOwner), found a string of 5 bytes
attention[3].title | 5 | a string, found 5
attention[1] | null | an object (AttentionItem), found null
generatedAt | null | an RFC 3339 date-time, found null
workspace | null | a string, found null
recentChanges | {} | an array, found an object of 2 bytes
counts | "many" | an object, found a string of 6 bytes
counts | [] | an object, found an array of 2 bytes"#;

#[tokio::test]
async fn fault_33_what_cannot_be_read_is_named_by_path_expectation_and_finding() {
    for row in ODD.trim().lines() {
        let [path, value, expected] = row.split(" | ").collect::<Vec<_>>()[..] else {
            panic!("{row}");
        };
        let said = format!("at `{path}`: expected {expected}");
        let pointer = format!("/{}", path.replace(['.', '['], "/").replace(']', ""));
        let value = serde_json::from_str(value).unwrap();
        let mut body = today();
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        match body.pointer_mut(parent).unwrap() {
            Value::Array(items) => items[name.parse::<usize>().unwrap()] = value,
            object => object[name] = value,
        }

        let error = failure(&body.to_string()).await;

        assert_tried(&error, ErrorKind::Decode, Effect::Unknown, 1);
        assert_eq!(error.message(), said);
        // Nothing of the reply is quoted: it may hold personal data.
        let line = format!("crm.getToday: 200 {}: {said} (request ", error.kind());
        assert!(error.to_string().starts_with(&line), "{error}");
    }
}

#[tokio::test]
async fn fault_33_a_missing_required_member_is_named() {
    let mut body = today();
    body.as_object_mut().unwrap().remove("counts");

    let error = failure(&body.to_string()).await;

    let said = "at `counts`: required member is missing; the object has ";
    assert!(error.message().starts_with(said), "{}", error.message());
}

#[tokio::test]
async fn fault_33_a_required_integer_that_64_bits_do_not_hold_is_named() {
    let digits = "123456789012345678901234567890";
    let server = ReferenceServer::start().await;
    let intake = server.sample_intake_submission();
    let crm = crm_for(&server);
    let recorded = crm.intake().get(&*intake).await.unwrap();
    let body = serde_json::to_string(&*recorded).unwrap().replace(
        &format!(r#""recordVersion":{}"#, recorded.record_version),
        &format!(r#""recordVersion":{digits}"#),
    );
    answer(&server, Operation::GetIntakeSubmission, body);

    let error = crm.intake().get(&*intake).await.unwrap_err();

    let said = format!("at `recordVersion`: expected a 64-bit integer, found {digits}");
    assert_eq!((error.kind(), error.message()), (ErrorKind::Decode, &*said));
    assert_eq!(server.attempts(Operation::GetIntakeSubmission), 2);
}

#[tokio::test]
async fn fault_34_an_unreadable_reply_of_another_schema_says_both_even_when_it_may_be_read() {
    let mut body = today();
    body["schemaVersion"] = json!("suite-crm-today.v2");
    body["attention"][3]["dueAt"] = json!({"day": 17});
    let server = ReferenceServer::start().await;
    answer(&server, Operation::GetToday, body.to_string());
    let call = crm_for(&server).today().get();

    for policy in [SchemaPolicy::Refuse, SchemaPolicy::Warn] {
        let error = call.clone().schema_policy(policy).await.unwrap_err();

        assert_eq!(error.kind(), ErrorKind::SchemaVersion);
        assert_says(&error, &["suite-crm-today.v1", "suite-crm-today.v2"]);
        assert_says(
            &error,
            &["at `attention[3].dueAt`", "found an object of 10 bytes"],
        );
        assert_says(&error, &["take it as raw JSON"]);
        assert!(error.body().is_some());
        // A policy would not help.
        assert!(!error.to_string().contains("SchemaPolicy::Warn"), "{error}");
    }
}

#[tokio::test]
async fn fault_34_an_error_is_bounded_whatever_the_reply_calls_its_schema() {
    let mut body = today();
    body["schemaVersion"] = json!("x".repeat(100_000));

    let error = failure(&body.to_string()).await;

    assert_eq!(error.kind(), ErrorKind::SchemaVersion);
    assert!(error.message().len() < 500 && format!("{error:?}").len() < 1_000);
}

/// Nothing of the SDK recurses into what it does not know.
#[tokio::test]
async fn fault_33_a_reply_may_nest_as_deeply_as_it_likes() {
    const DEPTH: usize = 10_000;
    let deep = format!("{}1{}", "{\"a\":[".repeat(DEPTH), "]}".repeat(DEPTH));
    let server = ReferenceServer::start().await;
    let crm = crm_for(&server);
    let reply = |operation, body: String| {
        answer(&server, operation, body).times(1);
    };
    let text = today().to_string();

    let (counts, title) = (r#""counts":{}"#, r#""title":"Call back""#);
    for (shallow, nested) in [
        (counts, format!(r#""counts":{deep}"#)),
        (title, format!(r#""fromTheFuture":{deep}"#)),
    ] {
        reply(Operation::GetToday, text.replace(shallow, &nested));
        let today = crm.today().get().await.unwrap();
        let written = serde_json::to_string(&*today).unwrap();
        assert!(written.contains(&nested));
    }
    let page = format!(r#"{{"items":[{deep}],"nextCursor":null}}"#);
    reply(Operation::ListPeople, page);
    let people = crm.people().list().await.unwrap();
    assert_eq!(people.items().unwrap()[0].raw().as_str(), deep);
    reply(Operation::Search, deep.clone());
    assert_eq!(crm.search().query("an").await.unwrap().as_str(), deep);

    reply(Operation::GetToday, text.replace(r#""Call back""#, &deep));
    let error = crm.today().get().await.unwrap_err();
    let found = format!("found an object of {} bytes", deep.len());
    let said = format!("at `attention[3].title`: expected a string, {found}");
    assert_eq!(error.message(), said);
    let refused = once(&server, Operation::GetToday).status(400);
    refused.body(deep, "application/json");
    let error = crm.today().get().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Rejected);
}

/// What a vendor's schema may say of a tree, if the type of its field is assumed.
#[derive(Clone, Debug, PartialEq)]
struct Tree {
    child: Option<Box<Tree>>,
    extra: Members,
}

sdk_core::json_object!(Tree { child: assumed "child" });

#[test]
fn fault_33_an_assumed_type_that_contains_itself_is_decoded_up_to_the_limit_of_serde_json() {
    let tree = |depth: usize| {
        let text = format!("{}{{}}{}", r#"{"child":"#.repeat(depth), "}".repeat(depth));
        let tree: Tree = text.parse::<RawJson>().unwrap().decode().unwrap();
        assert_eq!(serde_json::to_string(&tree).unwrap(), text);
        tree
    };
    let children =
        |tree: &Tree| iter::successors(tree.child.as_ref(), |it| it.child.as_ref()).count();
    assert_eq!(children(&tree(128)), 128);
    // Beyond it, the value of the first field is kept as it is.
    for depth in [100_000, 129] {
        let tree = tree(depth);
        assert_eq!((children(&tree), tree.extra.len()), (0, 1));
    }
}

#[tokio::test]
async fn fault_33_a_duplicate_of_a_known_member_is_an_error_and_of_an_unknown_one_is_kept() {
    let server = ReferenceServer::start().await;
    let twice = |members| {
        today()
            .to_string()
            .replace(r#""title":"Call back""#, members)
    };
    let known = twice(r#""title":null,"title":"Call back""#);
    answer(&server, Operation::GetToday, known);

    let error = crm_for(&server).today().get().await.unwrap_err();

    assert_eq!(error.kind(), ErrorKind::Decode);
    assert_says(&error, &["at `attention[3]", "duplicate field `title`"]);

    let unknown = twice(r#""title":"Call back","new":1,"new":2"#);
    answer(&server, Operation::GetToday, unknown);
    let today = crm_for(&server).today().get().await.unwrap();
    let written = serde_json::to_string(&today.attention[3]).unwrap();
    assert_eq!(written, r#"{"title":"Call back","new":1,"new":2}"#);
}
