//! A caller that makes reads and commands one after the other, with random limits.

use std::time::Duration;

use fastrand::Rng;
use sdk_accounting::types::{ImportMode, ImportRunCreate, InvoiceDraftCreate, TaxAmount};
use sdk_calendar::types::EventCommand;
use sdk_core::{Effect, IdempotencyKey, PreparedCommand};
use serde_json::{Value, json};
use suite_checker::Kind;
use tokio::time::{sleep, timeout};

use super::broken::resent;
use super::call::{Failure, Options, with_options};
use super::network::CALL;
use super::stage::digest;
use super::suites::Seat;

/// The ID of a person that no installation has.
const UNKNOWN: &str = "PER-FFFFFFFFFFFF";

/// Makes calls until the simulation is calm. `pace` is the longest usual pause, in milliseconds.
pub(super) async fn call(seats: Vec<Seat>, mut rng: Rng, pace: u64) {
    let mut seats = seats;
    loop {
        pause(&mut rng, pace).await;
        let at = rng.usize(..seats.len());
        if seats[at].stage.is_calm() {
            return;
        }
        if rng.u8(..50) == 0 {
            seats[at] = seats[at].clone().with_new_clients();
        }
        let seat = &seats[at];
        let options = Options::draw(&seat.stage, &mut rng);
        match rng.u8(..100) {
            0..60 => read(seat, &mut rng, &options).await,
            60..82 => keyed(seat, &mut rng, &options).await,
            82..94 => unkeyed(seat, &mut rng, &options).await,
            _ => prewarm(seat, &mut rng).await,
        }
    }
}

async fn pause(rng: &mut Rng, pace: u64) {
    let millis = match rng.u8(..100) {
        0..20 => return,
        20..98 => rng.u64(0..=pace),
        98 => rng.u64(0..=20_000),
        _ => rng.u64(0..=400_000) * u64::from(rng.u8(..8) == 0),
    };
    sleep(Duration::from_millis(millis)).await;
}

async fn read(seat: &Seat, rng: &mut Rng, options: &Options) {
    seat.stage.count("reads");
    let about = |operation| seat.about(operation, Kind::Read);
    let (person, limit) = (someone(seat, rng), rng.u32(1..=50));
    macro_rules! read {
        ($operation:literal, $target:expr, $call:expr) => {{
            let call = with_options!($call, options, CALL[0]);
            let about = about($operation).to($target);
            let _outcome = about.make(options, call.send()).await;
        }};
    }
    let (crm, accounting) = (&seat.crm, &seat.accounting);
    let path = |rest: &str| format!("/api/crm/v1/{rest}");
    let page = |list: &str| path(&format!("{list}?limit={limit}"));
    let one = path(&format!("people/{person}"));
    match rng.u8(..10) {
        0..4 => read!("getPerson", one, crm.people().get(person.as_str())),
        4 | 5 => read!(
            "listPeople",
            page("people"),
            crm.people().list().limit(limit)
        ),
        6 => read!("getToday", path("today"), crm.today().get()),
        7 => read!("listTasks", page("tasks"), crm.tasks().list().limit(limit)),
        8 => read!(
            "getAccountingOverview",
            "/overview",
            accounting.overview().get()
        ),
        _ => read!(
            "getAccountingMetadata",
            "/meta",
            accounting.service().meta()
        ),
    }
}

/// Sends a command with a key from the caller or the suite, and sometimes resends it if the effect is unknown.
async fn keyed(seat: &Seat, rng: &mut Rng, options: &Options) {
    seat.stage.count("commands: keyed");
    let own = rng.bool().then(|| key(seat.at, &options.header));
    let about = |operation| seat.about(operation, Kind::Keyed);
    macro_rules! command {
        ($operation:literal, $client:ident, $target:literal, $call:expr) => {{
            let mut call = with_options!($call, options, CALL[0]);
            let mut about = about($operation).to($target);
            if let Some(own) = own {
                about.terms.asked.key = Some(own.as_str().to_owned());
                call = call.idempotency_key(own);
            }
            let made = about.make(options, call.send()).await;
            let Some(command) = in_doubt(made).filter(|_| rng.bool()) else {
                return;
            };
            let command = resent(&seat.stage, command);
            seat.stage.count("commands: resent by the caller");
            let seat = if rng.bool() {
                &seat.in_another_process(rng)
            } else {
                seat
            };
            let earlier = options.number;
            let options = Options::draw(&seat.stage, rng);
            let call = seat.$client.send_prepared(&command);
            let call = with_options!(call, options, CALL[1]);
            let mut about = seat.about($operation, Kind::Keyed);
            about.terms.resends = Some(earlier);
            let _outcome = about.make(&options, call.send()).await;
        }};
    }
    match rng.u8(..4) {
        0 | 1 => command!(
            "submitEventCommand",
            calendar,
            "/calendar/v1/event-commands",
            seat.calendar.events().command(&event(&options.header))
        ),
        2 => command!(
            "createInvoiceDraft",
            accounting,
            "/invoice-drafts",
            seat.accounting
                .invoice_drafts()
                .create(&draft(counterparty(seat, rng), &options.header))
        ),
        _ => command!(
            "createImportRun",
            accounting,
            "/import-runs",
            seat.accounting
                .import_runs()
                .create(&import(&options.header))
        ),
    }
}

