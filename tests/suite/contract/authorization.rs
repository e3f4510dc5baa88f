//! 403: which of several rights opens what. What every operation says of rights that are missing is in `every`.

use sdk_reference_server::{App, Operation};
use serde_json::json;

use super::world::World;
use crate::samples::promotion;
use crate::support::Clients;

#[tokio::test]
async fn any_of_the_four_scopes_opens_its_own_kind_of_command_only() {
    let world = World::start().await;
    let crm = world
        .suite
        .with_scopes(sdk_core::App::Crm, ["crm:tasks:write"])
        .unwrap()
        .crm();
    let task = json!({"commandType": "task.create", "payload": {"title": "Call back"}});
    let person = promotion(&world.server.sample_person(), "Controller");

    assert_eq!(
        crm.commands().submit(task).await.unwrap().http_status(),
        201
    );
    let error = crm.commands().submit(person).await.unwrap_err();

    assert!(error.is_forbidden());
    assert_eq!(error.message(), "person.update needs crm:people:write");
    assert_eq!(world.server.commits(Operation::SubmitCommand), 1);
}

#[tokio::test]
async fn a_publication_needs_the_entitlements_of_the_platform_and_of_its_source() {
    let world = World::start().await;
    let (app, kind, record) = world.server.sample_publication();
    let entitled = [vec![App::Crm], vec![App::Platform, App::Calendar]];

    for (apps, missing) in entitled.into_iter().zip(["platform", "crm"]) {
        let platform = world.suite_of(|client| client.apps(apps)).platform();

        let publication = platform.publications().get(&*app, &*kind, &*record);
        let error = publication.await.unwrap_err();

        assert!(error.is_forbidden());
        assert_eq!(error.code(), Some("entitlement_required"));
        assert_eq!(
            error.message(),
            format!("the client is not entitled to {missing}")
        );
    }
}
