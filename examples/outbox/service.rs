//! The service: takes orders, and has a delivery entered in the calendar for each.

use std::path::Path;
use std::process::ExitCode;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, ToSpan as _};
use sdk_calendar::Client;
use sdk_calendar::types::EventCommand;
use sdk_core::{IdempotencyKey, Suite};

use crate::out::note;
use crate::steps::Steps;
use crate::stop::Stop;
use crate::store::Store;
use crate::{Failure, worker};

/// Takes as many orders as there shall be, and sends what follows from them; the rest another time if it is to stop.
pub(crate) async fn run(
    database: &Path,
    orders: u32,
    steps: &Steps,
    stop: &mut Stop,
) -> Result<ExitCode, Failure> {
    let calendar = Client::new(&Suite::from_env()?)?;
    let mut store = Store::open(database)?;
    for number in 1..=orders {
        if stop.is_heard() {
            break;
        }
        let order = order_id(database, number);
        place(&mut store, &calendar, &order, number, steps)?;
    }
    let drained = worker::drain(&store, &calendar, steps, stop).await?;
    let (placed, receipts, _, parked) = store.counts()?;
    if parked > 0 {
        note!("{parked} commands wait for a person: the column `parked` says why.");
    }
    if drained && placed >= orders {
        return Ok(ExitCode::SUCCESS);
    }
    note!(
        "Stopped with {placed} orders and {receipts} receipts; the same command goes on from here."
    );
    Ok(stop.status())
}

/// What a handler of a request does: everything in one transaction, and nothing over the network.
fn place(
    store: &mut Store,
    calendar: &Client,
    order: &str,
    number: u32,
    steps: &Steps,
) -> Result<(), Failure> {
    let midnight = Timestamp::UNIX_EPOCH.to_zoned(TimeZone::UTC);
    let due = midnight.checked_add(i64::from(number).days().hours(9))?;
    let until = due.checked_add(SignedDuration::from_mins(30))?;
    let delivery = EventCommand::create()
        .collection_reference("deliveries")
        .title(format!("Delivery of {order}"))
        .between(&due, &until);
    let command = calendar
        .events()
        .command(&delivery)
        .idempotency_key(IdempotencyKey::derive("outbox/delivery", [order]))
        .prepare()?;
    steps.take("prepared, not stored");
    store.place(order, &due.to_string(), &command, steps)?;
    steps.take("stored");
    Ok(())
}

/// An id that no other database has.
fn order_id(database: &Path, number: u32) -> String {
    let name = database.file_stem().unwrap_or_default();
    format!("{}-{number}", name.display())
}
