//! 401: credentials and tokens that do not hold. What follows for every operation is in `every`.

use sdk_core::{ClientCredentials, Effect, ErrorKind};
use sdk_reference_server::{App, Operation};
use serde_json::json;

use super::bypass::Bypass;
use super::world::World;
use crate::samples::kick_off;
use crate::support::{Clients, builder_for};

#[tokio::test]
async fn a_second_401_in_a_row_is_the_callers() {
    let world = World::start().await;
    world
        .server
        .fault(Operation::SubmitEventCommand)
        .status(401);

    let error = kick_off(&world.calendar).await.unwrap_err();

    assert_eq!(error.kind(), ErrorKind::Unauthenticated);
    assert_eq!((error.attempts(), error.effect()), (2, Effect::Refused));
    assert!(!error.is_retryable() && error.command().is_none());
    assert_eq!(world.server.exchanges(), 2);
    assert_eq!(world.server.commits(Operation::SubmitEventCommand), 0);
}

#[tokio::test]
async fn refused_credentials_are_told_without_a_call() {
    let world = World::start().await;
    let credentials = ClientCredentials::new(world.server.client_id(), "wrong");
    let crm = builder_for(&world.server).credentials(credentials).crm();

    let error = crm.today().get().await.unwrap_err();

    assert!(error.is_unauthenticated());
    assert_eq!(error.code(), Some("invalid_client"));
    assert_eq!((error.attempts(), error.effect()), (0, Effect::NotSent));
    assert_eq!(error.operation().unwrap().id, "getToday");
    assert!(
        error
            .to_string()
            .starts_with("crm.getToday: not authenticated invalid_client")
    );
    assert_eq!(world.server.attempts(Operation::GetToday), 0);
}

/// The other side: what the server refuses is refused however it comes.
#[tokio::test]
async fn a_token_for_another_audience_or_none_at_all_is_a_401() {
    let world = World::start().await;
    let calendar = Bypass::to(&world.server, App::Calendar)
        .await
        .at(world.server.crm_url());

    let wrong = calendar.get("/api/crm/v1/today").await;
    let none = calendar.without_token().get("/api/crm/v1/today").await;

    for reply in [wrong, none] {
        assert_eq!(reply.status, 401, "{}", reply.body);
        assert_eq!(reply.body["code"], json!("unauthenticated"));
        assert!(reply.headers.contains_key("www-authenticate"));
    }
}
