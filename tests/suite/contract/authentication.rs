//! 401: a token that does not hold is renewed once, and the call sent again once.

use std::time::Duration;

use sdk_core::{ClientCredentials, Effect, ErrorKind};
use sdk_reference_server::{App, Operation};
use serde_json::json;

use super::bypass::Bypass;
use super::world::World;
use crate::samples::promotion;
use crate::support::builder_for;

fn statuses(world: &World, operation: Operation) -> Vec<u16> {
    let seen = world.server.requests_for(operation);
    seen.iter().map(|seen| seen.status.unwrap()).collect()
}

#[tokio::test]
async fn a_read_with_a_revoked_token_is_sent_again_with_another() {
    let world = World::start().await;
    world.crm.today().get().await.unwrap();
    world.server.revoke_tokens();

    let today = world.crm.today().get().await.unwrap();

    assert_eq!((today.http_status(), today.attempts()), (200, 2));
    assert_eq!(statuses(&world, Operation::GetToday), [200, 401, 200]);
    assert_eq!(world.server.exchanges(), 2);
}

#[tokio::test]
async fn a_read_with_an_expired_token_is_sent_again_with_another() {
    let world = World::start().await;
    world.crm.today().get().await.unwrap();
    world.server.advance(Duration::from_secs(300));

    let today = world.crm.today().get().await.unwrap();

    assert_eq!(today.attempts(), 2);
    assert_eq!(statuses(&world, Operation::GetToday), [200, 401, 200]);
}

#[tokio::test]
async fn a_keyed_command_with_a_revoked_token_keeps_its_key() {
    let world = World::start().await;
    world.calendar.prewarm().await.unwrap();
    world.server.revoke_tokens();

    let receipt = world.kick_off().await.unwrap();

    assert_eq!(
        (receipt.http_status(), receipt.attempts(), receipt.replayed),
        (201, 2, false)
    );
    let seen = world.server.requests_for(Operation::SubmitEventCommand);
    let key = receipt.idempotency_key().map(|key| key.as_str().to_owned());
    let keys: Vec<_> = seen.iter().map(|seen| seen.idempotency_key()).collect();
    assert_eq!(keys, [key.as_deref(), key.as_deref()]);
    assert_eq!(seen[0].body(), seen[1].body());
    assert_eq!(world.server.commits(Operation::SubmitEventCommand), 1);
}

/// Even a command without a key: a 401 says that it had no effect.
#[tokio::test]
async fn an_unkeyed_command_with_a_revoked_token_is_sent_again() {
    let world = World::start().await;
    world.crm.prewarm().await.unwrap();
    world.server.revoke_tokens();

    let command = promotion(&world.server.sample_person(), "Controller");
    let receipt = world.crm.commands().submit(command).await.unwrap();

    assert_eq!((receipt.http_status(), receipt.attempts()), (201, 2));
    assert_eq!(statuses(&world, Operation::SubmitCommand), [401, 201]);
    assert_eq!(world.server.commits(Operation::SubmitCommand), 1);
}

#[tokio::test]
async fn a_second_401_in_a_row_is_the_callers() {
    let world = World::start().await;
    world
        .server
        .fault(Operation::SubmitEventCommand)
        .status(401);

    let error = world.kick_off().await.unwrap_err();

    assert_eq!(error.kind(), ErrorKind::Unauthenticated);
    assert_eq!((error.attempts(), error.effect()), (2, Effect::Refused));
    assert!(!error.retryable() && error.command().is_none());
    assert_eq!(world.server.exchanges(), 2);
    assert_eq!(world.server.commits(Operation::SubmitEventCommand), 0);
}

#[tokio::test]
async fn refused_credentials_are_told_without_a_call() {
    let world = World::start().await;
    let credentials = ClientCredentials::new(world.server.client_id(), "wrong");
    let suite = builder_for(&world.server)
        .credentials(credentials)
        .build()
        .unwrap();
    let crm = sdk_crm::Client::new(&suite).unwrap();

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
