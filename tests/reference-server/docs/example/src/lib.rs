//! Books a call for every qualified opportunity that has no owner.

use jiff::{SignedDuration, Zoned};
use sdk_calendar::types::EventCommand;
use sdk_calendar::{Error, IdempotencyKey, Suite};
use sdk_crm::types::{OpportunityOwner, OpportunityStage};

/// Books consecutive calls of half an hour each, and returns the references of the events.
pub async fn book_calls(suite: &Suite, first: &Zoned) -> Result<Vec<String>, Error> {
    let crm = sdk_crm::Client::new(suite)?;
    let calendar = sdk_calendar::Client::new(suite)?;
    let mut unowned = crm
        .opportunities()
        .list()
        .stage(OpportunityStage::Qualified)
        .owner(OpportunityOwner::none())
        .items();

    let mut booked = Vec::new();
    let mut start = first.clone();
    while let Some(opportunity) = unowned.try_next().await? {
        let reference = opportunity.text("publicReference").unwrap_or_default();
        let end = start.saturating_add(SignedDuration::from_mins(30));
        let command = EventCommand::create()
            .collection_reference("calls")
            .title(format!("Call about {reference}"))
            .between(&start, &end);
        // The key is derived from the opportunity, so a second run books no call twice.
        let key = IdempotencyKey::derive("book-calls", [&reference]);
        let receipt = calendar
            .events()
            .command(&command)
            .idempotency_key(key)
            .await?;
        booked.push(receipt.public_reference.clone());
        start = end;
    }
    Ok(booked)
}
