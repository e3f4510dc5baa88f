//! Tests of the engine on a paused clock, with a token source that follows a script.

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

/// Two operations to call.
static OPERATIONS: RawOperations = RawOperations::of(crate::App::Crm);

/// How long a scripted exchange takes.
const EXCHANGE: Duration = Duration::from_millis(100);

/// Longer than any test waits.
const HOUR: Duration = Duration::from_secs(3_600);

/// A source whose answers depend on how often it was asked before.
struct Scripted {
    asked: AtomicUsize,
    delay: Mutex<Duration>,
    /// Ends an exchange before its delay.
    release: Notify,
    answer: Script,
}

impl Scripted {
    fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }

    #[track_caller]
    fn assert_asked(&self, times: RangeInclusive<usize>) {
        assert!(times.contains(&self.asked()), "{} exchanges", self.asked());
    }

    fn takes(&self, delay: Duration) {
        *self.delay.lock().unwrap() = delay;
    }
}

impl TokenSource for Scripted {
    fn token<'a>(&'a self, request: &'a TokenRequest) -> TokenFuture<'a> {
        let number = self.asked.fetch_add(1, Ordering::Relaxed);
        let delay = *self.delay.lock().unwrap();
        Box::pin(async move {
            tokio::select! {
                () = sleep(delay) => {}
                () = self.release.notified() => {}
            }
            (self.answer)(number, request)
        })
    }
}

fn scripted(
    answer: impl Fn(usize, &TokenRequest) -> Answer + Send + Sync + 'static,
) -> Arc<Scripted> {
    Arc::new(Scripted {
        asked: AtomicUsize::new(0),
        delay: Mutex::new(EXCHANGE),
        release: Notify::new(),
        answer: Box::new(answer),
    })
}

fn cache(source: &Arc<Scripted>) -> TokenCache {
    TokenCache::new(Arc::clone(source) as _, TokenPolicy::default())
}

/// An entry over a scripted source that sees only the count.
fn entry(
    answer: impl Fn(usize) -> Answer + Send + Sync + 'static,
) -> (Arc<TokenEntry>, Arc<Scripted>) {
    let source = scripted(move |number, _request| answer(number));
    let request = TokenRequest::new().with_audience("crm");
    (cache(&source).entry(request), source)
}

/// An entry whose tokens all live for 300 s.
fn steady() -> (Arc<TokenEntry>, Arc<Scripted>) {
    entry(|number| Ok(token(number, 300)))
}

/// The token with this number, for so many seconds.
fn token(number: usize, seconds: u64) -> AccessToken {
    AccessToken::new(format!("token-{number}")).with_lifetime(Duration::from_secs(seconds))
}

fn outage() -> TokenError {
    TokenError::unavailable("down for the night")
}

fn text(token: &BearerToken) -> &str {
    token.header().to_str().unwrap()
}

/// What a call gets: the number of the token, or the text of the error.
fn summarize(outcome: TokenResult) -> Result<usize, String> {
    let number = |token: Arc<BearerToken>| text(&token)["Bearer token-".len()..].parse().unwrap();
    outcome.map(number).map_err(|error| error.to_string())
}

/// Calls once.
async fn called(entry: &Arc<TokenEntry>) -> Result<usize, String> {
    summarize(entry.bearer().await)
}

/// Calls once, and measures how long it takes.
async fn timed(entry: &Arc<TokenEntry>) -> (Result<usize, String>, Duration) {
    let start = Instant::now();
    let outcome = called(entry).await;
    (outcome, start.elapsed())
}

/// The kind of an error, and whether it is retryable.
fn kind(error: &TokenError) -> (TokenErrorKind, bool) {
    (error.kind(), error.is_retryable())
}

/// Lets the clock and all that waits for it advance.
async fn pass(seconds: f64) {
    sleep(Duration::from_secs_f64(seconds)).await;
}
