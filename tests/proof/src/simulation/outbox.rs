//! A service's outbox, which stores commands before it sends them, and sends them until it has stored their receipts.

use std::time::{Duration, SystemTime};

use fastrand::Rng;
use sdk_accounting::types::AccountingCommandResult;
use sdk_calendar::types::CalendarCommandResult;
use sdk_core::{Backoff, Effect, PreparedCommand};
use sdk_outbox::{ParkReason, StoredOutcome, StoredRule, StoredState, StoredStep};
use suite_checker::{Event, Kind};
use tokio::time::sleep;

use super::answer::{json, reference};
use super::call::{Failure, Options, form, with_options};
use super::caller::{draft, event, key, person, reply};
use super::network::CALL;
use super::service::Store;
use super::stage::{Number, locked};
use super::suites::Seat;

/// A pending command: without a receipt and not parked for a person.
#[derive(Clone)]
pub(super) struct Row {
    pub(super) number: u64,
    /// The index of its installation.
    at: usize,
    /// The command in its stored form.
    command: String,
    first_sent: Option<SystemTime>,
    attempts: u32,
    /// The time of its next check. A command without a time is new or being sent.
    due: Option<SystemTime>,
    /// The call that left the command with an unknown effect.
    resends: Option<u64>,
}

/// Stores new commands and sends stored commands until the simulation is calm and none is left.
pub(super) async fn work(seats: Vec<Seat>, store: Store, epoch: SystemTime, mut rng: Rng) {
    let stage = seats[0].stage.clone();
    loop {
        let now = epoch + Duration::from_micros(stage.now());
        let calm = stage.is_calm();
        if !calm && rng.u8(..3) == 0 {
            let seat = &seats[rng.usize(..seats.len())];
            place(seat, &store, &mut rng);
        }
        let rows = locked(&store.rows).clone();
        if calm && rows.is_empty() {
            return;
        }
        let is_due = |row: &Row| row.due.is_none_or(|due| due <= now);
        for row in rows.into_iter().filter(is_due) {
            let seat = seats.iter().find(|it| it.at == row.at);
            let seat = seat.expect("a seat for each installation");
            send(seat, &store, row, now, &mut rng).await;
        }
        sleep(Duration::from_millis(rng.u64(50..3_000))).await;
    }
}

/// Prepares a command and stores it.
fn place(seat: &Seat, store: &Store, rng: &mut Rng) {
    seat.stage.count("commands: stored");
    let number = seat.stage.next(Number::Command);
    let name = format!("stored {number}");
    let command = match rng.u8(..6) {
        0..3 => {
            let own = key(seat.at, &name);
            seat.calendar
                .events()
                .command(&event(&name))
                .idempotency_key(own)
                .prepare()
        }
        3 => seat
            .accounting
            .invoice_drafts()
            .create(&draft(&seat.installation().counterparty, &name))
            .prepare(),
        4 => seat.crm.commands().submit(person(&name)).prepare(),
        _ => seat.calendar.attendance().respond(reply(&name)).prepare(),
    };
    let command = command.expect("it is valid");
    seat.stage.record(Event::Stored {
        command: number,
        installation: seat.installation().number,
        form: form(&command),
    });
    locked(&store.rows).push(Row {
        number,
        at: seat.at,
        command: serde_json::to_string(&command).expect("a command is JSON"),
        first_sent: None,
        attempts: 0,
        due: None,
        resends: None,
    });
}

async fn send(seat: &Seat, store: &Store, row: Row, now: SystemTime, rng: &mut Rng) {
    let command: PreparedCommand = serde_json::from_str(&row.command).expect("it was stored");
    let before = command.was_sent() || row.first_sent.is_some();
    let park = |reason: &ParkReason, was_sent: bool| {
        seat.stage.count("commands: stored, parked for a person");
        locked(&store.rows).retain(|it| it.number != row.number);
        seat.stage.record(Event::Parked {
            command: row.number,
            was_sent,
            refused: matches!(reason, ParkReason::Refused { .. }),
            reason: reason.to_string(),
        });
    };
    let backoff = Backoff::new(Duration::from_secs(1), Duration::from_secs(30));
    let rule = StoredRule::default().with_backoff(backoff);
    let state = StoredState::of(&command)
        .with_first_sent(row.first_sent)
        .with_attempts(row.attempts);
    if let StoredStep::Park(reason) = rule.next(&state, now) {
        return park(&reason, before);
    }
    store.change(row.number, |it| {
        (it.first_sent, it.due) = (Some(row.first_sent.unwrap_or(now)), None);
        it.attempts += 1;
    });
    let options = Options::draw(&seat.stage, rng);
    let keyed = command.idempotency_key().is_some();
    let kind = if keyed { Kind::Keyed } else { Kind::Unkeyed };
    // No other application has an operation with one of these names.
    macro_rules! sent {
        ($name:literal, $client:ident $(, $typed:ty)?) => {{
            let mut about = seat.about($name, kind);
            (about.terms.command, about.terms.resends) = (Some(row.number), row.resends);
            let call = seat.$client.send_prepared(&command)$(.typed::<$typed>())?;
            let call = with_options!(call, options, CALL[1]);
            let made = about.make(&options, call.send()).await;
            made.map(|it| it.map(|receipt| reference(&json(receipt.bytes()))))
        }};
    }
    let made = match command.operation() {
        "submitEventCommand" => sent!("stored event", calendar, CalendarCommandResult),
        "createInvoiceDraft" => sent!("stored draft", accounting, AccountingCommandResult),
        "submitCommand" => sent!("stored person", crm),
        _ => sent!("stored reply", calendar),
    };
    // A dropped call leaves the command as a command that may have been sent.
    let Some(made) = made else { return };
    let outcome = made
        .as_ref()
        .map_or_else(Failure::stored_outcome, |_| StoredOutcome::Done);
    let state = state.with_attempts(row.attempts + 1).with_outcome(outcome);
    match rule.next(&state, now) {
        StoredStep::Send => unreachable!("it was just sent"),
        StoredStep::Park(reason) => {
            let in_doubt = matches!(&made, Err(it) if it.effect == Effect::Unknown);
            return park(&reason, before || in_doubt);
        }
        StoredStep::SendAt(at) => {
            let first = state.first_sent_after(now);
            store.change(row.number, |it| (it.first_sent, it.due) = (first, Some(at)));
        }
        StoredStep::Done => {
            seat.stage.count("commands: stored, receipt");
            locked(&store.rows).retain(|it| it.number != row.number);
        }
    }
    match made {
        Ok(reference) => seat.stage.record(Event::Settled {
            command: row.number,
            reference,
        }),
        // The returned command records that it was sent.
        Err(failure) if failure.effect == Effect::Unknown => {
            if let Some(command) = failure.command {
                store.change(row.number, |it| {
                    it.command = serde_json::to_string(&command).expect("a command is JSON");
                    it.resends = Some(options.number);
                });
            }
        }
        Err(_) => {}
    }
}
