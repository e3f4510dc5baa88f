//! Many installations, tokens or connections in one process: the cost of each, and whether the cost grows with their
//! number.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use http::header::AUTHORIZATION;
use http::{Request, Response};
use sdk_core::internal::TokenCache;
use sdk_core::transport::{RequestBody, ResponseBody, Transport, TransportFuture};
use sdk_core::{AccessToken, App, ClientCredentials, Suite, SuiteBuilder};
use sdk_core::{TokenFuture, TokenPolicy, TokenRequest, TokenSource};
use serde::{Deserialize, Serialize};
use tokio::task::JoinSet;

use crate::clients::{Failure, Target, sdk::Sdk};
use crate::payload::token;
use crate::system::{mark, open_files};
use crate::{allocations, listing};

/// The number of times that items are used, in rotation, once all of them exist.
pub const USES: usize = 10_000;
/// Longer than any operation under callgrind.
const LONG: Duration = Duration::from_secs(600);

/// The kind of items. Connections are idle and use HTTP/1.1. Pages belong to one list and have one item each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Many {
    Installations,
    Tokens,
    Connections,
    Pages,
}

/// A worker's measurements once all items exist.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Seen {
    pub made: usize,
    /// The bytes that the items hold.
    pub held: f64,
    pub micros: f64,
}

/// Creates `count` items between two marks, then uses them between another two. Pages are never reused, and have
/// additional marks.
pub async fn run(many: Many, count: usize, origin: &str) -> Result<Seen, Failure> {
    match many {
        Many::Installations => installations(count).await,
        Many::Tokens => tokens(count).await,
        Many::Connections => connections(count, origin).await,
        Many::Pages => pages(count, origin).await,
    }
}

fn begin() -> Instant {
    mark();
    allocations::start();
    Instant::now()
}

fn made(made: usize, began: Instant) -> Seen {
    let micros = began.elapsed().as_secs_f64() * 1e6;
    let held = allocations::held();
    allocations::stop();
    mark();
    Seen { made, held, micros }
}

/// Serves each installation at its own host, and counts requests with the token of another installation.
#[derive(Clone, Default)]
struct Memory(Arc<AtomicU64>);

impl Transport for Memory {
    fn send(&self, request: Request<RequestBody>) -> TransportFuture {
        let wrong = Arc::clone(&self.0);
        Box::pin(async move {
            tokio::task::yield_now().await;
            let host = request.uri().host().unwrap_or_default();
            let number = host.split('.').next().unwrap_or_default();
            let body = if request.uri().path().ends_with("/oauth/token") {
                let token = token(number);
                format!(r#"{{"access_token":"{token}","token_type":"Bearer"}}"#)
            } else {
                let own = format!("Bearer {}", token(number));
                let sent = request.headers().get(AUTHORIZATION);
                if sent.is_none_or(|sent| sent.as_bytes() != own.as_bytes()) {
                    wrong.fetch_add(1, Ordering::Relaxed);
                }
                format!(r#"{{"displayName":"{number}"}}"#)
            };
            Ok(Response::new(ResponseBody::from(body)))
        })
    }
}

fn settings(number: usize) -> SuiteBuilder {
    let credentials = ClientCredentials::new(
        format!("client-{number:08}"),
        format!("secret-of-installation-{number:08}"),
    );
    Suite::builder()
        .label(format!("installation-{number:05}"))
        .core_url(format!("https://{number}.core.suite.test"))
        .application_url(App::Crm, format!("https://{number}.crm.suite.test"))
        .credentials(credentials)
}

fn installation(settings: SuiteBuilder) -> Result<(Suite, sdk_crm::Client), Failure> {
    let suite = settings.build()?;
    let crm = sdk_crm::Client::new(&suite)?;
    Ok((suite, crm))
}

/// Returns the size of an idle suite with its own connections and a CRM client. Returns `None` in a build without TLS.
pub fn suite() -> Option<f64> {
    let began = begin();
    let suite = installation(settings(0)).ok();
    let seen = made(1, began);
    suite.map(|_| seen.held)
}

async fn installations(count: usize) -> Result<Seen, Failure> {
    let memory = Memory::default();
    let first = installation(settings(0).transport(memory.clone()))?;
    first.1.prewarm().await?;
    let mut all = Vec::with_capacity(count);
    let began = begin();
    for number in 1..=count {
        all.push(installation(settings(number).transport_of(&first.0))?);
    }
    let seen = made(count, began);
    // The first call of each installation, with its token exchange.
    let mut calls = JoinSet::new();
    for (_, crm) in &all {
        calls.spawn(crm.people().get("PER-0123456789AB").send());
    }
    for person in calls.join_all().await {
        person?;
    }
    mark();
    for (_, crm) in all.iter().cycle().take(USES) {
        crm.people().get("PER-0123456789AB").await?;
    }
    mark();
    match memory.0.load(Ordering::Relaxed) {
        0 => Ok(seen),
        wrong => Err(format!("{wrong} requests had the token of another installation").into()),
    }
}

/// A token source with a token for every audience.
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
    mark();
    for request in requests.iter().cycle().take(USES) {
        let token = cache.entry(request.clone()).try_bearer();
        black_box(token.ok_or("the token is not fresh")?);
    }
    mark();
    Ok(seen)
}

async fn connections(count: usize, origin: &str) -> Result<Seen, Failure> {
    let pool = reqwest::Client::builder().pool_idle_timeout(None);
    let suite = Sdk::suite(&Target::plain("sdk", origin))?.http_client(pool);
    let suite = suite.timeout(LONG).deadline(LONG).connect_timeout(LONG);
    let sdk = Sdk::of(&suite.build()?)?;
    sdk.list(1).await?;
    let before = open_files();
    let began = begin();
    let mut calls = JoinSet::new();
    for _ in 0..=count {
        calls.spawn(sdk.list(1).send());
    }
    for page in calls.join_all().await {
        page?;
    }
    let seen = made(open_files() - before, began);
    mark();
    for _ in 0..USES {
        sdk.list(1).await?;
    }
    mark();
    Ok(seen)
}

async fn pages(pages: usize, origin: &str) -> Result<Seen, Failure> {
    let listed = listing::run(origin, pages, 1, false).await?;
    Ok(Seen {
        made: listed.items,
        held: listed.held,
        micros: 0.0,
    })
}
