//! Many installations, tokens, connections and pages in one process: what each takes, and whether that grows with their number.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use http::header::AUTHORIZATION;
use http::{Request, Response};
use sdk_core::internal::TokenCache;
use sdk_core::transport::{ReplyBody, RequestBody, Transport, TransportFuture};
use sdk_core::{
    AccessToken, App, ClientCredentials, Suite, SuiteBuilder, TokenFuture, TokenPolicy,
    TokenRequest, TokenSource,
};
use serde::{Deserialize, Serialize};
use tokio::task::JoinSet;

use crate::allocations;
use crate::clients::sdk::Sdk;
use crate::clients::{Client as _, Failure, Target};
use crate::measure::table;
use crate::process::{self, Bench};
use crate::system::open_sockets;

/// How many there are.
const SIZES: [usize; 4] = [10, 100, 1_000, 10_000];
/// How often one of them is used once all are there, each in turn.
const USES: usize = 10_000;
/// Longer than anything takes under callgrind.
const LONG: Duration = Duration::from_secs(600);

/// What there are many of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Many {
    Installations,
    Tokens,
    /// Idle ones of HTTP/1.1.
    Connections,
    /// Those of one walk.
    Pages,
}

/// What a worker saw when all had been made.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Seen {
    made: usize,
    /// Bytes that they hold.
    held: i64,
    micros: f64,
    /// Bytes of a suite with connections of its own, if that is what was made.
    suite: Option<i64>,
}

/// Makes so many of them, and uses them.
pub async fn run(many: Many, count: usize, origin: &str) -> Result<Seen, Failure> {
    match many {
        Many::Installations => installations(count).await,
        Many::Tokens => tokens(count).await,
        Many::Connections => connections(count, origin).await,
        Many::Pages => pages(count, origin).await,
    }
}

/// callgrind looks for this name.
#[inline(never)]
fn growth_mark(step: u8) {
    black_box(step);
}

fn begin() -> Instant {
    growth_mark(0);
    allocations::start();
    Instant::now()
}

fn made(made: usize, began: Instant) -> Seen {
    let micros = began.elapsed().as_secs_f64() * 1e6;
    let held = allocations::held();
    allocations::stop();
    growth_mark(1);
    Seen {
        made,
        held,
        micros,
        suite: None,
    }
}

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

fn installation(builder: SuiteBuilder) -> Result<Installation, Failure> {
    let suite = builder.build()?;
    let crm = sdk_crm::Client::new(&suite)?;
    Ok((suite, crm))
}

async fn installations(count: usize) -> Result<Seen, Failure> {
    let memory = Memory::default();
    let own = |number: usize| {
        let host = |app| format!("https://{number}.{app}.suite.test");
        at(&host("core"), &host("crm"), number)
    };
    allocations::start();
    // A build without TLS has none.
    let alone = installation(own(0)).ok();
    let suite = alone.as_ref().map(|_| allocations::held());
    drop(alone);
    let first = installation(own(0).transport(memory.clone()))?;
    first.1.prewarm().await?;
    let mut all: Vec<Installation> = Vec::with_capacity(count);
    let began = begin();
    for number in 1..=count {
        all.push(installation(own(number).transport_of(&first.0))?);
    }
    let seen = made(count, began);
    // The first of each, with its exchange.
    let mut calls = JoinSet::new();
    for (_, crm) in &all {
        calls.spawn(crm.people().get("PER-0123456789AB").send());
    }
    while let Some(ended) = calls.join_next().await {
        ended??;
    }
    growth_mark(2);
    for (_, crm) in all.iter().cycle().take(USES) {
        crm.people().get("PER-0123456789AB").await?;
    }
    growth_mark(3);
    match memory.0.load(Ordering::Relaxed) {
        0 => Ok(Seen { suite, ..seen }),
        wrong => Err(format!("{wrong} requests had the token of another installation").into()),
    }
}

