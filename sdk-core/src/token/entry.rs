//! A cached token and the one renewal it may have under way.

use std::fmt;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use tokio::runtime::{self, Handle};
use tokio::sync::Notify;
use tokio::sync::futures::Notified;
use tokio::time::{Instant, timeout_at};

use crate::operation::Operation;
use crate::secret::confidential::{Confidential, Recent};
use crate::token::bearer::BearerToken;
use crate::token::error::{TokenError, TokenErrorKind};
use crate::token::flight::{Flight, Outcome};
use crate::token::lifetime;
use crate::token::policy::TokenPolicy;
use crate::token::rejection::{Rejection, Target};
use crate::token::source::{AccessToken, TokenRequest, TokenSource};
use crate::token::state::{Caller, State, Step};

/// How long a renewal on another runtime may show no sign of life before a caller starts its own: a runtime can exist
/// without anybody driving it. A renewal that is merely slow shows them.
const SILENCE: Duration = Duration::from_secs(2);

/// How many renewals a call sees lost with their runtimes before it gives up.
const LOST_LIMIT: u32 = 3;

/// The token for one audience and set of scopes: obtained once for all callers, renewed in time.
pub struct TokenEntry {
    request: TokenRequest,
    source: Arc<dyn TokenSource>,
    policy: Arc<TokenPolicy>,
    recent: Arc<Recent>,
    state: RwLock<State>,
    /// Whether anything may be held against a target that refused tokens.
    has_rejections: AtomicBool,
    /// Told whenever a renewal ends, whichever it is: everybody who waits looks again.
    news: Notify,
}

impl TokenEntry {
    pub(super) fn new(
        request: TokenRequest,
        source: Arc<dyn TokenSource>,
        policy: Arc<TokenPolicy>,
        recent: Arc<Recent>,
    ) -> Self {
        Self {
            request,
            source,
            policy,
            recent,
            state: RwLock::default(),
            has_rejections: AtomicBool::new(false),
            news: Notify::new(),
        }
    }

    /// A live token. Waits only if there is none or the one there is about to die.
    pub async fn bearer(self: &Arc<Self>) -> Result<Arc<BearerToken>, TokenError> {
        self.bearer_for(Duration::MAX).await
    }

    /// A live token for an attempt of at most this long. A token that is about to die, and outlives the attempt all the
    /// same, is used without a wait.
    pub async fn bearer_for(
        self: &Arc<Self>,
        need: Duration,
    ) -> Result<Arc<BearerToken>, TokenError> {
        match self.try_bearer() {
            Some(token) => Ok(token),
            // Boxed, so that the futures of all calls stay small for the sake of the few that wait.
            None => Box::pin(self.obtain(false, need)).await,
        }
    }

    /// The token, if it is fresh: neither dead nor due for renewal. Never waits.
    pub fn try_bearer(&self) -> Option<Arc<BearerToken>> {
        let now = Instant::now();
        self.read().fresh(now)
    }

    /// Makes sure that the token is fresh, and waits for it.
    pub async fn prewarm(self: &Arc<Self>) -> Result<(), TokenError> {
        self.obtain(true, Duration::MAX).await.map(drop)
    }

    /// Takes note that a target answered a call with a 401, after it had refused `renewals` other tokens in a row under the
    /// same call. The token is dropped only if it is still the one in use.
    ///
    /// The call may resend if [`Rejection::allows_resend`]; otherwise another token would fare no better.
    #[must_use = "a token that is kept is no reason to resend"]
    pub fn reject(&self, token: &BearerToken, target: Target, renewals: u32) -> Rejection {
        let rejection = {
            let mut state = self.write();
            state.reject(token, target, renewals, Instant::now(), &self.policy)
        };
        self.has_rejections.store(true, Ordering::Relaxed);
        rejection
    }

    /// Takes note that a target took a token.
    pub(crate) fn serves(&self, token: &BearerToken, operation: &'static Operation, path: &str) {
        token.serves(operation);
        // Hardly ever is there anything to forget.
        if !self.has_rejections.load(Ordering::Relaxed) {
            return;
        }
        let target = Target::new(operation, path);
        if self.read().rejections().knows(target) {
            let mut state = self.write();
            state.rejections_mut().forget(target);
            if state.rejections().is_empty() {
                self.has_rejections.store(false, Ordering::Relaxed);
            }
        }
    }

