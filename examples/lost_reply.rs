//! A command got no response. Was it applied, and how do I resend it?
//!
//! Dependencies: sdk-calendar and tokio (features `macros`, `rt-multi-thread` and `time`). This demo starts
//! sdk-reference-server. A real service calls `Suite::from_env()` instead. To survive a crash, store the command before
//! you send it, as the `outbox` example does.

use std::time::Duration;

use sdk_calendar::types::{CalendarCommandResult, EventCommand};
use sdk_calendar::{Client, Effect, Error, IdempotencyKey, PreparedCommand, Receipt, Suite};
use sdk_reference_server::{Operation, ReferenceServer};

#[tokio::main]
async fn main() -> Result<(), Error> {
    let server = ReferenceServer::start().await;
    let suite = Suite::builder().variables(server.environment()).build()?;
    let calendar = Client::new(&suite)?;

    let delivery = EventCommand::create()
        .collection_reference("deliveries")
        .title("Delivery of order 4711")
        .starts_at("2026-12-01T09:00:00Z")
        .ends_at("2026-12-01T09:30:00Z")
        .timezone("UTC");
    // The key is derived from the order number, so every process that delivers this order uses the same key.
    let key = IdempotencyKey::derive("orders/delivery", ["4711"]);
    let call = calendar.events().command(&delivery);
    let command = call.idempotency_key(key).prepare()?;

    // The Calendar applies the command, but its first five responses never arrive.
    let operation = Operation::SubmitEventCommand;
    server.fault(operation).times(5).lose_reply();
    let receipt = deliver(&calendar, &command).await?;

    println!(
        "{}, replayed: {}",
        receipt.public_reference, receipt.replayed
    );
    let (attempts, commits) = (server.attempts(operation), server.commits(operation));
    println!("{attempts} attempts, applied {commits} time");
    Ok(())
}

/// Resends the same command until its outcome is known. Each call makes up to three attempts.
async fn deliver(
    calendar: &Client,
    command: &PreparedCommand,
) -> Result<Receipt<CalendarCommandResult>, Error> {
    let mut pause = Duration::from_secs(1);
    let mut calls = 0;
    loop {
        let call = calendar.send_prepared(command);
        let error = match call.typed::<CalendarCommandResult>().await {
            Ok(receipt) => return Ok(receipt),
            Err(error) => error,
        };
        calls += 1;
        match error.effect() {
            // The command may have been applied. Resending it with the same key can't apply it twice.
            Effect::Unknown if command.is_replayable() && calls < 5 => {
                println!("{error}");
                tokio::time::sleep(pause).await;
                pause *= 2;
            }
            // The command was not applied, or this function gives up. A person must check.
            Effect::Unknown | Effect::NotSent | Effect::Refused => return Err(error),
        }
    }
}
