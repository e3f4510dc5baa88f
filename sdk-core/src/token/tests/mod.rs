//! Tests of the engine on a paused clock, with a token source that follows a script.

mod endpoint;
mod eviction;
mod failures;
mod lifetimes;
mod redaction;
mod rejections;
mod runtimes;
mod sharing;
mod wire;

use std::fmt::Write as _;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use tokio::time::{Instant, sleep};
use tracing::field::{Field, Visit};
use tracing::subscriber::DefaultGuard;
use tracing::{Dispatch, Event, Level, Metadata, Subscriber, span};

use crate::operation::RawOperations;
use crate::token::bearer::BearerToken;
use crate::token::cache::TokenCache;
use crate::token::entry::TokenEntry;
use crate::token::error::{TokenError, TokenErrorKind};
use crate::token::exchange::ClientCredentialsSource;
use crate::token::policy::TokenPolicy;
use crate::token::rejection::Rejection;
use crate::token::source::{AccessToken, TokenFuture, TokenRequest, TokenSource};
use crate::token::waiter::Outcome;

type Answer = Result<AccessToken, TokenError>;
type Script = Box<dyn Fn(usize, &TokenRequest) -> Answer + Send + Sync>;

/// Two operations to call.
static OPERATIONS: RawOperations = RawOperations::of(crate::App::Crm);

/// How long a scripted exchange takes.
const EXCHANGE: Duration = Duration::from_millis(100);

/// A source whose answers depend on how often it was asked before.
struct Scripted {
    asked: AtomicUsize,
    delay: Mutex<Duration>,
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
            sleep(delay).await;
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

/// An entry whose first token lives for 300 s, and whose other answers follow the script.
fn first_then(
    answer: impl Fn(usize) -> Answer + Send + Sync + 'static,
) -> (Arc<TokenEntry>, Arc<Scripted>) {
    entry(move |number| match number {
        0 => Ok(token(0, 300)),
        _ => answer(number),
    })
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
fn gist(outcome: Outcome) -> Result<usize, String> {
    let number = |token: Arc<BearerToken>| text(&token)["Bearer token-".len()..].parse().unwrap();
    outcome.map(number).map_err(|error| error.to_string())
}

/// Calls once.
async fn called(entry: &Arc<TokenEntry>) -> Result<usize, String> {
    gist(entry.bearer().await)
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

/// Collects the events of the thread whose default it is.
#[derive(Clone, Default)]
struct Events(Arc<Mutex<Vec<(Level, String)>>>);

impl Events {
    /// Collects the events of this thread until the guard is dropped.
    fn here() -> (Self, DefaultGuard) {
        // With a single subscriber, `tracing` lets one thread decide for all whether an event is wanted. A second one, which
        // stays, prevents that.
        static SECOND: OnceLock<Dispatch> = OnceLock::new();
        SECOND.get_or_init(|| Dispatch::new(Self::default()));
        let events = Self::default();
        let guard = tracing::subscriber::set_default(events.clone());
        (events, guard)
    }

    fn of(&self, level: Level) -> Vec<String> {
        let mut events = self.0.lock().unwrap().clone();
        events.retain(|(of, _)| *of == level);
        events.into_iter().map(|(_, text)| text).collect()
    }

    fn all(&self) -> String {
        format!("{:?}", self.0.lock().unwrap())
    }
}

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        let _ = write!(self.0, "{field}={value:?} ");
    }
}

impl Subscriber for Events {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().contains("token")
    }

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(String::new());
        event.record(&mut line);
        let level = *event.metadata().level();
        self.0.lock().unwrap().push((level, line.0));
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
}