/// Has a token for everybody at once.
struct AtHand;

impl TokenSource for AtHand {
    fn token<'a>(&'a self, request: &'a TokenRequest) -> TokenFuture<'a> {
        let token = token(request.audience().unwrap_or_default());
        Box::pin(async move { Ok(AccessToken::new(token).with_lifetime(LONG)) })
    }
}

async fn tokens(count: usize) -> Result<Seen, Failure> {
    let cache = TokenCache::new(Arc::new(AtHand), TokenPolicy::default());
    let request = |number| TokenRequest::new().with_audience(format!("audience-{number:08}"));
    let requests: Vec<TokenRequest> = (1..=count).map(request).collect();
    cache.entry(request(0)).bearer().await?;
    let mut entries = Vec::with_capacity(count);
    let began = begin();
    for request in &requests {
        let entry = cache.entry(request.clone());
        entry.bearer().await?;
        entries.push(entry);
    }
    let seen = made(count, began);
    growth_mark(2);
    for request in requests.iter().cycle().take(USES) {
        let token = cache.entry(request.clone()).try_bearer();
        black_box(token.ok_or("the token is not fresh")?);
    }
    growth_mark(3);
    Ok(seen)
}

async fn connections(count: usize, origin: &str) -> Result<Seen, Failure> {
    let pool = reqwest::Client::builder().pool_idle_timeout(None);
    let suite = Sdk::suite(&plain(origin))?.http_client(pool);
    let suite = suite.timeout(LONG).deadline(LONG).connect_timeout(LONG);
    let sdk = Sdk::of(&suite.build()?)?;
    sdk.page(1, None).await?;
    let before = open_sockets();
    let began = begin();
    let mut calls = JoinSet::new();
    for _ in 0..=count {
        let sdk = sdk.clone();
        calls.spawn(async move { sdk.page(1, None).await });
    }
    while let Some(ended) = calls.join_next().await {
        ended??;
    }
    drop(calls);
    let seen = made(open_sockets() - before, began);
    growth_mark(2);
    for _ in 0..USES {
        sdk.page(1, None).await?;
    }
    growth_mark(3);
    Ok(seen)
}

async fn pages(count: usize, origin: &str) -> Result<Seen, Failure> {
    let sdk = Sdk::new(&plain(origin)).await?;
    let walk = |pages| {
        let list = sdk.crm.opportunities().list().limit(1);
        list.cursor(format!("w{pages:012}")).items()
    };
    let mut warm = walk(20);
    while warm.try_next().await?.is_some() {}
    drop(warm);
    let began = begin();
    let mut items = walk(count);
    let mut walked = 0;
    while items.try_next().await?.is_some() {
        walked += 1;
    }
    let seen = made(walked, began);
    drop(items);
    Ok(seen)
}

fn plain(origin: &str) -> Target {
    Target {
        origin: origin.to_owned(),
        http: 1,
        certificate: None,
        lean: false,
    }
}

/// What one of so many costs.
#[derive(Clone, Copy, Debug)]
struct Cost {
    seen: Seen,
    /// Instructions of making one, and of using one.
    making: Option<f64>,
    using: Option<f64>,
}

impl Cost {
    fn each(&self, all: f64) -> Option<f64> {
        Some(all / self.seen.made as f64)
    }
}

/// A row of the table: the figure of a cost, and whether it must not grow.
struct Figure {
    many: Many,
    title: &'static str,
    judged: bool,
    of: fn(&Cost) -> Option<f64>,
}

macro_rules! figures {
    ($($many:ident $title:literal $judged:literal |$it:ident| $of:expr;)+) => {
        const FIGURES: &[Figure] = &[$(Figure {
            many: Many::$many,
            title: $title,
            judged: $judged,
            of: |$it| $of,
        }),+];
    };
}