    /// How many renewals were started, whatever became of them.
    pub fn exchanges(&self) -> u64 {
        self.read().flights()
    }

    /// What the token is asked for.
    pub fn request(&self) -> &TokenRequest {
        &self.request
    }

    /// The long way: starts or joins a renewal if need be.
    async fn obtain(self: &Arc<Self>, eager: bool, need: Duration) -> Outcome {
        let Ok(runtime) = Handle::try_current() else {
            return Err(lost("there is no Tokio runtime here"));
        };
        let mut caller = Caller {
            runtime: runtime.id(),
            eager,
            need,
            waited: None,
        };
        let mut renewals = 0;
        loop {
            let mut news = pin!(self.news.notified());
            // Before the state is looked at, so that nothing is missed in between.
            news.as_mut().enable();
            let flight = match self.step(&runtime, caller) {
                Step::Use(token) => return Ok(token),
                Step::Fail(error) => return Err(error),
                Step::Wait(flight) => flight,
            };
            if caller.waited != Some(flight.id) {
                caller.waited = Some(flight.id);
                renewals += 1;
            }
            if renewals > LOST_LIMIT {
                let error = || lost("renewals were started and dropped again");
                return self.live().ok_or_else(error);
            }
            if let Some(token) = self.wait(news, &flight, runtime.id()).await {
                return Ok(token);
            }
        }
    }

    /// Waits until a renewal ends, whichever it is. A live token that is worth more than a further wait comes back.
    async fn wait(
        &self,
        mut news: Pin<&mut Notified<'_>>,
        flight: &Flight,
        runtime: runtime::Id,
    ) -> Option<Arc<BearerToken>> {
        let now = Instant::now();
        // Half of what is left of a live token goes to waiting, so that a stalled endpoint harms nobody before time.
        let spare = self
            .live()
            .map(|token| now + token.end().saturating_duration_since(now) / 2);
        let until = spare.map_or(flight.overdue, |spare| spare.min(flight.overdue));
        loop {
            let beats = flight.beats();
            let look = if flight.runtime == runtime {
                until
            } else {
                until.min(lifetime::later(Instant::now(), SILENCE))
            };
            match timeout_at(look, news.as_mut()).await {
                Ok(()) => return None,
                Err(_elapsed) if look == flight.overdue => {
                    self.lose(flight.id);
                    return self.live();
                }
                Err(_elapsed) if look == until => return self.live(),
                Err(_elapsed) if flight.beats() == beats => {
                    self.lose(flight.id);
                    return None;
                }
                Err(_elapsed) => {}
            }
        }
    }

    /// Forgets a renewal, if it is still under way, and tells all who wait for any.
    pub(super) fn lose(&self, id: u64) {
        self.write().abandon(id);
        self.news.notify_waiters();
    }

    /// Where renewal `id` shows that its runtime is driven; `None` when it has been given up already.
    pub(super) fn beats(&self, id: u64) -> Option<Arc<AtomicU32>> {
        self.read().flight(id).map(Flight::pulse)
    }

    pub(super) fn settle(
        &self,
        id: u64,
        started: Instant,
        answer: Result<AccessToken, TokenError>,
    ) -> Outcome {
        let answer = match answer {
            Ok(token) => {
                self.recent.keep(token.expose());
                Ok(token)
            }
            // A source may quote a token that it gave before.
            Err(error) => {
                let mut confidential = Confidential::default();
                self.recent.confide(&mut confidential);
                Err(error.withheld(&confidential))
            }
        };
        self.write()
            .settle(id, started, Instant::now(), answer, &self.policy)
    }

    /// The token, if it lives.
    pub(crate) fn live(&self) -> Option<Arc<BearerToken>> {
        self.read().live(Instant::now())
    }

    pub(super) fn backoff_left(&self) -> Duration {
        self.read().backoff_left(Instant::now())
    }

    pub(super) fn source(&self) -> &dyn TokenSource {
        &*self.source
    }

    pub(super) fn policy(&self) -> &TokenPolicy {
        &self.policy
    }

    // Nothing that runs under the lock can leave the state half changed, so poison means nothing.
    fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}

fn lost(description: &str) -> TokenError {
    TokenError::new(TokenErrorKind::Lost).with_description(description)
}

impl fmt::Debug for TokenEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenEntry")
            .field("request", &self.request)
            .field("token", &self.live())
            .field("exchanges", &self.exchanges())
            .finish_non_exhaustive()
    }
}
