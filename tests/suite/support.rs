//! Shared test code: builders of suites, checks, paused clocks and recorded events.

use std::fmt::Display;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, mpsc};
use std::time::{Duration, Instant, SystemTime};

use sdk_core::{
    App, Backoff, ClientCredentials, Effect, Error, ErrorKind, IdempotencyKey, Items, Pages,
    PreparedCommand, RetryPolicy, Suite, SuiteBuilder, TokenPolicy,
};
use sdk_outbox::{StoredRule, StoredState, StoredStep};
use sdk_reference_server::{Fault, Operation, ReferenceServer};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::oneshot;
use tracing::Dispatch;
use tracing::subscriber::DefaultGuard;
use tracing_subscriber::fmt::MakeWriter;

use crate::peer::{Over, Peer, Script, Seen};

/// Returns the builder of a suite with all four applications of a reference server.
pub(crate) fn builder_for(server: &ReferenceServer) -> SuiteBuilder {
    quick(Suite::builder()).variables(server.environment())
}

/// Returns a suite whose applications and token endpoint are one scripted peer.
pub(crate) fn suite_at(peer: &Peer) -> Suite {
    builder_to(peer).build().unwrap()
}

/// Returns the builder of [`suite_at`].
pub(crate) fn builder_to(peer: &Peer) -> SuiteBuilder {
    peer.over().set(builder_at(&peer.url()))
}

/// All applications need different audiences, so the origin can't be the audience.
pub(crate) fn builder_at(origin: &str) -> SuiteBuilder {
    let builder = quick(Suite::builder()).credentials(ClientCredentials::new("client", "secret"));
    App::all().fold(builder, |builder, app| {
        builder
            .application_url(app, origin)
            .audience(app, app.name())
    })
}

/// Returns clients from a suite or from its builder.
pub(crate) trait Clients: Sized {
    fn suite(self) -> Suite;

    fn crm(self) -> sdk_crm::Client {
        sdk_crm::Client::new(&self.suite()).unwrap()
    }

    fn calendar(self) -> sdk_calendar::Client {
        sdk_calendar::Client::new(&self.suite()).unwrap()
    }

    fn accounting(self) -> sdk_accounting::Client {
        sdk_accounting::Client::new(&self.suite()).unwrap()
    }

    fn platform(self) -> sdk_platform::Client {
        sdk_platform::Client::new(&self.suite()).unwrap()
    }
}

impl Clients for SuiteBuilder {
    fn suite(self) -> Suite {
        self.build().unwrap()
    }
}

impl Clients for &Suite {
    fn suite(self) -> Suite {
        self.clone()
    }
}

pub(crate) fn crm_at(peer: &Peer) -> sdk_crm::Client {
    builder_to(peer).crm()
}

pub(crate) fn calendar_at(peer: &Peer) -> sdk_calendar::Client {
    builder_to(peer).calendar()
}

/// Makes an operation of a server return this JSON.
pub(crate) fn answer(
    server: &ReferenceServer,
    operation: Operation,
    json: impl Into<Vec<u8>>,
) -> Fault {
    server
        .fault(operation)
        .body(json.into(), "application/json")
}

/// Returns a fault for only the next request of an operation.
pub(crate) fn once(server: &ReferenceServer, operation: Operation) -> Fault {
    server.fault(operation).times(1)
}

pub(crate) fn next_step(
    command: &PreparedCommand,
    first_sent: impl Into<Option<SystemTime>>,
    now: SystemTime,
) -> StoredStep {
    let state = StoredState::of(command).with_first_sent(first_sent);
    StoredRule::default().next(&state, now)
}

/// Serializes and deserializes a value, like a database.
pub(crate) fn stored<T: Serialize + DeserializeOwned>(value: &T) -> T {
    serde_json::from_str(&serde_json::to_string(value).unwrap()).unwrap()
}

/// Sets three attempts without delay for calls, and retries without delay for token exchanges.
fn quick(builder: SuiteBuilder) -> SuiteBuilder {
    builder
        .retry(quick_retry())
        .token_policy(quick_tokens_with(|_policy| {}))
}

/// Returns a policy with three attempts without delay. The number differs from the default, which has its own test.
pub(crate) fn quick_retry() -> RetryPolicy {
    RetryPolicy::default()
        .with_attempts(3)
        .with_backoff(Backoff::none())
}

