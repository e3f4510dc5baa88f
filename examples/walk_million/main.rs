//! Walks over a million people, and shows what that costs: memory that does not grow, and time that does not either.
//!
//! ```text
//! cargo run --release --example walk_million          # a million; any other number as an argument
//! ```
// ci: args 20000
//!
//! The reference server runs in a process of its own. Then a walk with read-ahead is compared with one without, where a
//! page and the work on it take 20 ms each.

mod meter;
mod server;

#[path = "../support/mod.rs"]
mod support;

use std::error::Error;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use sdk_core::Suite;
use sdk_reference_server::{Operation, ReferenceServer, Transport};

use meter::{Meter, peak_memory};
use out::put;
use server::Server;
use stop::Stop;
use support::{out, stop};

/// Records per page, the most that the contract allows.
const PAGE: u32 = 50;

/// When memory is looked at for the first time, at the latest.
const FIRST_LOOK: u32 = 10_000;

/// How long a page takes, and the work on it, when read-ahead is measured.
const PAUSE: Duration = Duration::from_millis(20);

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<ExitCode, Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    match arguments.next().as_deref() {
        Some(server::SERVE) => {
            server::serve(arguments.next().unwrap_or_default().parse()?).await?;
        }
        people => {
            let stop = Stop::listen()?;
            let people = people.unwrap_or("1000000").parse()?;
            if !(walk(people, &stop).await? && read_ahead(&stop).await?) {
                put!("Stopped; a measurement always begins anew.");
                return Ok(stop.status());
            }
        }
    }
    Ok(out::end(ExitCode::SUCCESS))
}

/// Returns whether it came to the end before it was to stop.
async fn walk(people: u32, stop: &Stop) -> Result<bool, Box<dyn Error>> {
    let server = Server::start(people)?;
    let crm = sdk_crm::Client::new(&server.suite)?;
    crm.prewarm().await?;

    put!("a walk over {people} people:");
    // A tenth of the walk at each end.
    let tenth = (people / 10).max(1);
    let (mut items, mut first_memory) = (0, None);
    let begin = Meter::now();
    let (mut after_first, mut before_last) = (begin, begin);
    let mut walk = crm.people().list().limit(PAGE).items();
    while walk.try_next().await?.is_some() {
        items += 1;
        if items % PAGE == 0 && stop.is_heard() {
            return server.stop().map(|()| false);
        }
        if items == tenth {
            after_first = Meter::now();
        }
        if items == people - tenth {
            before_last = Meter::now();
        }
        if items == FIRST_LOOK.min(people) {
            first_memory = peak_memory();
        }
    }
    let (end, last_memory) = (Meter::now(), peak_memory());

    let took = (end.at - begin.at).as_secs_f64();
    let stats = server.suite.stats();
    put!("{items} items on {} pages in {took:.1} s", stats.calls);
    put!("{} token exchanges", stats.token_exchanges);
    put!("per thousand items:");
    let first = after_first.since(begin, tenth);
    put!("  of the first {tenth:>7}      {first}");
    let last = end.since(before_last, tenth);
    put!("  of the last  {tenth:>7}      {last}");
    if let (Some(first), Some(last)) = (first_memory, last_memory) {
        put!("peak memory of this process:");
        put!(
            "  after {:>9} items     {first} KiB",
            FIRST_LOOK.min(people)
        );
        put!("  after {items:>9} items     {last} KiB");
    }
    server.stop().map(|()| true)
}

/// Walks of forty pages with and without read-ahead.
async fn read_ahead(stop: &Stop) -> Result<bool, Box<dyn Error>> {
    let server = ReferenceServer::builder()
        .transport(Transport::Hyper)
        .people(u64::from(PAGE) * 40)
        .start()
        .await;
    let suite = Suite::builder().variables(server.environment()).build()?;
    let crm = sdk_crm::Client::new(&suite)?;
    crm.prewarm().await?;
    server.fault(Operation::ListPeople).delay(PAUSE);

    let mut took = [Duration::ZERO; 2];
    for (ahead, took) in [false, true].into_iter().zip(&mut took) {
        let begin = Instant::now();
        let mut pages = crm.people().list().limit(PAGE).pages();
        if ahead {
            pages = pages.read_ahead();
        }
        while pages.try_next().await?.is_some() {
            if stop.is_heard() {
                return Ok(false);
            }
            tokio::time::sleep(PAUSE).await;
        }
        *took = begin.elapsed();
    }
    let [without, with] = took.map(|time| time.as_secs_f64());
    let share = with / without;
    put!("40 pages of 20 ms, with 20 ms of work on each:");
    put!("  without read-ahead        {without:.2} s");
    put!("  with read-ahead           {with:.2} s, {share:.2} of it");
    Ok(true)
}
