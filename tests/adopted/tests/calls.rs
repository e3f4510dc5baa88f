//! Calls of the client against the reference server, which serves the same vendor's document from its schemas. The tests
//! check the results of the caller and the requests that the server recorded.

use std::collections::BTreeSet;
use std::fmt::Debug;

use futures_util::TryStreamExt as _;
use sdk_adopted::types::{
    AcceptIntake, Activity, CompleteTask, CreateExportBody, CreateExportBodyResource,
    CreateExportReply, CrmCommand, DeleteExportsBody, ExportFormat, GetExportReply, HierarchyNode,
    IntakeReviewCommand, IntakeStatus, ListPeopleSort, ListPeopleStatusItem, MoveOpportunityBody,
    MoveOpportunityReply, OpportunityStage, PeoplePageMembers, PersonInput, PersonPatch, TaskInput,
    TaskPatch,
};
use sdk_adopted::{
    CallOptions, Client, Effect, Error, ErrorKind, Number, RawJson, Safety, Suite, operations,
};
use sdk_reference_server::{App, RecordedRequest, ReferenceServer};
use serde_json::{Value, json};

use crate::{PERSON, assert_failed};

const DOCUMENT: &str = include_str!("../specs/crm.yaml");
// The ID of tasks, exports and webhooks.
const TASK: &str = "0190b2a4-5c1d-7e3f-8a9b-0c1d2e3f4a5b";

fn setup() -> (ReferenceServer, Client) {
    let server = ReferenceServer::builder()
        .frozen_clock()
        .contract(App::Crm, DOCUMENT)
        .in_memory();
    let suite = Suite::builder().variables(server.environment());
    let suite = suite.transport(server.service());
    let client = Client::new(&suite.build().unwrap());
    (server, client.unwrap())
}

/// The only request for an operation, by the ID in the document.
fn only(server: &ReferenceServer, operation: &str) -> RecordedRequest {
    let requests = server.requests_for(operation);
    let [request] = requests.as_slice() else {
        panic!("{operation}: {} requests", requests.len())
    };
    request.clone()
}

/// The JSON that was sent, or null without a body.
fn json(request: &RecordedRequest) -> Value {
    match &request.body()[..] {
        [] => Value::Null,
        body => serde_json::from_slice(body).unwrap(),
    }
}

