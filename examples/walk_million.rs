//! Walks over a million people, and shows what that costs: memory that does not grow, and time that does not either.
//!
//! ```text
//! cargo run --release --example walk_million          # a million; any other number as an argument
//! ```
// ci: args 20000
//!
//! The reference server runs in a process of its own, so that what is measured is the client alone. Then a walk with
//! read-ahead is compared with one without, where a page and the work on it take 20 ms each.

use std::error::Error;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use sdk_core::{ClientCredentials, Suite};
use sdk_reference_server::{Operation, ReferenceServer, Transport};

/// Records per page, the most that the contract allows.
const PAGE: u32 = 50;

/// When memory is looked at for the first time, at the latest.
const FIRST_LOOK: u32 = 10_000;

/// How long a page takes, and the work on it, when read-ahead is measured.
const PAUSE: Duration = Duration::from_millis(20);

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    match arguments.next().as_deref() {
        Some("--serve") => serve(arguments.next().unwrap_or_default().parse()?).await,
        people => {
            walk(people.unwrap_or("1000000").parse()?).await?;
            read_ahead().await
        }
    }
}

/// Serves so many people until standard input ends, which it does when the walking process does.
async fn serve(people: u32) -> Result<(), Box<dyn Error>> {
    let server = ReferenceServer::builder()
        .transport(Transport::Hyper)
        .recorded_requests(0)
        .people(u64::from(people))
        .start()
        .await;
    println!("{} {}", server.core_url(), server.crm_url());
    println!("{} {}", server.client_id(), server.client_secret());
    std::io::stdout().flush()?;
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

/// The server's process, and a suite that talks to it.
fn start(people: u32) -> Result<(Child, Suite), Box<dyn Error>> {
    let mut server = Command::new(std::env::current_exe()?)
        .args(["--serve", &people.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let output = server.stdout.take().ok_or("the server has no output")?;
    let mut words = Vec::new();
    for line in BufReader::new(output).lines().take(2) {
        words.extend(line?.split(' ').map(str::to_owned));
    }
    let [core, crm, id, secret] = words.as_slice() else {
        return Err("the server did not say where it is".into());
    };
    let suite = Suite::builder()
        .core_url(core)
        .application_url("crm", crm)
        .credentials(ClientCredentials::new(id, secret.as_str()))
        .build()?;
    Ok((server, suite))
}

async fn walk(people: u32) -> Result<(), Box<dyn Error>> {
    let (mut server, suite) = start(people)?;
    let crm = sdk_crm::Client::new(&suite)?;
    crm.prewarm().await?;

    // A tenth of the walk at each end, in thousands of items.
    let tenth = (people / 10).max(1);
    let (mut items, mut first_memory) = (0, None);
    let (mut first, mut last_began) = (Duration::ZERO, None);
    let began = Instant::now();
    let mut walk = crm.people().list().limit(PAGE).items();
    while walk.try_next().await?.is_some() {
        items += 1;
        if items == tenth {
            first = began.elapsed();
        }
        if items == people - tenth {
            last_began = Some(Instant::now());
        }
        if items == FIRST_LOOK.min(people) {
            first_memory = peak_memory();
        }
    }
    let (whole, last) = (began.elapsed(), last_began.map(|at| at.elapsed()));
    let stats = suite.stats();
    drop(server.stdin.take());
    server.wait()?;

    println!("items                          {items}");
    println!("pages                          {}", stats.calls);
    println!("token exchanges                {}", stats.token_exchanges);
    println!(
        "whole walk                     {:.1} s",
        whole.as_secs_f64()
    );
    let per_thousand = |time: Duration| 1e6 * time.as_secs_f64() / f64::from(tenth);
    println!(
        "per thousand items, first {tenth:>7}  {:.2} ms",
        per_thousand(first)
    );
    if let Some(last) = last {
        println!(
            "per thousand items, last  {tenth:>7}  {:.2} ms",
            per_thousand(last)
        );
    }
    if let (Some(first), Some(last)) = (first_memory, peak_memory()) {
        println!(
            "peak memory after {:>9} items  {first} KiB",
            FIRST_LOOK.min(people)
        );
        println!("peak memory after {items:>9} items  {last} KiB");
    }
    Ok(())
}

/// Walks of forty pages with and without read-ahead.
async fn read_ahead() -> Result<(), Box<dyn Error>> {
    let server = ReferenceServer::builder()
        .transport(Transport::Hyper)
        .people(u64::from(PAGE) * 40)
        .start()
        .await;
    let suite = Suite::builder()
        .core_url(server.core_url())
        .application_url("crm", server.crm_url())
        .credentials(ClientCredentials::new(
            server.client_id(),
            server.client_secret(),
        ))
        .build()?;
    let crm = sdk_crm::Client::new(&suite)?;
    crm.prewarm().await?;
    server.fault(Operation::ListPeople).delay(PAUSE);

    let mut took = [Duration::ZERO; 2];
    for (ahead, took) in [false, true].into_iter().zip(&mut took) {
        let began = Instant::now();
        let mut pages = crm.people().list().limit(PAGE).pages().read_ahead(ahead);
        while pages.try_next().await?.is_some() {
            tokio::time::sleep(PAUSE).await;
        }
        *took = began.elapsed();
    }
    let [without, with] = took.map(|time| time.as_secs_f64());
    println!("40 pages of 20 ms, 20 ms of work on each:");
    println!("  without read-ahead           {without:.2} s");
    println!(
        "  with read-ahead              {with:.2} s, {:.2} of it",
        with / without
    );
    Ok(())
}

/// The most memory that this process ever had, where the system tells.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse().ok()
}
