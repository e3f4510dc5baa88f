//! What the tests of this binary share: suites that point at a server, clocks that stand still, events that are kept.

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

/// A suite of all four applications of a reference server, to be changed before it is built.
pub(crate) fn builder_for(server: &ReferenceServer) -> SuiteBuilder {
    quick(Suite::builder()).variables(server.environment())
}

/// A suite whose applications and token endpoint are all one scripted peer.
pub(crate) fn suite_at(peer: &Peer) -> Suite {
    builder_to(peer).build().unwrap()
}

/// [`suite_at`], to be changed before it is built.
pub(crate) fn builder_to(peer: &Peer) -> SuiteBuilder {
    peer.over().set(builder_at(&peer.url()))
}

/// [`builder_to`] any origin. One origin cannot be the audience of all applications.
pub(crate) fn builder_at(origin: &str) -> SuiteBuilder {
    let builder = quick(Suite::builder()).credentials(ClientCredentials::new("client", "secret"));
    App::all().fold(builder, |builder, app| {
        builder
            .application_url(app, origin)
            .audience(app, app.name())
    })
}

/// The clients of a suite, or of one that is still to be built.
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

/// Lets an operation of a server answer with this JSON.
pub(crate) fn answer(
    server: &ReferenceServer,
    operation: Operation,
    json: impl Into<Vec<u8>>,
) -> Fault {
    server
        .fault(operation)
        .body(json.into(), "application/json")
}

/// What happens to the next request of an operation, and to no other.
pub(crate) fn once(server: &ReferenceServer, operation: Operation) -> Fault {
    server.fault(operation).times(1)
}

/// What the rule says about a stored command that was first sent then.
pub(crate) fn next_step(
    command: &PreparedCommand,
    first_sent: impl Into<Option<SystemTime>>,
    now: SystemTime,
) -> StoredStep {
    let state = StoredState::of(command).with_first_sent(first_sent);
    StoredRule::default().next(&state, now)
}

/// What comes back from where it was stored.
pub(crate) fn stored<T: Serialize + DeserializeOwned>(value: &T) -> T {
    serde_json::from_str(&serde_json::to_string(value).unwrap()).unwrap()
}

/// Three attempts at once for calls, and exchanges that are retried at once.
fn quick(builder: SuiteBuilder) -> SuiteBuilder {
    builder
        .retry(quick_retry())
        .token_policy(quick_tokens_with(|_policy| {}))
}

/// Three attempts in all, at once. Their number is not the default's, which has its own test.
pub(crate) fn quick_retry() -> RetryPolicy {
    RetryPolicy::default()
        .with_attempts(3)
        .with_backoff(Backoff::none())
}

/// Retries within one exchange at once, and a change; lifetimes, margins and backoff as they are by default.
pub(crate) fn quick_tokens_with(change: impl FnOnce(&mut TokenPolicy)) -> TokenPolicy {
    let mut policy = TokenPolicy::default();
    policy.backoff = Backoff::none();
    change(&mut policy);
    policy
}

/// The outcome of one call against a script: the caller's result, and the requests that the peer received. After the end of a
/// script, the peer answers with 404.
pub(crate) struct ScriptRun<T> {
    pub(crate) result: Result<T, Error>,
    /// The attempts; token exchanges are not among them.
    pub(crate) requests: Vec<Seen>,
    /// The number of token exchanges.
    pub(crate) exchanges: usize,
}

/// Makes one call against a new peer with this script, by the default HTTP client.
pub(crate) async fn run_script<T>(
    script: impl Into<Script>,
    call: impl AsyncFnOnce(&Suite) -> Result<T, Error>,
) -> ScriptRun<T> {
    run_script_over(Over::DEFAULT, script, call).await
}

/// [`run_script`] with another client or protocol.
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
    /// The number of requests that the peer received.
    pub(crate) fn attempts(&self) -> usize {
        self.requests.len()
    }

    /// Whether every attempt has the idempotency key and the body of the first.
    pub(crate) fn same_bytes(&self) -> bool {
        let sent = |seen: &Seen| (seen.key().map(str::to_owned), seen.body.clone());
        self.requests
            .windows(2)
            .all(|pair| sent(&pair[0]) == sent(&pair[1]))
    }

    /// The error of a failed call, which counts the attempts as the peer does.
    #[track_caller]
    pub(crate) fn error(&self) -> &Error {
        let error = self.result.as_ref().err().expect("the call fails");
        assert_eq!(error.attempts() as usize, self.attempts(), "{error}");
        error
    }

    /// Checks the kind, the effect and the attempts of a failed call, whose resends all had the same bytes.
    #[track_caller]
    pub(crate) fn assert_failed(&self, kind: ErrorKind, effect: Effect, attempts: u32) -> &Error {
        let error = self.error();
        assert_tried(error, kind, effect, attempts);
        assert!(self.same_bytes(), "{error}");
        error
    }
}