#[tokio::test(start_paused = true)]
async fn each_request_has_the_documented_method_header_and_body() {
    let (server, crm) = setup();
    let (people, tasks, exports) = (crm.people(), crm.tasks(), crm.exports());
    let person = PersonInput::new("Ada Lovelace").given_name("Ada");
    let replaced = people.replace(PERSON, "\"7\"", &person).await.unwrap();
    assert_eq!(replaced.http_status(), 200);
    let patch = PersonPatch::new().display_name("Ada King");
    people.update(PERSON, &patch).await.unwrap();
    let gone = tasks.delete(TASK).await.unwrap();
    assert_eq!((gone.http_status(), gone.bytes().len()), (204, 0));
    let () = gone.into_inner();
    let batch = [TaskInput::new("Call"), TaskInput::new("Write")];
    let receipt = tasks.create_batch(&batch).await.unwrap();
    assert_eq!(receipt.http_status(), 207);
    crm.webhook_settings().test(TASK).await.unwrap();
    let file = exports.download(TASK).await.unwrap();
    assert!(!file.is_empty());
    let body = DeleteExportsBody::new([TASK]);
    exports.delete(&body).await.unwrap();
    // Unions are sent with their tag.
    let command = CrmCommand::from(CompleteTask::new(TASK));
    let receipt = crm.commands().submit(&command).await.unwrap();
    assert!(receipt.idempotency_key().is_some());
    let accept = IntakeReviewCommand::from(AcceptIntake::new("IN-A0B1C2D3E4F5", 3));
    crm.intake().review(&accept).await.unwrap();

    let requests = server.requests().into_iter();
    let requests = requests.filter(|request| request.app == App::Crm);
    let sent = requests.map(|it| json!([it.operation_id(), it.method, json(&it)]));
    let expected = json!([
        ["People_Replace", "PUT", {"displayName": "Ada Lovelace", "givenName": "Ada"}],
        ["People_Update", "PATCH", {"displayName": "Ada King"}],
        ["tasks-delete", "DELETE", null],
        ["tasks-createBatch", "POST", [{"title": "Call"}, {"title": "Write"}]],
        ["settings/webhooks/test", "POST", null],
        ["DownloadExport", "GET", null],
        ["DeleteExports", "DELETE", {"exportIds": [TASK]}],
        ["submitCommand", "POST", {"commandType": "task.complete", "task": TASK}],
        ["reviewIntakeSubmission", "POST",
            {"decision": "accept", "submission": "IN-A0B1C2D3E4F5", "expectedVersion": 3}],
    ]);
    assert_eq!(Value::Array(sent.collect()), expected);
    for (operation, header, value) in [
        ("People_Replace", "if-match", "\"7\""),
        (
            "People_Update",
            "content-type",
            "application/merge-patch+json",
        ),
        ("DownloadExport", "accept", "text/csv"),
    ] {
        let request = only(&server, operation);
        assert_eq!(request.header(header), Some(value), "{operation}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_explicit_null_in_a_merge_patch_clears_a_field() {
    let null = |patch: PersonPatch| patch.member("givenName", RawJson::null());
    let named = PersonPatch::new().given_name("x");
    for patch in [null(named), null(PersonPatch::new())] {
        let (server, crm) = setup();
        crm.people().update(PERSON, &patch).await.unwrap();
        let sent = json(&only(&server, "People_Update"));
        assert_eq!(sent, json!({"givenName": null}));
    }
    let set = null(PersonPatch::new()).given_name("x");
    let text = serde_json::to_string(&set).unwrap();
    assert_eq!(text, r#"{"givenName":"x"}"#);
}

#[tokio::test(start_paused = true)]
async fn retries_follow_the_safety_of_each_method() {
    for (operation, safety) in [
        (&operations::PEOPLE_REPLACE, Safety::Idempotent),
        (&operations::TASKS_DELETE, Safety::Idempotent),
        (&operations::TASKS_UPDATE, Safety::Unkeyed),
        (&operations::TASKS_CREATE, Safety::Keyed),
        (&operations::LIST_TASKS, Safety::Read),
    ] {
        assert_eq!(operation.safety, safety, "{operation}");
    }
    let (server, crm) = setup();
    server.fault("tasks-delete").lose_reply().times(1);
    let gone = crm.tasks().delete(TASK).await.unwrap();
    assert_eq!((gone.attempts(), server.attempts("tasks-delete")), (2, 2));

    // Without a key, it may have been applied.
    server.fault("tasks-update").lose_reply().times(1);
    let update = crm.tasks().update(TASK, &TaskPatch::new());
    let error = update.await.unwrap_err();
    assert_eq!((error.attempts(), error.effect()), (1, Effect::Unknown));
    assert_eq!(server.attempts("tasks-update"), 1);
}

#[tokio::test(start_paused = true)]
async fn each_success_status_decodes_into_its_variant() {
    let (server, crm) = setup();
    let export = CreateExportBody::new(CreateExportBodyResource::People, ExportFormat::Csv);
    let prefer = |status: &str| crm.exports().create(&export).header("Prefer", status);
    let done = prefer("status=200").await.unwrap();
    assert!(matches!(&*done, CreateExportReply::Ok(_)), "{done:?}");
    let later = prefer("status=202").await.unwrap();
    let CreateExportReply::Accepted(job) = &*later else {
        panic!("{later:?}")
    };
    assert!(!job.job_id.is_empty());
    let received: Value = serde_json::from_slice(later.bytes()).unwrap();
    assert_eq!(serde_json::to_value(&*later).unwrap(), received);
    let empty = prefer("status=204").await.unwrap().into_inner();
    assert_eq!(empty, CreateExportReply::NoContent);
    assert_eq!(serde_json::to_string(&empty).unwrap(), "null");
    assert_eq!(server.attempts("CreateExport"), 3);

    let moved = MoveOpportunityBody::new(OpportunityStage::Qualified);
    let moved = crm.opportunities().change_stage("OP-A0B1C2D3E4F5", &moved);
    let moved = moved.await.unwrap();
    assert!(matches!(&*moved, MoveOpportunityReply::Ok(_)), "{moved:?}");
    let job = crm.exports().get(TASK).header("Prefer", "status=202");
    let job = job.await.unwrap();
    assert!(matches!(&*job, GetExportReply::Accepted(_)), "{job:?}");
}

#[tokio::test(start_paused = true)]
async fn lists_and_unions_decode_into_their_types() {
    let (server, crm) = setup();
    let people = crm.people().list().limit(2).items();
    let people: Vec<_> = people.try_collect().await.unwrap();
    assert!(people.len() > 2 && people.iter().all(|it| !it.display_name.is_empty()));
    // The second page is found by the cursor.
    assert!(server.attempts("listPeople") > 1);

    let activities = crm.people().timeline(PERSON).items();
    let activities: Vec<Activity> = activities.try_collect().await.unwrap();
    let is_known = |it: &Activity| !matches!(it, Activity::Unknown(_));
    assert!(activities.iter().all(is_known), "{activities:?}");
    let kinds: BTreeSet<_> = activities.iter().filter_map(Activity::tag).collect();
    assert!(kinds.len() > 1, "{kinds:?}");
    let tree = crm.organizations().hierarchy_get("ORG-A0B1C2D3E4F5");
    let tree = tree.await.unwrap();
    assert!(!matches!(&*tree, HierarchyNode::Unknown(_)), "{tree:?}");
}

#[tokio::test(start_paused = true)]
async fn parameters_of_every_kind_are_written_as_documented() {
    let (server, crm) = setup();
    let page = crm
        .people()
        .list()
        .status([ListPeopleStatusItem::Active, ListPeopleStatusItem::Inactive])
        // It has no setter, because lists that are separated by pipes are not supported.
        .query("tags", "a b|c")
        .min_score("0.50".parse::<Number>().unwrap())
        .include_archived(true)
        .born_on("1815-12-10")
        .created_after("2026-01-01T00:00:00Z")
        .sort(ListPeopleSort::KNOWN[0].into())
        .limit(2)
        .query("filter[city]", "London")
        .await
        .unwrap();
    let others = page.members::<PeoplePageMembers>().unwrap();
    assert!(others.total >= 0 && page.header("x-total-count").is_some());
    let statuses = [IntakeStatus::KNOWN[0], IntakeStatus::KNOWN[1]].map(IntakeStatus::from);
    crm.intake().list().status(statuses).await.unwrap();
    let urgent = crm.tasks().list().priority(3).await.unwrap();
    assert!(!urgent.items.is_empty());
    let people = "status=active,inactive&tags=a+b%7Cc&minScore=0.50&includeArchived=true\
                  &bornOn=1815-12-10&limit=2&filter%5Bcity%5D=London";
    for (operation, parts) in [
        ("listPeople", people),
        ("listIntakeSubmissions", "status=received&status=screening"),
        ("listTasks", "priority=3"),
    ] {
        let query = only(&server, operation).query.clone().unwrap();
        for part in parts.split('&') {
            assert!(query.split('&').any(|it| it == part), "{part}: {query}");
        }
    }
}

/// Checks that a call failed locally, with these words in its error.
#[track_caller]
fn rejected<T: Debug>(result: Result<T, Error>, words: &[&str]) {
    let error = result.unwrap_err();
    assert_failed(&error, ErrorKind::InvalidInput, Effect::NotSent, words);
}

#[tokio::test(start_paused = true)]
async fn invalid_requests_fail_locally() {
    let (server, crm) = setup();
    let (people, person) = (crm.people(), PersonInput::new("Ada"));
    let replace = people.replace(PERSON, "\"7\"", &person);
    // A default must not set a header that the operation has as a parameter.
    let defaults = CallOptions::default().with_header("if-match", "*");
    let crm_with_defaults = crm.with_defaults(defaults);
    let with_default = crm_with_defaults.people().replace(PERSON, "\"7\"", &person);
    // A required field can't be cleared, and a field with a setter can't be set with `member`.
    let cleared = PersonInput::new("Ada").member("displayName", RawJson::null());
    let twice = PersonPatch::new().member("displayName", RawJson::from("x"));
    let defaults = &["header If-Match", "defaults"];
    rejected(people.list().limit(0).await, &["limit"]);
    rejected(people.get("nobody").await, &["nobody"]);
    rejected(replace.header("if-match", "\"8\"").await, &["If-Match"]);
    rejected(with_default.clone().prepare(), defaults);
    rejected(with_default.await, defaults);
    rejected(crm.tasks().create_batch(&[]).await, &["1 to 100 items"]);
    rejected(people.create(&cleared).await, &["displayName"]);
    rejected(people.update(PERSON, &twice).await, &["displayName"]);
    let requests = server.requests();
    assert!(requests.iter().all(|request| request.app != App::Crm));
}
