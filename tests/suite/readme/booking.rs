use sdk_calendar::types::EventCommand;
use sdk_calendar::{Client, Error, IdempotencyKey, Suite};

pub async fn book(
    suite: &Suite,
    order: &str,
    start: &jiff::Zoned,
    end: &jiff::Zoned,
) -> Result<String, Error> {
    let calendar = Client::new(suite)?;
    let command = EventCommand::create()
        .collection_reference("deliveries")
        .title(order)
        .between(start, end);
    // The key follows from the order: sent twice, even by two processes, it is booked once.
    let key = IdempotencyKey::derive("deliveries/book", [order]);
    let receipt = calendar
        .events()
        .command(&command)
        .idempotency_key(key)
        .await?;
    println!(
        "{} (seen before: {})",
        receipt.public_reference, receipt.replayed
    );
    Ok(receipt.public_reference.clone())
}