figures! {
    Installations "an installation: microseconds to make it" false |it| it.each(it.seen.micros);
    Installations "an installation: bytes, while it is idle" true |it| it.each(it.seen.held as f64);
    Installations "an installation: instructions to make it" true |it| it.making;
    Installations "a call of each in turn, in memory: instructions" true |it| it.using;
    Tokens "a live token of 770 characters: bytes, with its entry" true |it| it.each(it.seen.held as f64);
    Tokens "the lookup of each in turn: instructions" true |it| it.using;
    Connections "an idle HTTP/1.1 connection: bytes" true |it| it.each(it.seen.held as f64);
    Connections "a page of one item beside so many: instructions" true |it| it.using;
    Pages "a page of one item in a walk of so many: instructions" true |it| it.making;
    Pages "such a walk at its end: bytes" false |it| Some(it.seen.held as f64);
}

/// What was measured.
pub struct Growth(Vec<[Option<Cost>; SIZES.len()]>);

impl Growth {
    /// Measures all of them.
    pub async fn measure(bench: &Bench) -> Result<Self, Failure> {
        let origin = bench.target(process::Transport::H1).origin;
        let mut all = Vec::new();
        for many in [
            Many::Installations,
            Many::Tokens,
            Many::Connections,
            Many::Pages,
        ] {
            let mut costs = [None; SIZES.len()];
            for (cost, size) in costs.iter_mut().zip(SIZES) {
                eprintln!("{size} {many:?}");
                let (name, size) = (serde_json::to_string(&many)?, size.to_string());
                let arguments = ["grow", &name, &size, &origin];
                let seen: Seen = bench.work(&bench.program, &arguments).await?;
                let mut counts = Vec::new();
                if bench.valgrind {
                    let counted = bench.count(&bench.program, &arguments, Some("*growth_mark*"));
                    let (_, all): (Seen, _) = counted.await?;
                    counts = all;
                }
                let each = |step: usize, of: usize| Some(*counts.get(step)? as f64 / of as f64);
                *cost = Some(Cost {
                    seen,
                    making: each(1, seen.made),
                    using: each(3, USES),
                });
            }
            all.push(costs);
        }
        Ok(Self(all))
    }

    fn figures(&self, row: &Figure) -> [Option<f64>; SIZES.len()] {
        self.0[row.many as usize].map(|cost| (row.of)(&cost?))
    }

    /// What a figure is for the most of them against what it is for the fewest.
    fn ratio(&self, row: &Figure) -> Option<f64> {
        let [first, .., last] = self.figures(row);
        Some(last? / first?)
    }

    /// The worst of these ratios among those that must not grow.
    pub fn worst(&self, many: Many) -> Option<f64> {
        let rows = FIGURES.iter().filter(|row| row.many == many && row.judged);
        let ratios = rows.filter_map(|row| self.ratio(row));
        ratios.max_by(f64::total_cmp)
    }

    /// Microseconds to make an installation beside 10,000 others, and its bytes.
    pub fn installation(&self) -> [Option<f64>; 2] {
        let rows = [&FIGURES[0], &FIGURES[1]];
        rows.map(|row| *self.figures(row).last()?)
    }

    /// As Markdown.
    pub fn render(&self) -> String {
        let shown = |figure: Option<f64>, digits| {
            figure.map_or_else(|| "-".to_owned(), |figure| format!("{figure:.digits$}"))
        };
        let rows = FIGURES.iter().map(|row| {
            let figures = self.figures(row).map(|it| shown(it, 0)).join(" | ");
            format!("{} | {figures} | {}", row.title, shown(self.ratio(row), 3))
        });
        let text = table(
            "each of so many | 10 | 100 | 1,000 | 10,000 | last against first",
            rows,
        );
        match self.0[0][0].and_then(|cost| cost.seen.suite) {
            Some(bytes) => format!(
                "{text}\nAn idle suite with connections of its own and a CRM client holds {bytes} bytes.\n"
            ),
            None => text,
        }
    }
}
