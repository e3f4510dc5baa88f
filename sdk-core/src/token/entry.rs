//! A cached token, and the task that renews it and notifies all waiters.

use std::error::Error as _;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout, timeout_at};
use tracing::{Instrument as _, Span};

use crate::app::App;
use crate::macros::debug_fields;
use crate::observe::observers::Observers;
use crate::operation::Operation;
use crate::policy::random::RandomSource;
use crate::secret::redactor::{RecentSecrets, Redactor};
use crate::text::one_line;
use crate::token::bearer::BearerToken;
use crate::token::error::{TokenError, TokenErrorKind, catch_panic};
use crate::token::policy::TokenPolicy;
use crate::token::source::{AccessToken, TokenRequest, TokenSource};
use crate::token::state::{Action, State, TokenResult, Waiter};

/// The interval at which a renewal checks whether any caller can still use its token.
const CHECK: Duration = Duration::from_millis(500);

/// The token source of one client at one endpoint, and its policy.
pub(crate) struct EntryContext {
    pub(crate) source: Arc<dyn TokenSource>,
    pub(crate) policy: Arc<TokenPolicy>,
    pub(crate) random: RandomSource,
    /// Recent tokens, which a server may repeat.
    pub(crate) recent: Arc<RecentSecrets>,
    pub(crate) observers: Observers,
    /// The number of renewals started. It also counts renewals of entries that were removed.
    pub(crate) exchanges: AtomicU64,
}

/// The token for an audience and set of scopes, obtained once for all callers and renewed before it expires.
pub struct TokenEntry {
    request: Arc<TokenRequest>,
    /// The application for which renewals are reported.
    app: Option<App>,
    context: Arc<EntryContext>,
    state: RwLock<State>,
    /// Notified when any renewal ends. Every waiter then polls the state again.
    renewal_ended: Notify,
}

impl TokenEntry {
    pub(super) fn new(
        request: Arc<TokenRequest>,
        app: Option<App>,
        context: Arc<EntryContext>,
    ) -> Self {
        Self {
            request,
            app,
            context,
            state: RwLock::default(),
            renewal_ended: Notify::new(),
        }
    }

    /// Returns a live token. Waits only if there is none, or if it is about to expire.
    pub async fn bearer(self: &Arc<Self>) -> Result<Arc<BearerToken>, TokenError> {
        self.bearer_for(Duration::MAX).await
    }

    /// Returns a live token for an attempt of at most this length. Waits only if there is none, or if it is about to
    /// expire and would not outlast the attempt.
    pub async fn bearer_for(self: &Arc<Self>, min_validity: Duration) -> TokenResult {
        match self.try_bearer() {
            Some(token) => Ok(token),
            // Boxed, because few calls wait and the futures of all calls should stay small.
            None => Box::pin(self.obtain(min_validity)).await,
        }
    }

    /// Returns the token if it is fresh: not expired and not due for renewal. Never waits.
    pub fn try_bearer(&self) -> Option<Arc<BearerToken>> {
        self.read().fresh(Instant::now())
    }

    /// Records that an operation answered a call with 401, after it rejected `renewals` consecutive tokens of the same
    /// call. The token is dropped only if it is still in use.
    ///
    /// Returns whether the next token will be a different one. If not, a resend would fail too.
    #[must_use = "a call must not resend with the same token"]
    pub fn reject(
        &self,
        token: &BearerToken,
        operation: &'static Operation,
        renewals: u32,
    ) -> bool {
        let now = Instant::now();
        let random = self.context.random.fraction();
        self.write()
            .reject(token, operation, renewals, now, self.policy(), random)
    }

    /// Returns the audience and scopes of the token.
    pub fn request(&self) -> &TokenRequest {
        &self.request
    }

    async fn obtain(self: &Arc<Self>, min_validity: Duration) -> TokenResult {
        let Ok(runtime) = Handle::try_current() else {
            let why = "no Tokio runtime is running; await the call in a Tokio runtime";
            return Err(TokenError::new(TokenErrorKind::Lost).with_description(why));
        };
        let mut waiter = Waiter::new(runtime.id(), min_validity);
        loop {
            let mut ended = pin!(self.renewal_ended.notified());
            // Enable it before polling the state, so that no notification is missed.
            ended.as_mut().enable();
            match self.next_action(&runtime, &mut waiter) {
                Action::Use(token) => return Ok(token),
                Action::Fail(error) => return Err(error),
                // Poll again when a renewal has ended, and at that instant at the latest.
                Action::Wait(until) => drop(timeout_at(until, ended).await),
            }
        }
    }

    /// Abandons a renewal that is still in flight, and notifies all waiters.
    pub(super) fn abandon_renewal(&self, id: u64) {
        self.write().abandon_renewal(id);
        self.renewal_ended.notify_waiters();
    }

