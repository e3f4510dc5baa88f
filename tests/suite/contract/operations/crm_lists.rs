//! CRM: the lists, and the search.

use sdk_core::{Error, Page, Record};
use sdk_reference_server::{ClientSpec, Operation};

use crate::contract::case::{Done, operations};
use crate::contract::world::World;

operations! {
    ListIntakeSubmissions => submissions_come_as_a_page, a_status_that_no_submission_has_is_a_400;
    ListPeople => people_come_as_a_page, an_altered_cursor_is_a_400;
    GetPersonTimeline => a_timeline_comes_as_a_page, a_timeline_of_nobody_is_a_404;
    ListOrganizations => organizations_come_as_a_page, organizations_without_their_scope_are_a_403;
    ListOpportunities => opportunities_come_as_a_page_of_their_schema, a_list_that_is_down_is_a_503;
    ListTasks => the_callers_own_tasks_come_as_a_page, a_token_that_is_always_revoked_is_a_401;
    Search => hits_of_all_kinds_come_together, a_client_without_a_workspace_is_a_403;
}

/// A first page of that many records, with more to come.
fn assert_page(page: &Page<Record>, length: usize) {
    assert_eq!(page.items().unwrap().len(), length);
    assert!(page.next_cursor().is_some());
}

fn references_begin_with(page: &Page<Record>, prefix: &str) -> bool {
    page.items().unwrap().iter().all(|item| {
        let reference = item.text("publicReference");
        reference.is_some_and(|reference| reference.starts_with(prefix))
    })
}

async fn submissions_come_as_a_page(world: &World) -> Done {
    let page = world.crm.intake().list().await.unwrap();

    assert_page(&page, 25);
    assert!(references_begin_with(&page, "IN-"));
    Done::of(&page)
}

async fn a_status_that_no_submission_has_is_a_400(world: &World) -> Error {
    // The contract does not show the values of this filter, so the SDK takes any.
    let error = world.crm.intake().list().status("lost").await.unwrap_err();

    assert_eq!(
        world
            .last(Operation::ListIntakeSubmissions)
            .query
            .as_deref(),
        Some("status=lost")
    );
    assert_eq!(error.code(), Some("validation_failed"));
    assert!(error.message().starts_with("status:"), "{error}");
    error
}

async fn people_come_as_a_page(world: &World) -> Done {
    let page = world.crm.people().list().await.unwrap();

    assert_page(&page, 25);
    assert!(references_begin_with(&page, "PER-"));
    let first = page.items().unwrap()[0].text("publicReference");
    assert_eq!(first, Some(world.server.sample_person()));
    Done::of(&page)
}

async fn an_altered_cursor_is_a_400(world: &World) -> Error {
    let page = world.crm.people().list().await.unwrap();
    let altered = page.next_cursor().unwrap().replace(char::is_numeric, "x");

    let people = world.crm.people().list().cursor(&altered);
    let error = people.await.unwrap_err();

    let query = format!("cursor={altered}");
    assert_eq!(world.last(Operation::ListPeople).query, Some(query));
    assert!(error.message().starts_with("cursor:"), "{error}");
    error
}

async fn a_timeline_comes_as_a_page(world: &World) -> Done {
    let person = world.server.sample_person();

    let page = world.crm.people().timeline(&*person).await.unwrap();

    assert_page(&page, 50);
    let path = format!("/api/crm/v1/people/{person}/timeline");
    assert_eq!(world.last(Operation::GetPersonTimeline).path, path);
    Done::of(&page)
}

async fn a_timeline_of_nobody_is_a_404(world: &World) -> Error {
    let nobody = world.crm.people().timeline("PER-FFFFFFFFFFFF");

    let error = nobody.await.unwrap_err();

    assert!(error.is_not_found());
    error
}

async fn organizations_come_as_a_page(world: &World) -> Done {
    let page = world.crm.organizations().list().await.unwrap();

    assert_page(&page, 25);
    assert!(references_begin_with(&page, "ORG-"));
    Done::of(&page)
}

async fn organizations_without_their_scope_are_a_403(world: &World) -> Error {
    let scopes = ["crm:people:read", "crm:tasks:read"];
    let crm = sdk_crm::Client::new(&world.suite.with_scopes("crm", scopes).unwrap()).unwrap();

    let error = crm.organizations().list().await.unwrap_err();

    assert!(error.is_forbidden());
    let line = error.to_string();
    assert!(
        line.contains("requires the scope crm:organizations:read"),
        "{line}"
    );
    assert!(
        line.contains("was granted crm:people:read, crm:tasks:read"),
        "{line}"
    );
    error
}

async fn opportunities_come_as_a_page_of_their_schema(world: &World) -> Done {
    let page = world.crm.opportunities().list().await.unwrap();

    assert_eq!(
        page.schema_version.as_deref(),
        Some("suite-crm-opportunities-page.v2")
    );
    assert_page(&page, 25);
    assert!(references_begin_with(&page, "OP-"));
    Done::of(&page)
}

async fn a_list_that_is_down_is_a_503(world: &World) -> Error {
    world.server.fault(Operation::ListOpportunities).status(503);

    let error = world.crm.opportunities().list().await.unwrap_err();

    assert_eq!(error.attempts(), 3);
    assert_eq!(world.server.exchanges(), 1);
    error
}

async fn the_callers_own_tasks_come_as_a_page(world: &World) -> Done {
    let page = world.crm.tasks().list().await.unwrap();

    assert_page(&page, 25);
    assert!(references_begin_with(&page, "TSK-"));
    Done::of(&page)
}

async fn a_token_that_is_always_revoked_is_a_401(world: &World) -> Error {
    world.server.fault(Operation::ListTasks).revoke_token();

    let error = world.crm.tasks().list().await.unwrap_err();

    assert!(error.is_unauthenticated());
    // Renewed once, sent again once.
    assert_eq!((error.attempts(), world.server.exchanges()), (2, 2));
    error
}

async fn hits_of_all_kinds_come_together(world: &World) -> Done {
    let hits = world.crm.search().query("an").await.unwrap();

    let value = hits.to_value().unwrap();
    let items = value["items"].as_array().unwrap();
    assert_eq!(items.len(), 20);
    for kind in ["person", "organization", "opportunity"] {
        assert!(items.iter().any(|item| item["type"] == kind), "{kind}");
    }
    assert_eq!(world.last(Operation::Search).query.as_deref(), Some("q=an"));
    Done::of(&hits)
}

async fn a_client_without_a_workspace_is_a_403(world: &World) -> Error {
    let suite = world.suite_of(ClientSpec::without_workspace);
    let crm = sdk_crm::Client::new(&suite).unwrap();

    let error = crm.search().query("an").await.unwrap_err();

    assert_eq!(error.code(), Some("workspace_binding_required"));
    assert!(error.to_string().contains("a workspace binding"), "{error}");
    error
}
