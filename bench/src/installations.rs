//! Many installations in one process: what each takes beside the shared parts, and whether anything of one reaches another.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use http::header::AUTHORIZATION;
use http::{Request, Response};
use sdk_core::transport::{ReplyBody, RequestBody, Transport, TransportFuture};
use sdk_core::{App, ClientCredentials, Suite, SuiteBuilder};
use tokio::task::JoinSet;

use crate::allocations;
use crate::clients::Failure;
use crate::process::{self, Bench};

/// How many callers there are at once where sockets are.
const CALLERS: usize = 100;

type Installation = (Suite, sdk_crm::Client);

/// Serves each installation at a host of its own, and counts what came to the wrong one.
#[derive(Clone, Default)]
struct Memory(Arc<AtomicU64>);

/// As long as a signed JWT of some claims is.
fn token(number: &str) -> String {
    format!("eyJ.{number}.{}.{}", "c".repeat(420), "s".repeat(342))
}

impl Transport for Memory {
    fn send(&self, request: Request<RequestBody>) -> TransportFuture {
        let wrong = Arc::clone(&self.0);
        Box::pin(async move {
            tokio::task::yield_now().await;
            let host = request.uri().host().unwrap_or_default();
            let number = host.split('.').next().unwrap_or_default();
            let sent = request.headers().get(AUTHORIZATION);
            let sent = sent.map_or(&b""[..], |value| value.as_bytes());
            if request.uri().path().ends_with("/oauth/token") {
                let token = token(number);
                let body = format!(r#"{{"access_token":"{token}","token_type":"Bearer"}}"#);
                return Ok(Response::new(ReplyBody::from(body)));
            }
            if sent != format!("Bearer {}", token(number)).as_bytes() {
                wrong.fetch_add(1, Ordering::Relaxed);
            }
            let body = format!(r#"{{"displayName":"{number}"}}"#);
            Ok(Response::new(ReplyBody::from(body)))
        })
    }
}

/// An installation with these addresses.
fn at(core: &str, crm: &str, number: usize) -> SuiteBuilder {
    let secret = format!("secret-of-installation-{number:08}");
    Suite::builder()
        .label(format!("installation-{number:05}"))
        .core_url(core)
        .application_url(App::Crm, crm)
        .credentials(ClientCredentials::new(
            format!("client-{number:08}"),
            secret,
        ))
}

fn made(builder: SuiteBuilder) -> Result<Installation, Failure> {
    let suite = builder.build()?;
    let crm = sdk_crm::Client::new(&suite)?;
    Ok((suite, crm))
}

/// A call of each at once; returns the microseconds of each.
async fn call<'a>(clients: impl Iterator<Item = &'a sdk_crm::Client>) -> Result<f64, Failure> {
    let start = Instant::now();
    let mut calls = JoinSet::new();
    for crm in clients {
        calls.spawn(crm.people().get("PER-0123456789AB").send());
    }
    let count = calls.len();
    while let Some(ended) = calls.join_next().await {
        ended??;
    }
    Ok(each(start, count))
}

fn each(start: Instant, count: usize) -> f64 {
    start.elapsed().as_secs_f64() * 1e6 / count as f64
}

/// Measures so many installations and prints what each takes.
pub async fn run(count: usize) -> Result<(), Failure> {
    let memory = Memory::default();
    let own = |number: usize| {
        let host = |app| format!("https://{number}.{app}.suite.test");
        at(&host("core"), &host("crm"), number)
    };
    let first = made(own(0).transport(memory.clone()))?;
    // What the runtime needs for so many tasks at once, it keeps.
    let alone = call((0..count).map(|_| &first.1)).await?;
    let mut all: Vec<Installation> = Vec::with_capacity(count);
    let per = |bytes: i64| bytes / count as i64;

    allocations::start();
    let start = Instant::now();
    for number in 1..=count {
        all.push(made(own(number).transport_of(&first.0))?);
    }
    let (time, held) = (each(start, count), per(allocations::held()));
    println!("made: {time:.1} us, {held} bytes each");

    let cold = call(all.iter().map(|it| &it.1)).await?;
    println!(
        "first call, with its exchange: {cold:.1} us, then {} bytes each",
        per(allocations::held())
    );
    let warm = call(all.iter().map(|it| &it.1)).await?;
    println!("later calls: {warm:.1} us each; as many calls of one installation: {alone:.1} us");
    let wrong = memory.0.load(Ordering::Relaxed);
    if wrong > 0 {
        return Err(format!("{wrong} requests had the token of another installation").into());
    }

    let start = Instant::now();
    all.clear();
    // A renewal that has ended may still hold its entry.
    tokio::task::yield_now().await;
    let (time, left) = (each(start, count), allocations::held());
    allocations::stop();
    println!("dropped: {time:.1} us each, {left} bytes left in all");
    sockets(count).await
}

/// The sockets of as many installations behind one origin.
async fn sockets(count: usize) -> Result<(), Failure> {
    let bench = Bench::start().await?;
    let origin = bench.target(process::Transport::H1).origin;
    let own = |number| at(&origin, &origin, number).audience(App::Crm, "crm");
    let first = made(own(0))?;
    let shared = |number| made(own(number).transport_of(&first.0));
    let all: Vec<Installation> = (1..=count).map(shared).collect::<Result<_, _>>()?;
    let start = Instant::now();
    for some in all.chunks(CALLERS) {
        call(some.iter().map(|it| &it.1)).await?;
    }
    let (time, open) = (each(start, count), open_sockets());
    println!("over sockets, {CALLERS} at a time: {time:.1} us a first call, {open} sockets open");
    bench.end().await
}

/// The sockets of this process, where the system lists them.
fn open_sockets() -> usize {
    let open = std::fs::read_dir("/proc/self/fd").into_iter().flatten();
    let targets = open.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok());
    targets
        .filter(|it| it.to_string_lossy().starts_with("socket:"))
        .count()
}
