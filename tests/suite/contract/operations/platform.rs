//! Platform: token, apps, organization, publications.

use sdk_core::Error;
use sdk_platform::types::TokenRequest;
use sdk_reference_server::{App, Operation};

use crate::contract::case::{Done, operations};
use crate::contract::world::World;

operations! {
    ExchangeToken => a_credential_is_exchanged_for_a_token, a_wrong_secret_is_a_401;
    ListApps => installed_apps_are_open_json, apps_without_their_scope_are_a_403;
    GetOrganizationContext => the_context_is_open_json, a_platform_that_is_down_is_a_503;
    GetPublication => a_publication_is_one_projection, no_such_publication_is_a_404;
}

fn token_request(world: &World, secret: &str) -> TokenRequest {
    TokenRequest::new()
        .client_id(world.server.client_id())
        .client_secret(secret)
        .audience(world.server.audience(App::Crm))
        .scope("crm:people:read crm:tasks:read")
}

async fn a_credential_is_exchanged_for_a_token(world: &World) -> Done {
    let request = token_request(world, world.server.client_secret());

    let token = world.platform.oauth().token(&request).await.unwrap();

    assert!(!token.access_token.as_ref().unwrap().expose().is_empty());
    assert_eq!(token.token_type.as_deref(), Some("Bearer"));
    assert_eq!(token.expires_in, Some(300));
    assert_eq!(token.scope, request.scope);
    let seen = world.last(Operation::ExchangeToken);
    let form = String::from_utf8(seen.body().to_vec()).unwrap();
    assert!(form.starts_with("grant_type=client_credentials&"), "{form}");
    assert!(
        form.contains("scope=crm%3Apeople%3Aread+crm%3Atasks%3Aread"),
        "{form}"
    );
    Done::of(&token)
}

async fn a_wrong_secret_is_a_401(world: &World) -> Error {
    let request = token_request(world, "wrong");

    let error = world.platform.oauth().token(&request).await.unwrap_err();

    assert!(error.is_unauthenticated());
    assert_eq!(error.code(), Some("invalid_client"));
    assert_eq!(error.attempts(), 1);
    assert_eq!(world.server.exchanges(), 0);
    error
}

async fn installed_apps_are_open_json(world: &World) -> Done {
    let apps = world.platform.apps().list().await.unwrap();

    let items = &apps.to_value().unwrap()["items"];
    let ids = [&items[0]["appId"], &items[1]["appId"], &items[2]["appId"]];
    assert_eq!(ids, ["crm", "calendar", "accounting"]);
    Done::of(&apps)
}

async fn apps_without_their_scope_are_a_403(world: &World) -> Error {
    let scopes = ["suite.organization.basic:read"];
    let suite = world
        .suite
        .with_scopes(sdk_core::App::Platform, scopes)
        .unwrap();
    let platform = sdk_platform::Client::new(&suite).unwrap();

    let error = platform.apps().list().await.unwrap_err();

    // Code, message and request id come from the documented envelope.
    assert_eq!(error.code(), Some("insufficient_scope"));
    assert_eq!(error.message(), "the token lacks suite.apps:read");
    let envelope: serde_json::Value = serde_json::from_slice(error.body().unwrap()).unwrap();
    let request_id = envelope["error"]["requestId"].as_str();
    assert_eq!(error.request_id(), request_id);
    let line = error.to_string();
    assert!(
        line.contains("requires the scope suite.apps:read"),
        "{line}"
    );
    assert!(
        line.contains("granted suite.organization.basic:read"),
        "{line}"
    );
    error
}

async fn the_context_is_open_json(world: &World) -> Done {
    let context = world.platform.organization().get().await.unwrap();

    assert_eq!(
        context.to_value().unwrap()["installation"]["status"],
        "active"
    );
    Done::of(&context)
}

async fn a_platform_that_is_down_is_a_503(world: &World) -> Error {
    world
        .server
        .fault(Operation::GetOrganizationContext)
        .status(503);

    let error = world.platform.organization().get().await.unwrap_err();

    assert_eq!(error.attempts(), 3);
    error
}

async fn a_publication_is_one_projection(world: &World) -> Done {
    let (app, kind, record) = world.server.sample_publication();

    let publication = world.platform.publications().get(&*app, &*kind, &*record);
    let publication = publication.await.unwrap();

    let value = publication.to_value().unwrap();
    assert_eq!(value["sourceRecordId"], *record);
    let path = format!("/platform/v1/publications/{app}/{kind}/{record}");
    assert_eq!(world.last(Operation::GetPublication).path, path);
    Done::of(&publication)
}

async fn no_such_publication_is_a_404(world: &World) -> Error {
    let publications = world.platform.publications();

    let unknown = publications.get("crm", "spaceship", "a bü?#%");
    let error = unknown.await.unwrap_err();

    let path = "/platform/v1/publications/crm/spaceship/a%20b%C3%BC%3F%23%25";
    assert_eq!(world.last(Operation::GetPublication).path, path);
    error
}
