//! Many callers that need a token that has expired or is due for renewal.

use std::sync::Arc;
use std::time::{Duration, Instant};

use sdk_core::internal::{ClientCredentialsSource, TokenCache, TokenEntry};
use sdk_core::{ClientCredentials, TokenPolicy, TokenRequest};

use crate::clients::Failure;

/// The time that the server takes for a token.
pub const EXCHANGE: Duration = Duration::from_millis(100);
/// The number of concurrent callers.
pub const CALLERS: usize = 10_000;

/// The state of the token: expired; expired and the exchange fails; expired and every other caller is dropped while it
/// waits; or live but due for renewal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storm {
    Success,
    Failure,
    Cancelled,
    Soft,
}

/// Returns a token that has been fetched, with a lifetime in seconds. The server responds to all later exchanges with a
/// status.
pub async fn entry(
    origin: &str,
    lifetime: u64,
    delay: Duration,
    status: u16,
) -> Result<Arc<TokenEntry>, Failure> {
    let delay = delay.as_millis();
    let url = format!("{origin}/t/{delay}/{lifetime}/{status}/oauth/token").parse()?;
    let (http, policy) = (reqwest::Client::new(), TokenPolicy::default());
    let credentials = ClientCredentials::new("bench", "secret");
    let source = ClientCredentialsSource::new(http, url, credentials, &policy);
    let cache = TokenCache::new(Arc::new(source), policy);
    let entry = cache.entry(TokenRequest::new().with_audience("crm"));
    entry.bearer().await?;
    Ok(entry)
}

/// Makes all callers request the token concurrently. Returns how many got a token and how many an error, and the
/// median, the 99th percentile and the maximum of their waits, in milliseconds.
pub async fn storm(origin: &str, storm: Storm) -> Result<(usize, usize, [f64; 3]), Failure> {
    // 1.1 s exceeds a lifetime of 1 s. 3.3 s of 4 s is after the start of renewals (70 to 80 %) and before the time
    // from which callers wait for the renewal (90 %).
    let (lifetime, age) = if storm == Storm::Soft {
        (4, 3300)
    } else {
        (1, 1100)
    };
    let status = if storm == Storm::Failure { 400 } else { 200 };
    let entry = entry(origin, lifetime, EXCHANGE, status).await?;
    tokio::time::sleep(Duration::from_millis(age) - EXCHANGE).await;
    let tasks: Vec<_> = (0..CALLERS)
        .map(|_| {
            let entry = Arc::clone(&entry);
            tokio::spawn(async move {
                let began = Instant::now();
                let failed = entry.bearer().await.is_err();
                (began.elapsed().as_secs_f64() * 1e3, failed)
            })
        })
        .collect();
    if storm == Storm::Cancelled {
        tokio::time::sleep(EXCHANGE / 5).await;
        for task in tasks.iter().step_by(2) {
            task.abort();
        }
    }
    let (mut waits, mut failed) = (Vec::with_capacity(CALLERS), 0);
    for task in tasks {
        if let Ok((wait, has_failed)) = task.await {
            waits.push(wait);
            failed += usize::from(has_failed);
        }
    }
    // Long enough for a renewal in the background.
    tokio::time::sleep(EXCHANGE * 2).await;
    waits.sort_unstable_by(f64::total_cmp);
    let waited = [50, 99, 100].map(|percent| waits[(waits.len() - 1) * percent / 100]);
    Ok((waits.len() - failed, failed, waited))
}

/// Uses a token of 3 s continuously. Returns the shortest time between two renewals, as a share of the lifetime.
pub async fn renewals(origin: &str) -> Result<f64, Failure> {
    let lifetime = 3;
    let entry = entry(origin, lifetime, Duration::ZERO, 200).await?;
    let (began, mut token) = (Instant::now(), entry.bearer().await?);
    let mut renewed = vec![began];
    while began.elapsed() < Duration::from_secs(lifetime * 4) {
        let next = entry.bearer().await?;
        if !Arc::ptr_eq(&next, &token) {
            renewed.push(Instant::now());
            token = next;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let shortest = renewed.windows(2).map(|pair| pair[1] - pair[0]).min();
    Ok(shortest.ok_or("no renewal")?.as_secs_f64() / lifetime as f64)
}
