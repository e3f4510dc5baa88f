//! The token operation, called like any other. Programs need not: the runtime exchanges tokens by itself.

use sdk_core::{Effect, ErrorKind};
use sdk_platform::types::TokenForm;
use sdk_reference_server::{App, Operation};

use super::world::{World, http};
use crate::support::assert_says;

fn request(world: &World) -> TokenForm {
    TokenForm::new()
        .client_id(world.server.client_id())
        .client_secret(world.server.client_secret())
        .audience(world.server.audience(App::Crm))
}

#[tokio::test]
async fn neither_the_secret_nor_the_token_is_shown() {
    let world = World::start().await;
    let request = request(&world);
    let call = world.platform.oauth().token(&request);
    let mut shown = vec![format!("{request:?}"), format!("{call:?}")];

    let response = call.await.unwrap();

    let token = response.access_token.as_ref().unwrap().expose();
    assert!(token.starts_with("ey"), "a JWT");
    shown.extend([format!("{response:?}"), format!("{:?}", *response)]);
    for text in shown {
        assert!(!text.contains(world.server.client_secret()), "{text}");
        assert!(!text.contains(token), "{text}");
    }
}

#[tokio::test]
async fn the_token_opens_the_application_that_it_is_for() {
    let world = World::start().await;
    let scope = "crm:tasks:read";
    let response = world
        .platform
        .oauth()
        .token(&request(&world).scope(scope))
        .await
        .unwrap();
    let token = response.access_token.as_ref().unwrap().expose();
    let http = http().build().unwrap();
    let get = async |url: String| {
        let reply = http.get(url).bearer_auth(token).send().await;
        reply.unwrap().status().as_u16()
    };

    let crm = world.server.crm_url();
    assert_eq!(get(format!("{crm}/api/crm/v1/tasks")).await, 200);
    assert_eq!(get(format!("{crm}/api/crm/v1/people")).await, 403);
    let accounting = world.server.accounting_url();
    assert_eq!(get(format!("{accounting}/overview")).await, 401);
}

#[tokio::test]
async fn what_the_endpoint_refuses_is_named_in_its_own_terms() {
    let world = World::start().await;
    let whole = || request(&world);
    let cases = [
        (whole().scope("crm:everything"), 400, "invalid_scope"),
        (
            whole().audience("https://elsewhere.example"),
            400,
            "invalid_target",
        ),
        (whole().client_id("nobody"), 401, "invalid_client"),
        (whole().client_secret("wrong"), 401, "invalid_client"),
        (TokenForm::new(), 401, "invalid_client"),
    ];

    for (request, status, code) in cases {
        let error = world.platform.oauth().token(&request).await.unwrap_err();

        assert_eq!((error.status(), error.code()), (Some(status), Some(code)));
        assert_eq!((error.effect(), error.attempts()), (Effect::Refused, 1));
        assert!(!error.message().is_empty(), "{code}");
        assert!(!format!("{error} {error:?}").contains(world.server.client_secret()));
    }
    assert_eq!(world.server.exchanges(), 0);
}

#[tokio::test]
async fn an_endpoint_that_is_down_leaves_no_secret_behind() {
    let world = World::start().await;
    world.server.fault(Operation::ExchangeToken).status(503);

    let error = world
        .platform
        .oauth()
        .token(&request(&world))
        .await
        .unwrap_err();

    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.is_retryable());
    // A prepared command is made to be stored, and this one would hold the client's secret.
    assert!(error.command().is_none());
}

#[tokio::test]
async fn further_form_fields_go_out_as_they_are() {
    let world = World::start().await;
    let mut request = request(&world);
    request.extra.insert("resource", "https://api.example");

    world.platform.oauth().token(&request).await.unwrap();

    let seen = world.last(Operation::ExchangeToken);
    let form = String::from_utf8(seen.body().to_vec()).unwrap();
    // The server's record shows the values of the fields that it knows.
    assert_says(
        &form,
        &[
            "&resource=[redacted]",
            &format!("&client_id={}&", world.server.client_id()),
        ],
    );
}
