//! Tests of the token engine on a paused clock, with a scripted token source.

mod endpoint;
mod failures;
mod lifetimes;
mod rejections;
mod runtimes;
mod sharing;
mod wire;

use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep};

use crate::operation::RawOperations;
use crate::token::bearer::BearerToken;
use crate::token::cache::TokenCache;
use crate::token::entry::TokenEntry;
use crate::token::error::{TokenError, TokenErrorKind};
use crate::token::exchange::ClientCredentialsSource;
use crate::token::policy::TokenPolicy;
use crate::token::source::{AccessToken, TokenFuture, TokenRequest, TokenSource};
use crate::token::state::TokenResult;

type Answer = Result<AccessToken, TokenError>;
type Script = Box<dyn Fn(usize, &TokenRequest) -> Answer + Send + Sync>;

static OPERATIONS: RawOperations = RawOperations::of(crate::App::Crm);

const REQUEST_TIME: Duration = Duration::from_millis(100);

/// Longer than any test waits.
const HOUR: Duration = Duration::from_secs(3_600);

/// A source whose results depend on the number of earlier requests.
struct Scripted {
    requests: AtomicUsize,
    delay: Mutex<Duration>,
    /// Ends a token request before its delay.
    release: Notify,
    script: Script,
}

impl Scripted {
    fn requests(&self) -> usize {
        self.requests.load(Ordering::Relaxed)
    }

    #[track_caller]
    fn assert_requests(&self, times: RangeInclusive<usize>) {
        let requests = self.requests();
        assert!(times.contains(&requests), "{requests} token requests");
    }

    fn takes(&self, delay: Duration) {
        *self.delay.lock().unwrap() = delay;
    }
}

impl TokenSource for Scripted {
    fn token<'a>(&'a self, request: &'a TokenRequest) -> TokenFuture<'a> {
        let number = self.requests.fetch_add(1, Ordering::Relaxed);
        let delay = *self.delay.lock().unwrap();
        Box::pin(async move {
            tokio::select! {
                () = sleep(delay) => {}
                () = self.release.notified() => {}
            }
            (self.script)(number, request)
        })
    }
}

fn scripted(
    script: impl Fn(usize, &TokenRequest) -> Answer + Send + Sync + 'static,
) -> Arc<Scripted> {
    Arc::new(Scripted {
        requests: AtomicUsize::new(0),
        delay: Mutex::new(REQUEST_TIME),
        release: Notify::new(),
        script: Box::new(script),
    })
}

fn cache(source: &Arc<Scripted>) -> TokenCache {
    TokenCache::new(Arc::clone(source) as _, TokenPolicy::default())
}

fn entry(
    answer: impl Fn(usize) -> Answer + Send + Sync + 'static,
) -> (Arc<TokenEntry>, Arc<Scripted>) {
    let source = scripted(move |number, _request| answer(number));
    let request = TokenRequest::new().with_audience("crm");
    (cache(&source).entry(request), source)
}

/// Creates an entry whose tokens all live for 300 s.
fn steady() -> (Arc<TokenEntry>, Arc<Scripted>) {
    entry(|number| Ok(token(number, 300)))
}

fn token(number: usize, seconds: u64) -> AccessToken {
    AccessToken::new(format!("token-{number}")).with_lifetime(Duration::from_secs(seconds))
}

fn outage() -> TokenError {
    TokenError::unavailable("down for the night")
}

fn header(token: &BearerToken) -> &str {
    token.header().to_str().unwrap()
}

/// Summarizes the result of a call: the number of the token, or the error message.
fn summarize(outcome: TokenResult) -> Result<usize, String> {
    let number = |token: Arc<BearerToken>| header(&token)["Bearer token-".len()..].parse().unwrap();
    outcome.map(number).map_err(|error| error.to_string())
}

async fn called(entry: &Arc<TokenEntry>) -> Result<usize, String> {
    summarize(entry.bearer().await)
}

async fn timed(entry: &Arc<TokenEntry>) -> (Result<usize, String>, Duration) {
    let start = Instant::now();
    let outcome = called(entry).await;
    (outcome, start.elapsed())
}

fn kind(error: &TokenError) -> (TokenErrorKind, bool) {
    (error.kind(), error.is_retryable())
}

/// Advances the clock, and runs all tasks that wait for it.
async fn pass(seconds: f64) {
    sleep(Duration::from_secs_f64(seconds)).await;
}