    fn settle(
        &self,
        id: u64,
        started: Instant,
        answer: Result<AccessToken, TokenError>,
    ) -> TokenResult {
        let answer = answer
            .inspect(|token| self.context.recent.keep([token.expose()]))
            .map_err(|error| {
                // A source may quote an earlier token.
                let mut redactor = Redactor::default();
                self.context.recent.add_secrets_to(&mut redactor);
                error.redacted(&redactor)
            });
        let random = self.context.random.fraction();
        self.write()
            .settle(id, started, Instant::now(), answer, self.policy(), random)
    }

    pub(crate) fn live(&self) -> Option<Arc<BearerToken>> {
        self.read().live(Instant::now())
    }

    /// Drops the token if it has expired. Returns whether the entry is idle: no token, renewal or backoff.
    pub(super) fn drop_if_expired(&self, now: Instant) -> bool {
        let mut state = self.write();
        state.drop_expired(now);
        state.is_idle(now, self.policy())
    }

    pub(super) fn backoff_left(&self) -> Duration {
        self.read().backoff_left(Instant::now())
    }

    fn policy(&self) -> &TokenPolicy {
        &self.context.policy
    }

    // A panic under the lock can't leave the state inconsistent, so a poisoned lock is harmless.
    fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}

debug_fields! { TokenEntry |it| request: it.request, token: it.live() }

impl TokenEntry {
    /// Returns the caller's next action. Starts a renewal if one is due.
    fn next_action(self: &Arc<Self>, runtime: &Handle, waiter: &mut Waiter) -> Action {
        let (action, start) = self.write().next(Instant::now(), waiter, self.policy());
        if let Some(id) = start {
            self.context.exchanges.fetch_add(1, Ordering::Relaxed);
            let entry = Arc::clone(self);
            let renewal = run(RenewalGuard { entry, id }).instrument(self.span());
            // Outside the lock, which the task's guard takes if the runtime is shutting down and drops the task.
            runtime.spawn(renewal);
        }
        action
    }

    /// The span is a separate trace, because many calls may wait for it. It follows from the call that starts it.
    fn span(&self) -> Span {
        let span = tracing::info_span!(
            parent: None,
            "suite.token",
            otel.name = "token renewal",
            otel.kind = "internal",
            otel.status_code = tracing::field::Empty,
            suite.application = self.app.map(App::name),
            suite.installation = self.context.observers.installation(),
            suite.audience = self.request().audience(),
            error.type = tracing::field::Empty,
        );
        span.follows_from(Span::current());
        span
    }
}

/// A renewal to run. When it is dropped, the renewal has ended or was lost, and all waiters are notified.
struct RenewalGuard {
    entry: Arc<TokenEntry>,
    id: u64,
}

impl Drop for RenewalGuard {
    fn drop(&mut self) {
        self.entry.abandon_renewal(self.id);
    }
}

async fn run(guard: RenewalGuard) {
    let (entry, started) = (&guard.entry, Instant::now());
    let context = &entry.context;
    let watch = context
        .observers
        .renewal(entry.app, TokenErrorKind::Lost.as_str());
    // The runtime may have stalled until callers on other runtimes abandoned this renewal.
    if !entry.read().is_current(guard.id) {
        return;
    }
    let limit = context.policy.renewal_timeout;
    // Call the source inside the future, because the call itself may panic.
    let answer = async { context.source.token(&entry.request).await };
    let answer = catch_panic("the token source or its transport", answer);
    let mut answer = pin!(timeout(limit, answer));
    let answer = loop {
        if let Ok(answer) = timeout(CHECK, answer.as_mut()).await {
            break answer;
        }
        // The suite and all its clients were dropped, so no caller can use the token.
        if Arc::strong_count(entry) == 1 {
            return;
        }
    };
    let answer = answer.unwrap_or_else(|_elapsed| {
        let late = format!("the token source did not answer within {limit:?}");
        Err(TokenError::new(TokenErrorKind::Timeout).with_description(late))
    });
    let outcome = entry.settle(guard.id, started, answer);
    report(entry, started, &outcome);
    watch.end(outcome.err().map(|error| error.kind().as_str()));
}

fn report(entry: &TokenEntry, started: Instant, outcome: &TokenResult) {
    let request = entry.request();
    match outcome {
        Ok(token) => tracing::debug!(
            name: "suite.token.renewed",
            audience = request.audience(),
            scopes = ?request.scopes(),
            generation = token.generation(),
            expires_in_s = token.expires_in().as_secs_f64(),
            took_s = started.elapsed().as_secs_f64(),
            "token renewed"
        ),
        Err(error) => {
            let span = tracing::Span::current();
            span.record("otel.status_code", "ERROR");
            span.record("error.type", error.kind().as_str());
            tracing::warn!(
                name: "suite.token.renewal_failed",
                audience = request.audience(),
                scopes = ?request.scopes(),
                error = %error,
                cause = error.source().map(|cause| one_line(&cause.to_string())),
                took_s = started.elapsed().as_secs_f64(),
                live_token = entry.live().is_some(),
                next_attempt_in_s = entry.backoff_left().as_secs_f64(),
                "token renewal failed"
            );
        }
    }
}