/// Checks that what is shown has all of these words.
#[track_caller]
pub(crate) fn assert_says(shown: &(impl Display + ?Sized), words: &[&str]) {
    let shown = shown.to_string();
    for word in words {
        assert!(shown.contains(word), "{word} in {shown}");
    }
}

/// Checks what a failure is, and what is known of its effect.
#[track_caller]
pub(crate) fn assert_failed(error: &Error, kind: ErrorKind, effect: Effect) {
    assert_eq!((error.kind(), error.effect()), (kind, effect), "{error}");
}

/// [`assert_failed`], after so many attempts.
#[track_caller]
pub(crate) fn assert_tried(error: &Error, kind: ErrorKind, effect: Effect, attempts: u32) {
    assert_failed(error, kind, effect);
    assert_eq!(error.attempts(), attempts, "{error}");
}

/// Checks that a call failed before anything was sent, in one bounded line with these words.
#[track_caller]
pub(crate) fn assert_unsent(error: &Error, kind: ErrorKind, words: &[&str]) {
    assert_tried(error, kind, Effect::NotSent, 0);
    let line = error.to_string();
    assert!(!line.contains('\n') && line.len() < 1_000, "{line:.2000}");
    assert_says(&line, words);
}

/// Checks that a service refused a call with this status, and that it had no effect.
#[track_caller]
pub(crate) fn assert_refused_with(error: &Error, status: u16) {
    let told = (error.status(), error.effect());
    assert_eq!(told, (Some(status), Effect::Refused), "{error}");
}

/// Whether a test looks at all cases instead of some of each kind, as `.ci/nightly` asks.
pub(crate) fn is_long() -> bool {
    std::env::var_os("LONG_TESTS").is_some()
}

/// A key that a test can look for.
pub(crate) fn key(text: &str) -> IdempotencyKey {
    text.parse().unwrap()
}

/// Yields until something holds, or fails the test after a while by the wall clock: the test's own may stand still.
pub(crate) async fn until(holds: impl Fn() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(30), "it never held");
        std::thread::sleep(Duration::from_micros(100));
        tokio::task::yield_now().await;
    }
}

/// Drops a call that does not end, once this has happened.
pub(crate) async fn drop_when(happened: impl Future<Output = ()>, call: impl Future) {
    tokio::select! {
        _ended = call => panic!("it never ends"),
        () = happened => {}
    }
}

/// Runs something on a thread and a runtime of its own, until what this gives is dropped.
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

/// Keeps a paused clock where it is while the runtime waits for a socket.
///
/// On its own, a paused clock jumps to the next timer whenever nothing is ready, so that a timeout strikes before the
/// reply has a chance to come. A task on the blocking pool prevents that for as long as it runs. Move the clock with
/// `tokio::time::advance`.
pub(crate) struct HoldClock {
    _running: mpsc::Sender<()>,
}

impl HoldClock {
    pub(crate) fn new() -> Self {
        let (running, ended) = mpsc::channel::<()>();
        tokio::task::spawn_blocking(move || {
            // A test that waits in vain is let go after a while, to fail.
            let _ = ended.recv_timeout(Duration::from_secs(60));
        });
        Self { _running: running }
    }
}

/// Everything that is reported through `tracing` or `log` on the thread that it was made on.
#[derive(Clone, Default)]
pub(crate) struct Events(Arc<Mutex<Vec<u8>>>);

impl Events {
    /// Collects what this thread reports, at every level, until the guard is dropped.
    pub(crate) fn here() -> (Self, DefaultGuard) {
        // While there is only one subscriber, `tracing` lets any thread decide for all whether an event is wanted;
        // a second one, kept for good, prevents that.
        static SECOND: OnceLock<Dispatch> = OnceLock::new();
        SECOND.get_or_init(|| {
            tracing_log::LogTracer::init().unwrap();
            Self::default().dispatch()
        });
        let events = Self::default();
        let guard = tracing::dispatcher::set_default(&events.dispatch());
        (events, guard)
    }

    /// All lines so far.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes()).into_owned()
    }

    /// All lines since the last time.
    pub(crate) fn take(&self) -> String {
        let bytes = std::mem::take(&mut *self.bytes());
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The lines of one level, such as `WARN`, that have all these words.
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

/// A walk that reads ahead, or the same one that does not.
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
