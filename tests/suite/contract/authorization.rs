//! 403: what is missing is named, and nothing is tried again.

use sdk_core::{Effect, Error, ErrorKind};
use sdk_reference_server::{App, Operation};
use serde_json::json;

use super::world::World;
use crate::samples::{event, promotion};

fn assert_final(world: &World, error: &Error, operation: Operation) {
    assert_eq!(error.kind(), ErrorKind::Forbidden);
    assert_eq!(
        (error.status(), error.effect()),
        (Some(403), Effect::Refused)
    );
    assert_eq!((error.attempts(), error.retryable()), (1, false));
    assert!(error.command().is_none());
    assert_eq!(world.server.attempts(operation), 1);
    assert_eq!(world.server.commits(operation), 0);
    assert_eq!(world.server.exchanges(), 1);
}

#[tokio::test]
async fn a_command_without_its_scope_names_required_and_granted_scopes() {
    let world = World::start().await;
    let suite = world.suite_of(|client| client.scopes(["calendar:event:read", "crm:today:read"]));
    let calendar = sdk_calendar::Client::new(&suite).unwrap();

    let error = calendar
        .events()
        .command(&event("Kick-off"))
        .await
        .unwrap_err();

    assert_final(&world, &error, Operation::SubmitEventCommand);
    let line = error.to_string();
    assert!(
        line.contains("requires the scope calendar:event:write"),
        "{line}"
    );
    // Of the scopes that the client holds, its token has those of the audience.
    assert!(
        line.contains("the token was granted calendar:event:read;"),
        "{line}"
    );
}

#[tokio::test]
async fn a_command_that_takes_any_of_four_scopes_names_them_all() {
    let world = World::start().await;
    let suite = world.suite.with_scopes("crm", ["crm:people:read"]).unwrap();
    let crm = sdk_crm::Client::new(&suite).unwrap();

    let command = promotion(&world.server.sample_person(), "Controller");
    let error = crm.commands().submit(command).await.unwrap_err();

    assert_final(&world, &error, Operation::SubmitCommand);
    let any_of = "requires any of the scopes crm:opportunities:write, crm:organizations:write, \
                  crm:people:write, crm:tasks:write";
    let line = error.to_string();
    assert!(line.contains(any_of), "{line}");
    assert!(
        line.contains("the token was granted crm:people:read"),
        "{line}"
    );
}

#[tokio::test]
async fn any_of_the_four_scopes_opens_its_own_kind_of_command_only() {
    let world = World::start().await;
    let suite = world.suite.with_scopes("crm", ["crm:tasks:write"]).unwrap();
    let crm = sdk_crm::Client::new(&suite).unwrap();
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
async fn a_token_without_any_scope_is_told_so() {
    let world = World::start().await;
    let suite = world.suite_of(|client| client.scopes(["crm:today:read"]));
    let accounting = sdk_accounting::Client::new(&suite).unwrap();

    let error = accounting.counterparties().list().await.unwrap_err();

    assert_final(&world, &error, Operation::ListFinancialCounterparties);
    // RFC 6749 lets a reply leave out an empty list; then nothing is known of it.
    let line = error.to_string();
    assert!(line.contains("did not say what it granted"), "{line}");
}

#[tokio::test]
async fn a_publication_needs_the_entitlements_of_the_platform_and_of_its_source() {
    let world = World::start().await;
    let (app, kind, record) = world.server.sample_publication();
    let entitled = [vec![App::Crm], vec![App::Platform, App::Calendar]];

    for (apps, missing) in entitled.into_iter().zip(["platform", "crm"]) {
        let suite = world.suite_of(|client| client.apps(apps));
        let platform = sdk_platform::Client::new(&suite).unwrap();

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
