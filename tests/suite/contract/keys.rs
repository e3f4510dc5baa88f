//! The `Idempotency-Key` that a command gets when the caller gives none.

use sdk_core::Effect;
use sdk_reference_server::Operation;

use super::world::World;
use crate::samples::kick_off;

fn keys(world: &World, operation: Operation) -> Vec<String> {
    let seen = world.server.requests_for(operation);
    let key =
        |seen: &sdk_reference_server::RecordedRequest| seen.idempotency_key().map(str::to_owned);
    seen.iter().filter_map(key).collect()
}

#[tokio::test]
async fn a_builder_that_is_cloned_makes_two_calls_with_two_keys() {
    let world = World::start().await;
    let command = kick_off(&world.calendar);

    let first = command.clone().await.unwrap();
    let second = command.await.unwrap();

    assert_ne!(first.idempotency_key(), second.idempotency_key());
    assert_eq!(world.server.commits(Operation::SubmitEventCommand), 2);
}

#[tokio::test]
async fn a_call_that_failed_shows_its_key_and_can_be_sent_again_with_it() {
    let world = World::start().await;
    let fault = world.server.fault(Operation::SubmitEventCommand).times(3);
    fault.reply_after_commit_with(503);

    let error = kick_off(&world.calendar).await.unwrap_err();

    assert_eq!((error.attempts(), error.effect()), (3, Effect::Unknown));
    let key = error.idempotency_key().unwrap().as_str().to_owned();
    assert_eq!(keys(&world, Operation::SubmitEventCommand), [&*key; 3]);

    let command = error.into_command().unwrap();
    let receipt = world.calendar.send_prepared(&command).await.unwrap();

    assert_eq!(receipt.to_value().unwrap()["replayed"], true);
    assert_eq!(receipt.idempotency_key().unwrap().as_str(), key);
    assert_eq!(world.server.commits(Operation::SubmitEventCommand), 1);
}
