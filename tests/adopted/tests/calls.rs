//! The client of a vendor's document against the reference server, which serves the same document from its schemas: what
//! the caller got, and what the server saw.

use futures_util::TryStreamExt as _;
use sdk_adopted::types::{
    AcceptIntake, Activity, CompleteTask, CreateExportBody, CreateExportBodyResource,
    CreateExportReply, CrmCommand, DeleteExportsBody, ExportFormat, GetExportReply, HierarchyNode,
    IntakeReviewCommand, ListPeopleSort, ListPeopleStatusItem, MoveOpportunityBody,
    MoveOpportunityReply, OpportunityStage, PeoplePageMembers, PersonInput, PersonPatch, TaskInput,
    TaskPatch,
};
use sdk_adopted::{
    CallOptions, Client, Effect, Error, ErrorKind, RawJson, Safety, Suite, operations,
};
use sdk_reference_server::{App, RecordedRequest, ReferenceServer};

use crate::PERSON;

const DOCUMENT: &str = include_str!("../specs/crm.yaml");
// Tasks, exports and webhooks alike.
const TASK: &str = "0190b2a4-5c1d-7e3f-8a9b-0c1d2e3f4a5b";

fn world() -> (ReferenceServer, Client) {
    let server = ReferenceServer::builder()
        .frozen_clock()
        .contract(App::Crm, DOCUMENT)
        .in_memory();
    let suite = Suite::builder().variables(server.environment());
    let suite = suite.transport(server.service());
    let client = Client::new(&suite.build().unwrap());
    (server, client.unwrap())
}

/// The one request for an operation, by the id that the document gives it.
fn only(server: &ReferenceServer, operation: &str) -> RecordedRequest {
    let requests = server.requests_for(operation);
    let [request] = requests.as_slice() else {
        panic!("{operation}: {} requests", requests.len())
    };
    request.clone()
}

fn json(request: &RecordedRequest) -> serde_json::Value {
    serde_json::from_slice(request.body()).unwrap()
}

#[tokio::test(start_paused = true)]
async fn put_patch_and_delete_are_sent_as_documented() {
    let (server, crm) = world();
    let person = PersonInput::new("Ada Lovelace").given_name("Ada");
    let replaced = crm
        .people()
        .replace(PERSON, "\"7\"", &person)
        .await
        .unwrap();
    assert_eq!(replaced.http_status(), 200);
    let request = only(&server, "People_Replace");
    assert_eq!(
        (&*request.method, request.header("if-match")),
        ("PUT", Some("\"7\""))
    );
    assert_eq!(json(&request)["displayName"], "Ada Lovelace");

    let patch = PersonPatch::new().display_name("Ada King");
    crm.people().update(PERSON, &patch).await.unwrap();
    let request = only(&server, "People_Update");
    assert_eq!(&*request.method, "PATCH");
    assert_eq!(
        request.header("content-type"),
        Some("application/merge-patch+json")
    );
    assert_eq!(
        json(&request),
        serde_json::json!({"displayName": "Ada King"})
    );

    let gone = crm.tasks().delete(TASK).await.unwrap();
    assert_eq!((gone.http_status(), gone.bytes().len()), (204, 0));
    let () = gone.into_inner();
    assert_eq!(only(&server, "tasks-delete").method, "DELETE");
}

#[tokio::test(start_paused = true)]
async fn a_default_that_is_also_a_header_parameter_fails_the_call_before_it_is_sent() {
    let (server, crm) = world();
    let crm = crm.with_defaults(CallOptions::default().with_header("if-match", "*"));
    let person = PersonInput::new("Ada");
    let replace = crm.people().replace(PERSON, "\"7\"", &person);
    for error in [
        replace.clone().prepare().unwrap_err(),
        replace.await.unwrap_err(),
    ] {
        assert_eq!(
            (error.kind(), error.effect()),
            (ErrorKind::InvalidInput, Effect::NotSent)
        );
        let text = error.to_string();
        assert!(
            text.contains("header If-Match") && text.contains("defaults"),
            "{text}"
        );
    }
    assert_eq!(server.attempts("People_Replace"), 0);
}