/// Returns the command of an error with an unknown effect.
fn in_doubt<R>(made: Option<Result<R, Failure>>) -> Option<PreparedCommand> {
    let failure = made?.err()?;
    let command = (failure.effect == Effect::Unknown).then_some(failure.command)?;
    command.map(|it| *it)
}

/// Returns a person of the installation, or rarely an unknown person, so that the service rejects the call.
fn someone(seat: &Seat, rng: &mut Rng) -> String {
    let people = &seat.installation().people;
    if rng.u8(..12) == 0 {
        UNKNOWN.to_owned()
    } else {
        people[rng.usize(..people.len())].clone()
    }
}

async fn unkeyed(seat: &Seat, rng: &mut Rng, options: &Options) {
    seat.stage.count("commands: unkeyed");
    macro_rules! command {
        ($operation:literal, $target:literal, $body:expr, $call:expr) => {{
            let (body, call) = ($body, $call);
            let mut about = seat.about($operation, Kind::Unkeyed).to($target);
            about.terms.asked.body = Some(digest(body.to_string().as_bytes()));
            let call = with_options!(call(body), options, CALL[0]);
            let _outcome = about.make(options, call.send()).await;
        }};
    }
    // A growing list makes every listing longer, so most commands change existing records.
    let body = match rng.u8(..6) {
        0 => person(&options.header),
        1..4 => json!({
            "commandType": "person.update",
            "subjectReference": someone(seat, rng),
            "payload": {"jobTitle": format!("job {}", options.header)},
        }),
        _ => {
            let (note, respond) = (reply(&options.header), |it| {
                seat.calendar.attendance().respond(it)
            });
            return command!(
                "respondAttendance",
                "/calendar/v1/attendance-commands",
                note,
                respond
            );
        }
    };
    let submit = |it| seat.crm.commands().submit(it);
    command!("submitCommand", "/api/crm/v1/commands", body, submit);
}

async fn prewarm(seat: &Seat, rng: &mut Rng) {
    let warm = async {
        match rng.u8(..3) {
            0 => seat.crm.prewarm().await,
            1 => seat.calendar.prewarm().await,
            _ => seat.accounting.prewarm().await,
        }
    };
    if let Ok(Err(error)) = timeout(Duration::from_secs(5), warm).await {
        seat.stage.log(&error);
    }
}

/// Returns a key that no other call has.
pub(super) fn key(at: usize, name: &str) -> IdempotencyKey {
    IdempotencyKey::derive("simulation", [at.to_string().as_str(), name])
}

pub(super) fn event(title: &str) -> EventCommand {
    EventCommand::create()
        .collection_reference("team")
        .title(title)
        .starts_at("2026-02-02T09:00:00Z")
        .ends_at("2026-02-02T10:00:00Z")
        .timezone("UTC")
}

pub(super) fn person(name: &str) -> Value {
    json!({"commandType": "person.create", "payload": {"displayName": format!("Ann {name}")}})
}

/// Returns the body of a name-only command, which the server cannot recognize as a duplicate.
pub(super) fn reply(note: &str) -> Value {
    json!({"note": note})
}

/// Returns the counterparty of an installation, or rarely an unknown counterparty.
fn counterparty<'a>(seat: &'a Seat, rng: &mut Rng) -> &'a str {
    if rng.u8(..6) == 0 {
        "FCP-ZZZZZZZZZZZZ"
    } else {
        &seat.installation().counterparty
    }
}

pub(super) fn draft(counterparty: &str, note: &str) -> InvoiceDraftCreate {
    let tax = TaxAmount::new()
        .currency("EUR")
        .minor_units("1900")
        .scale(2);
    let line = json!({"description": note}).into();
    InvoiceDraftCreate::new(counterparty, tax, [line])
}

fn import(adapter: &str) -> ImportRunCreate {
    let (source, coverage) = (json!({"name": adapter}), json!({"from": "2026-01-01"}));
    let mode = ImportMode::EvidenceOnly;
    ImportRunCreate::new(adapter, "1.0.0", source, mode, coverage)
}
