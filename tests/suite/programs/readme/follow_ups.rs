use sdk_calendar::types::EventCommand;
use sdk_crm::{Effect, Error, IdempotencyKey, Suite, types::OpportunityStage};

/// Books a follow-up at this time for each qualified opportunity. It can run again: nothing is booked twice.
pub async fn book(suite: &Suite, start: &str, end: &str) -> Result<(), Error> {
    let crm = sdk_crm::Client::new(suite)?;
    let calendar = sdk_calendar::Client::new(suite)?;
    let list = crm.opportunities().list();
    let mut walk = list.stage(OpportunityStage::Qualified).items();
    while let Some(opportunity) = walk.try_next().await? {
        // The contract does not show the members: that this one is a reference is assumed (A76).
        let Some(reference) = opportunity.text("publicReference") else {
            println!("left out, without a reference: {opportunity}");
            continue;
        };
        let event = EventCommand::create()
            .collection_reference("follow-ups")
            .title(opportunity.text("title").unwrap_or_default())
            .starts_at(start)
            .ends_at(end)
            .timezone("UTC");
        // It follows from opportunity and time, so it is the same in every process and on every run.
        let key = IdempotencyKey::derive("sales/follow-up", [&*reference, start]);
        match calendar.events().command(&event).idempotency_key(key).await {
            Ok(receipt) => println!("{reference}: {}", receipt.public_reference),
            Err(error) => match error.effect() {
                Effect::NotSent | Effect::Refused => return Err(error), // nothing was booked
                Effect::Unknown => println!("{reference}: run me again ({error})"),
            },
        }
    }
    Ok(())
}
