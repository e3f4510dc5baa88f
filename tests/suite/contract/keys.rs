//! The `Idempotency-Key` that a command gets when the caller gives none.

use std::collections::HashSet;

use sdk_accounting::types::ImportMode;
use sdk_core::Effect;
use sdk_reference_server::Operation;

use super::world::World;
use crate::samples::{draft, event, import, promotion};

fn keys(world: &World, operation: Operation) -> Vec<String> {
    let seen = world.server.requests_for(operation);
    let key =
        |seen: &sdk_reference_server::RecordedRequest| seen.idempotency_key().map(str::to_owned);
    seen.iter().filter_map(key).collect()
}

#[tokio::test]
async fn every_call_makes_a_key_of_its_own() {
    let world = World::start().await;
    let draft = draft(&world.server.sample_counterparty(), 1);
    let run = import("ledger-adapter", ImportMode::EvidenceOnly);
    let kick_off = event("Kick-off");

    // Equal commands: without a key in common they are two that are both meant.
    for _ in 0..2 {
        world.calendar.events().command(&kick_off).await.unwrap();
        world
            .accounting
            .invoice_drafts()
            .create(&draft)
            .await
            .unwrap();
        world.accounting.import_runs().create(&run).await.unwrap();
    }

    let operations = [
        Operation::SubmitEventCommand,
        Operation::CreateInvoiceDraft,
        Operation::CreateImportRun,
    ];
    let mut all = Vec::new();
    for operation in operations {
        all.extend(keys(&world, operation));
        assert_eq!(world.server.commits(operation), 2);
    }
    let distinct: HashSet<&String> = all.iter().collect();
    assert_eq!((all.len(), distinct.len()), (6, 6));
    assert!(all.iter().all(|key| key.len() == 32));
}

#[tokio::test]
async fn every_attempt_of_a_call_has_the_same_key() {
    let world = World::start().await;
    world
        .server
        .fault(Operation::SubmitEventCommand)
        .times(2)
        .status(503);

    let receipt = world.kick_off().await.unwrap();

    let key = receipt.idempotency_key().unwrap().as_str();
    assert_eq!(keys(&world, Operation::SubmitEventCommand), [key; 3]);
}

#[tokio::test]
async fn a_builder_that_is_cloned_makes_two_calls_with_two_keys() {
    let world = World::start().await;
    let command = world.kick_off();

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

    let error = world.kick_off().await.unwrap_err();

    assert_eq!((error.attempts(), error.effect()), (3, Effect::Unknown));
    let key = error.idempotency_key().unwrap().as_str().to_owned();
    assert_eq!(keys(&world, Operation::SubmitEventCommand), [&*key; 3]);

    let command = error.into_command().unwrap();
    let receipt = world.calendar.send_prepared(&command).await.unwrap();

    assert_eq!(receipt.to_value().unwrap()["replayed"], true);
    assert_eq!(receipt.idempotency_key().unwrap().as_str(), key);
    assert_eq!(world.server.commits(Operation::SubmitEventCommand), 1);
}

#[tokio::test]
async fn a_prepared_command_has_its_key_before_it_is_sent() {
    let world = World::start().await;

    let command = world.kick_off().prepare().unwrap();
    assert!(world.server.requests().is_empty());
    let stored = serde_json::to_string(&command).unwrap();
    let restored: sdk_core::PreparedCommand = serde_json::from_str(&stored).unwrap();
    let first = world.calendar.send_prepared(&command).await.unwrap();
    let again = world.calendar.send_prepared(&restored).await.unwrap();

    assert_eq!((first.http_status(), again.http_status()), (201, 200));
    let key = command.idempotency_key().unwrap().as_str();
    assert_eq!(keys(&world, Operation::SubmitEventCommand), [key; 2]);
    assert_eq!(world.server.commits(Operation::SubmitEventCommand), 1);
}

#[tokio::test]
async fn commands_without_a_documented_key_have_none() {
    let world = World::start().await;

    let command = promotion(&world.server.sample_person(), "Controller");
    let receipt = world.crm.commands().submit(command).await.unwrap();

    assert_eq!(receipt.idempotency_key(), None);
    assert!(keys(&world, Operation::SubmitCommand).is_empty());
}