/// Returns a token policy that retries without delay within an exchange. Lifetimes, margins and backoff keep their
/// defaults, unless `change` sets them.
pub(crate) fn quick_tokens_with(change: impl FnOnce(&mut TokenPolicy)) -> TokenPolicy {
    let mut policy = TokenPolicy::default();
    policy.backoff = Backoff::none();
    change(&mut policy);
    policy
}

/// The result of one call against a script, and the requests that the peer received. After the end of the script, the
/// peer answers with a 404.
pub(crate) struct ScriptRun<T> {
    pub(crate) result: Result<T, Error>,
    /// The attempts, without token exchanges.
    pub(crate) requests: Vec<Seen>,
    pub(crate) exchanges: usize,
}

/// Makes one call against a new peer with this script, using the default HTTP client.
pub(crate) async fn run_script<T>(
    script: impl Into<Script>,
    call: impl AsyncFnOnce(&Suite) -> Result<T, Error>,
) -> ScriptRun<T> {
    run_script_over(Over::DEFAULT, script, call).await
}

/// Makes one call like [`run_script`], with another client or protocol.
pub(crate) async fn run_script_over<T>(
    over: Over,
    script: impl Into<Script>,
    call: impl AsyncFnOnce(&Suite) -> Result<T, Error>,
) -> ScriptRun<T> {
    let peer = over.start(script);
    let result = call(&suite_at(&peer)).await;
    ScriptRun {
        result,
        requests: peer.requests(),
        exchanges: peer.exchanges().len(),
    }
}

impl<T> ScriptRun<T> {
    pub(crate) fn attempts(&self) -> usize {
        self.requests.len()
    }

    /// Returns whether every attempt has the idempotency key and the body of the first attempt.
    pub(crate) fn same_bytes(&self) -> bool {
        let sent = |seen: &Seen| (seen.key().map(str::to_owned), seen.body.clone());
        self.requests
            .windows(2)
            .all(|pair| sent(&pair[0]) == sent(&pair[1]))
    }

    /// Returns a failed call's error, which must report the attempts that the peer received.
    #[track_caller]
    pub(crate) fn error(&self) -> &Error {
        let error = self.result.as_ref().err().expect("the call fails");
        assert_eq!(error.attempts() as usize, self.attempts(), "{error}");
        error
    }

    /// Checks the kind, the effect and the attempts of a failed call, and that all resends had the same bytes.
    #[track_caller]
    pub(crate) fn assert_failed(&self, kind: ErrorKind, effect: Effect, attempts: u32) -> &Error {
        let error = self.error();
        assert_tried(error, kind, effect, attempts);
        assert!(self.same_bytes(), "{error}");
        error
    }
}

/// Checks that the output contains all of these words.
#[track_caller]
pub(crate) fn assert_says(shown: &(impl Display + ?Sized), words: &[&str]) {
    let shown = shown.to_string();
    for word in words {
        assert!(shown.contains(word), "{word} in {shown}");
    }
}

#[track_caller]
pub(crate) fn assert_failed(error: &Error, kind: ErrorKind, effect: Effect) {
    assert_eq!((error.kind(), error.effect()), (kind, effect), "{error}");
}

#[track_caller]
pub(crate) fn assert_tried(error: &Error, kind: ErrorKind, effect: Effect, attempts: u32) {
    assert_failed(error, kind, effect);
    assert_eq!(error.attempts(), attempts, "{error}");
}

/// Checks that a call failed before anything was sent, with one bounded line that contains these words.
#[track_caller]
pub(crate) fn assert_unsent(error: &Error, kind: ErrorKind, words: &[&str]) {
    assert_tried(error, kind, Effect::NotSent, 0);
    let line = error.to_string();
    assert!(!line.contains('\n') && line.len() < 1_000, "{line:.2000}");
    assert_says(&line, words);
}

/// Checks that a service rejected a call with this status, and that the call had no effect.
#[track_caller]
pub(crate) fn assert_refused_with(error: &Error, status: u16) {
    let got = (error.status(), error.effect());
    assert_eq!(got, (Some(status), Effect::Refused), "{error}");
}

