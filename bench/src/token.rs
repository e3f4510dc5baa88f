//! What happens to many callers at a token that has expired, or is about to.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use sdk_core::internal::{ClientCredentialsSource, TokenCache, TokenEntry};
use sdk_core::{ClientCredentials, TokenFuture, TokenPolicy, TokenRequest, TokenSource};
use serde::{Deserialize, Serialize};

use crate::clients::Failure;

/// How long the server takes to give a token.
pub const EXCHANGE: Duration = Duration::from_millis(100);

/// What becomes of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Storm {
    /// They all meet an expired token.
    Success,
    /// They do, and the exchange fails.
    Failure,
    /// They do, and every other one is dropped while it waits.
    Cancelled,
    /// They meet a token that lives, but is due for renewal.
    Soft,
}

impl Storm {
    pub const ALL: [Self; 4] = [Self::Success, Self::Failure, Self::Cancelled, Self::Soft];

    /// What a reader knows it by.
    pub fn title(self) -> &'static str {
        match self {
            Self::Success => "expired",
            Self::Failure => "expired, the exchange fails",
            Self::Cancelled => "expired, half of the callers are cancelled",
            Self::Soft => "due for renewal",
        }
    }
}

/// What was seen.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Seen {
    /// Exchanges for all of them.
    pub exchanges: usize,
    /// How many got a token, and how many an error.
    pub served: usize,
    pub failed: usize,
    /// Milliseconds that one of them waited.
    pub p50: f64,
    pub p99: f64,
    pub longest: f64,
}

/// When exchanges began.
pub type Moments = Arc<Mutex<Vec<Instant>>>;

/// A source whose exchanges fail from some moment on.
struct Turning {
    good: ClientCredentialsSource,
    bad: ClientCredentialsSource,
    turned: Arc<AtomicBool>,
    moments: Moments,
}

impl TokenSource for Turning {
    fn token<'a>(&'a self, request: &'a TokenRequest) -> TokenFuture<'a> {
        self.moments
            .lock()
            .expect("nobody panics with it")
            .push(Instant::now());
        let turned = self.turned.load(Ordering::Relaxed);
        let source = if turned { &self.bad } else { &self.good };
        source.token(request)
    }
}

/// A token that has been obtained, and lives for so long.
pub async fn entry(
    origin: &str,
    lifetime: u64,
    delay: Duration,
    turned: &Arc<AtomicBool>,
) -> Result<(Arc<TokenEntry>, Moments), Failure> {
    let moments = Moments::default();
    let http = reqwest::Client::new();
    let policy = TokenPolicy::default();
    let source = |delay: Duration, status: u16| -> Result<ClientCredentialsSource, Failure> {
        let url = format!(
            "{origin}/t/{}/{lifetime}/{status}/oauth/token",
            delay.as_millis()
        );
        let credentials = ClientCredentials::new("bench", "secret");
        Ok(ClientCredentialsSource::new(
            http.clone(),
            url.parse()?,
            credentials,
            &policy,
        ))
    };
    let source = Turning {
        good: source(delay, 200)?,
        bad: source(delay, 400)?,
        turned: Arc::clone(turned),
        moments: Arc::clone(&moments),
    };
    let entry = TokenCache::new(Arc::new(source), policy.clone())
        .entry(TokenRequest::new().with_audience("crm"));
    entry.bearer().await?;
    Ok((entry, moments))
}

/// Lets so many callers loose.
pub async fn storm(origin: &str, storm: Storm, callers: usize) -> Result<Seen, Failure> {
    let turned = Arc::new(AtomicBool::new(false));
    let lifetime = if storm == Storm::Soft { 4 } else { 1 };
    let (entry, moments) = entry(origin, lifetime, EXCHANGE, &turned).await?;
    // 1 s is over then; of 4 s between 70 and 80 % until the renewal is due, and 90 % until one waits for it.
    let rest = if storm == Storm::Soft { 3300 } else { 1100 };
    tokio::time::sleep(Duration::from_millis(rest) - EXCHANGE).await;
    turned.store(storm == Storm::Failure, Ordering::Relaxed);
    let failed = Arc::new(AtomicUsize::new(0));
    let tasks: Vec<_> = (0..callers)
        .map(|_| {
            let (entry, failed) = (Arc::clone(&entry), Arc::clone(&failed));
            tokio::spawn(async move {
                let began = Instant::now();
                if entry.bearer().await.is_err() {
                    failed.fetch_add(1, Ordering::Relaxed);
                }
                began.elapsed()
            })
        })
        .collect();
    if storm == Storm::Cancelled {
        tokio::time::sleep(EXCHANGE / 5).await;
        tasks
            .iter()
            .step_by(2)
            .for_each(tokio::task::JoinHandle::abort);
    }
    let mut waits = Vec::with_capacity(callers);
    for task in tasks {
        if let Ok(wait) = task.await {
            waits.push(wait.as_secs_f64() * 1e3);
        }
    }
    // The renewal behind their backs, if there is one.
    tokio::time::sleep(EXCHANGE * 2).await;
    waits.sort_unstable_by(f64::total_cmp);
    let at = |part: usize| {
        waits
            .get((waits.len() * part / 100).min(waits.len().saturating_sub(1)))
            .copied()
            .unwrap_or_default()
    };
    let failed = failed.load(Ordering::Relaxed);
    Ok(Seen {
        exchanges: moments.lock().expect("nobody panics with it").len() - 1,
        served: waits.len() - failed,
        failed,
        p50: at(50),
        p99: at(99),
        longest: at(100),
    })
}

/// A token of 3 s is used all the time, for a while: how long it lasts until it is renewed, at the least, as a share of
/// its lifetime.
pub async fn renewals(origin: &str) -> Result<f64, Failure> {
    let lifetime = 3;
    let (entry, moments) = entry(origin, lifetime, Duration::ZERO, &Arc::default()).await?;
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(lifetime * 4) {
        entry.bearer().await?;
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let moments = moments.lock().expect("nobody panics with it");
    let shortest = moments.windows(2).map(|pair| pair[1] - pair[0]).min();
    Ok(shortest.ok_or("no renewal")?.as_secs_f64() / lifetime as f64)
}
