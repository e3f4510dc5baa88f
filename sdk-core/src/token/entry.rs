//! A cached token and the one renewal it may have under way.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use tokio::runtime::{self, Handle};
use tokio::time::{Instant, timeout_at};

use super::flight::{Flight, Outcome};
use super::state::{State, Step};
use super::{
    AccessToken, BearerToken, Rejection, TokenError, TokenErrorKind, TokenPolicy, TokenRequest,
    TokenSource, flight,
};

/// How long a caller waits for a renewal that runs on another runtime before it starts its own. That runtime may
/// exist without anyone driving it, and then the renewal never ends.
const FOREIGN_PATIENCE: Duration = Duration::from_secs(2);

/// How many renewals a call sees lost with their runtimes before it gives up.
const LOST_LIMIT: u32 = 3;

/// The token for one audience and set of scopes: obtained once for all callers, renewed in time.
pub struct TokenEntry {
    request: TokenRequest,
    source: Arc<dyn TokenSource>,
    policy: Arc<TokenPolicy>,
    state: RwLock<State>,
}

impl TokenEntry {
    pub(super) fn new(
        request: TokenRequest,
        source: Arc<dyn TokenSource>,
        policy: Arc<TokenPolicy>,
    ) -> Self {
        Self {
            request,
            source,
            policy,
            state: RwLock::default(),
        }
    }

    /// A live token. Waits only if there is none or the one there is about to die.
    pub async fn bearer(self: &Arc<Self>) -> Result<Arc<BearerToken>, TokenError> {
        match self.try_bearer() {
            Some(token) => Ok(token),
            // Boxed, so that the futures of all calls stay small for the sake of the few that wait.
            None => Box::pin(self.obtain(false)).await,
        }
    }

    /// The token, if it is fresh: neither dead nor due for renewal. Never waits.
    pub fn try_bearer(&self) -> Option<Arc<BearerToken>> {
        let now = Instant::now();
        self.read().fresh(now)
    }

    /// Makes sure that the token is fresh, and waits for it.
    pub async fn prewarm(self: &Arc<Self>) -> Result<(), TokenError> {
        self.obtain(true).await.map(drop)
    }

    /// Takes note that a service answered this token with a 401. It is dropped only if it is still the one in use.
    ///
    /// The call may resend once if [`Rejection::allows_resend`]; otherwise new tokens have lately fared no better.
    #[must_use = "a token that is kept is no reason to resend"]
    pub fn reject(&self, token: &BearerToken) -> Rejection {
        self.write().reject(token, Instant::now(), &self.policy)
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
    async fn obtain(self: &Arc<Self>, eager: bool) -> Outcome {
        let Ok(runtime) = Handle::try_current() else {
            return Err(lost("there is no Tokio runtime here"));
        };
        for _ in 0..LOST_LIMIT {
            let flight = match self.step(&runtime, eager) {
                Step::Use(token) => return Ok(token),
                Step::Fail(error) => return Err(error),
                Step::Wait(flight) => flight,
            };
            match self.wait(flight, runtime.id()).await {
                Some(Ok(token)) => return Ok(token),
                // A failed renewal never discards a live token.
                Some(Err(error)) => return self.live().ok_or(error),
                None => {
                    if let Some(token) = self.live() {
                        return Ok(token);
                    }
                }
            }
        }
        Err(lost("renewals were started and dropped again"))
    }

    fn step(self: &Arc<Self>, runtime: &Handle, eager: bool) -> Step {
        let (step, ticket) = self
            .write()
            .next(Instant::now(), eager, runtime.id(), &self.policy);
        if let Some(ticket) = ticket {
            // Outside the lock: a runtime that is shutting down drops the task at once.
            runtime.spawn(flight::run(Arc::clone(self), ticket));
        }
        step
    }

    /// Waits for a renewal. `None` means that it was lost, or that a live token had better be used by now.
    async fn wait(&self, mut flight: Flight, runtime: runtime::Id) -> Option<Outcome> {
        let now = Instant::now();
        let patience = if flight.runtime == runtime {
            flight.overdue
        } else {
            flight.overdue.min(now + FOREIGN_PATIENCE)
        };
        // Half of what is left of a live token goes to waiting, so that a stalled endpoint harms nobody before time.
        let spare = self
            .live()
            .map(|token| now + token.end().saturating_duration_since(now) / 2);
        let until = spare.map_or(patience, |spare| spare.min(patience));
        match timeout_at(until, flight.outcome.wait_for(Option::is_some)).await {
            Ok(Ok(outcome)) => return outcome.clone(),
            Ok(Err(_sender_gone)) => {}
            Err(_elapsed) if until < patience => return None,
            Err(_elapsed) => {}
        }
        self.write().abandon(flight.id);
        None
    }

    pub(super) fn settle(
        &self,
        id: u64,
        started: Instant,
        answer: Result<AccessToken, TokenError>,
    ) -> Outcome {
        self.write().settle(id, started, answer, &self.policy)
    }

    pub(super) fn live(&self) -> Option<Arc<BearerToken>> {
        self.read().live(Instant::now())
    }

    pub(super) fn quiet(&self) -> Duration {
        self.read().quiet(Instant::now())
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

    fn write(&self) -> RwLockWriteGuard<'_, State> {
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