#[tokio::test(start_paused = true)]
async fn a_merge_patch_clears_a_member_by_an_explicit_null() {
    let null = |patch: PersonPatch| patch.member("givenName", RawJson::null());
    let named = PersonPatch::new().given_name("x");
    for patch in [null(named), null(PersonPatch::new())] {
        let (server, crm) = world();
        crm.people().update(PERSON, &patch).await.unwrap();
        let sent = json(&only(&server, "People_Update"));
        assert_eq!(sent, serde_json::json!({"givenName": null}));
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
    let (server, crm) = world();
    server.fault("tasks-delete").lose_reply().times(1);
    let gone = crm.tasks().delete(TASK).await.unwrap();
    assert_eq!((gone.attempts(), server.attempts("tasks-delete")), (2, 2));

    server.fault("tasks-update").lose_reply().times(1);
    let error = crm
        .tasks()
        .update(TASK, &TaskPatch::new())
        .await
        .unwrap_err();
    assert_eq!((error.attempts(), error.effect()), (1, Effect::Unknown));
    assert_eq!(
        server.attempts("tasks-update"),
        1,
        "it has no key: it may have been done"
    );
}

#[tokio::test(start_paused = true)]
async fn several_successes_arrive_as_what_they_are() {
    let (server, crm) = world();
    let export = CreateExportBody::new(CreateExportBodyResource::People, ExportFormat::Csv);
    let prefer = |status: &str| crm.exports().create(&export).header("Prefer", status);
    let done = prefer("status=200").await.unwrap();
    assert!(matches!(&*done, CreateExportReply::Ok(_)), "{done:?}");
    let later = prefer("status=202").await.unwrap();
    let CreateExportReply::Accepted(job) = &*later else {
        panic!("{later:?}")
    };
    assert!(!job.job_id.is_empty());
    let received: serde_json::Value = serde_json::from_slice(later.bytes()).unwrap();
    assert_eq!(serde_json::to_value(&*later).unwrap(), received);
    let nothing = prefer("status=204").await.unwrap().into_inner();
    assert_eq!(nothing, CreateExportReply::NoContent);
    assert_eq!(serde_json::to_string(&nothing).unwrap(), "null");
    assert_eq!(server.attempts("CreateExport"), 3);

    let moved = MoveOpportunityBody::new(OpportunityStage::Qualified);
    let moved = crm.opportunities().change_stage("OP-A0B1C2D3E4F5", &moved);
    let moved = moved.await.unwrap();
    assert!(matches!(&*moved, MoveOpportunityReply::Ok(_)), "{moved:?}");
    let export = crm
        .exports()
        .get(TASK)
        .header("Prefer", "status=202")
        .await
        .unwrap();
    assert!(
        matches!(&*export, GetExportReply::Accepted(_)),
        "{export:?}"
    );

    let file = crm.exports().download(TASK).await.unwrap();
    assert!(!file.is_empty());
    assert_eq!(
        only(&server, "DownloadExport").header("accept"),
        Some("text/csv")
    );

    let body = DeleteExportsBody::new([TASK]);
    crm.exports().delete(&body).await.unwrap();
    assert_eq!(
        json(&only(&server, "DeleteExports"))["exportIds"],
        serde_json::json!([TASK])
    );
}

#[tokio::test(start_paused = true)]
async fn unions_go_out_with_their_tag_and_come_in_as_their_variant() {
    let (server, crm) = world();
    let done = CrmCommand::from(CompleteTask::new(TASK));
    let receipt = crm.commands().submit(&done).await.unwrap();
    assert!(receipt.idempotency_key().is_some());
    let sent = json(&only(&server, "submitCommand"));
    assert_eq!(sent["task"], TASK);
    assert_eq!(sent["commandType"], "task.complete");
    let accept = IntakeReviewCommand::from(AcceptIntake::new("IN-A0B1C2D3E4F5", 3));
    crm.intake().review(&accept).await.unwrap();
    assert_eq!(
        json(&only(&server, "reviewIntakeSubmission"))["decision"],
        "accept"
    );

    let mut kinds = Vec::new();
    let mut activities = crm.people().timeline(PERSON).items();
    while let Some(activity) = activities.try_next().await.unwrap() {
        assert!(!matches!(activity, Activity::Unknown(_)), "{activity:?}");
        kinds.extend(activity.tag());
    }
    kinds.sort();
    kinds.dedup();
    assert!(kinds.len() > 1, "{kinds:?}");
    let tree = crm
        .organizations()
        .hierarchy_get("ORG-A0B1C2D3E4F5")
        .await
        .unwrap();
    assert!(!matches!(&*tree, HierarchyNode::Unknown(_)), "{tree:?}");

    // A variant of tomorrow is kept, and may be written back.
    let text = r#"{"kind":"telepathy","strength":1.50}"#;
    let unknown: Activity = serde_json::from_str(text).unwrap();
    assert!(matches!(unknown, Activity::Unknown(_)));
    assert_eq!(serde_json::to_string(&unknown).unwrap(), text);
}

#[tokio::test(start_paused = true)]
async fn parameters_of_every_kind_are_written_as_documented() {
    let (server, crm) = world();
    let page = crm
        .people()
        .list()
        .status([ListPeopleStatusItem::Active, ListPeopleStatusItem::Inactive])
        // It has no setter: items between pipes are not supported.
        .query("tags", "a b|c")
        .min_score("0.50".parse::<sdk_adopted::Number>().unwrap())
        .include_archived(true)
        .born_on("1815-12-10")
        .created_after("2026-01-01T00:00:00Z")
        .sort(ListPeopleSort::KNOWN[0].into())
        .limit(2)
        .query("filter[city]", "London")
        .await
        .unwrap();
    let further = page.members::<PeoplePageMembers>().unwrap();
    assert!(further.total >= 0);
    assert!(page.header("x-total-count").is_some());
    let query = only(&server, "listPeople").query.clone().unwrap();
    for part in [
        "status=active,inactive",
        "tags=a+b%7Cc",
        "minScore=0.50",
        "includeArchived=true",
        "bornOn=1815-12-10",
        "limit=2",
        "filter%5Bcity%5D=London",
    ] {
        assert!(query.split('&').any(|it| it == part), "{part}: {query}");
    }

    let statuses = crm.intake().list().status([
        sdk_adopted::types::IntakeStatus::KNOWN[0].into(),
        sdk_adopted::types::IntakeStatus::KNOWN[1].into(),
    ]);
    statuses.await.unwrap();
    let query = only(&server, "listIntakeSubmissions")
        .query
        .clone()
        .unwrap();
    assert_eq!(query.matches("status=").count(), 2, "{query}");
    let urgent = crm.tasks().list().priority(3).await.unwrap();
    assert!(!urgent.items.is_empty());
    assert!(
        only(&server, "listTasks")
            .query
            .as_deref()
            .unwrap()
            .contains("priority=3")
    );
}

#[tokio::test(start_paused = true)]
async fn bodies_that_are_lists_or_missing_are_sent_so() {
    let (server, crm) = world();
    let tasks = [TaskInput::new("Call"), TaskInput::new("Write")];
    let receipt = crm.tasks().create_batch(&tasks).await.unwrap();
    assert_eq!(receipt.http_status(), 207);
    assert_eq!(
        json(&only(&server, "tasks-createBatch"))
            .as_array()
            .unwrap()
            .len(),
        2
    );

    let hook = crm.webhook_settings().test(TASK);
    hook.await.unwrap();
    assert!(only(&server, "settings/webhooks/test").body().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_walk_delivers_typed_items_page_by_page() {
    let (server, crm) = world();
    let people: Vec<_> = crm
        .people()
        .list()
        .limit(2)
        .items()
        .try_collect()
        .await
        .unwrap();
    assert!(people.iter().all(|person| !person.display_name.is_empty()));
    assert!(
        server.attempts("listPeople") > 1,
        "a second page by the cursor"
    );
    assert!(people.len() > 2);
}

#[tokio::test(start_paused = true)]
async fn what_breaks_a_rule_never_leaves() {
    let (server, crm) = world();
    let refused = |error: Error| {
        assert_eq!(
            (error.kind(), error.effect()),
            (ErrorKind::InvalidInput, Effect::NotSent)
        );
        error.to_string()
    };
    let error = crm.people().list().limit(0).await.unwrap_err();
    assert!(refused(error).contains("limit"));
    let error = crm.people().get("nobody").await.unwrap_err();
    assert!(refused(error).contains("nobody"));
    let person = PersonInput::new("Ada");
    let twice = crm.people().replace(PERSON, "\"7\"", &person);
    let error = twice.header("if-match", "\"8\"").await.unwrap_err();
    assert!(refused(error).contains("If-Match"));
    let error = crm.tasks().create_batch(&[]).await.unwrap_err();
    assert!(refused(error).contains("1 to 100 items"));
    let person = PersonInput::new("Ada").member("displayName", RawJson::null());
    let error = crm.people().create(&person).await.unwrap_err();
    assert!(
        refused(error).contains("displayName"),
        "a required member cannot be cleared"
    );
    let patch = PersonPatch::new().member("displayName", RawJson::from("x"));
    let error = crm.people().update(PERSON, &patch).await.unwrap_err();
    assert!(refused(error).contains("displayName"));
    assert_eq!(
        server
            .requests()
            .iter()
            .filter(|it| it.app == App::Crm)
            .count(),
        0
    );
}