/// Returns whether a test covers all cases instead of some of each kind, as `.ci/nightly` requests.
pub(crate) fn is_long() -> bool {
    std::env::var_os("LONG_TESTS").is_some()
}

pub(crate) fn key(text: &str) -> IdempotencyKey {
    text.parse().unwrap()
}

/// Yields until a condition is true, for at most 30 seconds of real time, because the test's clock may be paused.
pub(crate) async fn until(condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(
            start.elapsed() < Duration::from_secs(30),
            "the condition stayed false"
        );
        std::thread::sleep(Duration::from_micros(100));
        tokio::task::yield_now().await;
    }
}

/// Drops a call that does not end, once `happened` completes.
pub(crate) async fn drop_when(happened: impl Future<Output = ()>, call: impl Future) {
    tokio::select! {
        _ended = call => panic!("the call must not end"),
        () = happened => {}
    }
}

/// Runs a future on its own thread and runtime until the returned handle is dropped.
pub(crate) fn apart<F: Future<Output = ()>>(
    run: impl FnOnce() -> F + Send + 'static,
) -> oneshot::Sender<()> {
    let (stop, stopped) = oneshot::channel();
    std::thread::spawn(move || {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        builder.enable_all().build().unwrap().block_on(async {
            tokio::select! {
                () = run() => {}
                _dropped = stopped => {}
            }
        });
    });
    stop
}

/// Stops a paused clock from advancing while the runtime waits for a socket.
///
/// A paused clock jumps to the next timer whenever no task is ready, so a timeout would expire before a response can
/// arrive. A task on the blocking pool prevents that while it runs. To advance the clock, call `tokio::time::advance`.
pub(crate) struct HoldClock {
    _running: mpsc::Sender<()>,
}

impl HoldClock {
    pub(crate) fn new() -> Self {
        let (running, ended) = mpsc::channel::<()>();
        tokio::task::spawn_blocking(move || {
            // Releases a test that waits in vain, so that it can fail.
            let _ = ended.recv_timeout(Duration::from_secs(60));
        });
        Self { _running: running }
    }
}

/// The `tracing` and `log` events of the thread that created this value.
#[derive(Clone, Default)]
pub(crate) struct Events(Arc<Mutex<Vec<u8>>>);

impl Events {
    /// Collects the events of this thread, at every level, until the guard is dropped.
    pub(crate) fn here() -> (Self, DefaultGuard) {
        // With only one subscriber, `tracing` decides once for all threads whether an event is enabled. A second,
        // permanent subscriber prevents that.
        static SECOND: OnceLock<Dispatch> = OnceLock::new();
        SECOND.get_or_init(|| {
            tracing_log::LogTracer::init().unwrap();
            Self::default().dispatch()
        });
        let events = Self::default();
        let guard = tracing::dispatcher::set_default(&events.dispatch());
        (events, guard)
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes()).into_owned()
    }

    /// Returns the lines since the last call.
    pub(crate) fn take(&self) -> String {
        let bytes = std::mem::take(&mut *self.bytes());
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Returns the lines of one level, such as `WARN`, that contain all these words.
    pub(crate) fn lines(&self, level: &str, words: &[&str]) -> Vec<String> {
        self.text()
            .lines()
            .filter(|line| line.trim_start().starts_with(level))
            .filter(|line| words.iter().all(|word| line.contains(word)))
            .map(str::to_owned)
            .collect()
    }

    fn bytes(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn dispatch(&self) -> Dispatch {
        tracing_subscriber::fmt()
            .with_max_level(tracing::Level::TRACE)
            .with_span_events(tracing_subscriber::fmt::format::FmtSpan::FULL)
            .with_ansi(false)
            .without_time()
            .with_writer(self.clone())
            .finish()
            .into()
    }
}

impl Write for Events {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Events {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

/// Enables read-ahead if `ahead` is true.
pub(crate) trait Ahead: Sized {
    fn ahead(self, on: bool) -> Self;
}

impl<T: DeserializeOwned + Send + 'static> Ahead for Pages<T> {
    fn ahead(self, on: bool) -> Self {
        if on { self.read_ahead() } else { self }
    }
}

impl<T: DeserializeOwned + Send + 'static> Ahead for Items<T> {
    fn ahead(self, on: bool) -> Self {
        if on { self.read_ahead() } else { self }
    }
}
