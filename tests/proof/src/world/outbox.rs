//! The outbox of a service: commands that are stored before they are sent, and sent until their receipt is stored.

use std::time::{Duration, SystemTime};

use fastrand::Rng;
use sdk_accounting::types::AccountingCommandResult;
use sdk_calendar::types::CalendarCommandResult;
use sdk_core::{Effect, Error, PreparedCommand, StoredRule, StoredStep};
use suite_checker::{Event, Kind};
use tokio::time::sleep;

use super::call::{Options, with_options};

use super::caller::{draft, event, key, person, reply};
use super::installation::{json, reference};
use super::network::CALL;
use super::service::Store;
use super::stage::{Number, locked};
use super::suites::Seat;

/// A command that has neither a receipt nor been left to a person.
#[derive(Clone)]
pub(super) struct Row {
    number: u64,
    /// The place of its installation.
    at: usize,
    /// As it is stored.
    command: String,
    first_sent: Option<SystemTime>,
}

impl Row {
    /// Sets when it was first sent, if this is its number.
    pub(super) fn set_if(&mut self, number: u64, first: Option<SystemTime>) {
        if self.number == number {
            self.first_sent = first;
        }
    }
}

/// Places commands, and sends what the store holds, until nothing is left and nothing new begins.
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
        for row in rows {
            let seat = seats.iter().find(|it| it.at == row.at);
            send(
                seat.expect("a seat for each installation"),
                &store,
                row,
                now,
                &mut rng,
            )
            .await;
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
            .create(&draft(seat, &name))
            .prepare(),
        4 => seat.crm.commands().submit(person(&name)).prepare(),
        _ => seat.calendar.attendance().respond(reply(&name)).prepare(),
    };
    let command = command.expect("it is valid");
    seat.stage.record(Event::Stored {
        command: number,
        installation: seat.installation().number,
        key: command.idempotency_key().map(|it| it.as_str().to_owned()),
    });
    locked(&store.rows).push(Row {
        number,
        at: seat.at,
        command: serde_json::to_string(&command).expect("a command is JSON"),
        first_sent: None,
    });
}

async fn send(seat: &Seat, store: &Store, row: Row, now: SystemTime, rng: &mut Rng) {
    let command: PreparedCommand = serde_json::from_str(&row.command).expect("it was stored");
    let park = |refused: bool, reason: String| {
        seat.stage.count("commands: stored, left to a person");
        locked(&store.rows).retain(|it| it.number != row.number);
        seat.stage.record(Event::Parked {
            command: row.number,
            was_sent: command.was_sent() || row.first_sent.is_some(),
            refused,
            reason,
        });
    };
    let rule = StoredRule::default();
    if let StoredStep::Park(reason) = rule.next(&command, row.first_sent, now) {
        return park(false, reason.to_string());
    }
    store.set_sent(row.number, Some(row.first_sent.unwrap_or(now)));
    let options = Options::draw(&seat.stage, rng);
    let keyed = command.idempotency_key().is_some();
    let kind = if keyed { Kind::Keyed } else { Kind::Unkeyed };
    let mut about = seat.about(stored(&command), kind);
    about.command = Some(row.number);
    macro_rules! sent {
        ($client:ident $(, $typed:ty)?) => {{
            let call = seat.$client.send_prepared(&command)$(.typed::<$typed>())?;
            let call = with_options!(call, options, CALL[1]);
            let made = about.make(&options, call.send()).await;
            made.map(|it| it.map(|receipt| reference(&json(receipt.bytes()))))
        }};
    }
    let made = match command.operation() {
        "submitEventCommand" => sent!(calendar, CalendarCommandResult),
        "createInvoiceDraft" => sent!(accounting, AccountingCommandResult),
        "submitCommand" => sent!(crm),
        _ => sent!(calendar),
    };
    match made {
        Some(Ok(reference)) => {
            seat.stage.count("commands: stored, receipt");
            locked(&store.rows).retain(|it| it.number != row.number);
            seat.stage.record(Event::Settled {
                command: row.number,
                reference,
            });
        }
        Some(Err(error)) if is_final(&error) => park(true, error.to_string()),
        // This sending did nothing, so the command is as it was before.
        Some(Err(error)) if error.effect() == Effect::NotSent => {
            store.set_sent(row.number, row.first_sent);
        }
        Some(Err(_)) | None => {}
    }
}

/// Whether it is this command that will never do, and not the moment or the credential.
fn is_final(error: &Error) -> bool {
    let credential = error.is_unauthenticated() || error.is_forbidden();
    let refused = matches!(error.status(), Some(400..500)) && error.effect() != Effect::NotSent;
    error.is_prepared_command() || refused && !error.is_retryable() && !credential
}

/// What the sending of a stored command is called: nothing else at another application has that name.
fn stored(command: &PreparedCommand) -> &'static str {
    match command.operation() {
        "submitEventCommand" => "stored event",
        "createInvoiceDraft" => "stored draft",
        "submitCommand" => "stored person",
        _ => "stored reply",
    }
}
