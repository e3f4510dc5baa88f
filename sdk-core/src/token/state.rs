//! The state of an entry, its waiters, and what they decide, without locks, tasks or clocks.

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime;
use tokio::time::Instant;

use crate::operation::Operation;
use crate::token::bearer::{BearerToken, Phase};
use crate::token::error::{TokenError, TokenErrorKind};
use crate::token::lifetime;
use crate::token::policy::TokenPolicy;
use crate::token::rejection::{MAX_RENEWALS, RejectionTracker};
use crate::token::source::AccessToken;

/// How a renewal ended. All its waiters get a clone.
pub(super) type TokenResult = Result<Arc<BearerToken>, TokenError>;

#[derive(Clone, Copy, Debug)]
pub(super) struct Renewal {
    pub(super) id: u64,
    /// Where its task runs. If nobody drives this runtime, it never ends.
    pub(super) runtime: runtime::Id,
    /// When callers on other runtimes stop waiting for it.
    pub(super) overtaken: Instant,
    /// When it should have ended.
    pub(super) overdue: Instant,
}

impl Renewal {
    /// When a caller on this runtime abandons it. A caller on the same runtime knows that somebody drives it.
    pub(super) fn limit(&self, runtime: runtime::Id) -> Instant {
        if runtime == self.runtime {
            self.overdue
        } else {
            self.overtaken
        }
    }
}

/// What a caller does next.
#[derive(Debug)]
pub(super) enum Action {
    Use(Arc<BearerToken>),
    Fail(TokenError),
    /// Poll again once a renewal has ended, and at this instant at the latest.
    Wait(Instant),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Waiter {
    /// Where a renewal would run.
    pub(super) runtime: runtime::Id,
    /// How long the token has to last: the timeout of an attempt.
    pub(super) min_validity: Duration,
    /// How many results there were when it began to wait: the next one answers it.
    pub(super) waits_since: Option<u64>,
    /// When it has spent half the rest of its live token, so that a stalled endpoint does no harm early.
    pub(super) fallback_at: Option<Instant>,
}

impl Waiter {
    pub(super) fn new(runtime: runtime::Id, min_validity: Duration) -> Self {
        Self {
            runtime,
            min_validity,
            waits_since: None,
            fallback_at: None,
        }
    }

    /// Whether it has spent the spare time of its live token.
    pub(super) fn has_reached_fallback(&self, now: Instant) -> bool {
        self.fallback_at.is_some_and(|at| at <= now)
    }

    /// When to poll again while it waits for `renewal`.
    pub(super) fn wait_for(
        &mut self,
        renewal: &Renewal,
        live: Option<&BearerToken>,
        now: Instant,
    ) -> Instant {
        let limit = renewal.limit(self.runtime);
        let Some(token) = live else {
            return limit;
        };
        let rest = token.expires_at().saturating_duration_since(now);
        let fallback_at = *self.fallback_at.get_or_insert(now + rest / 2);
        fallback_at.min(limit)
    }
}

/// A failed renewal.
#[derive(Clone, Debug)]
pub(super) struct FailedRenewal {
    error: TokenError,
    /// How many renewals in a row have failed.
    pub(super) failures: u32,
}

#[derive(Clone, Debug, Default)]
pub(super) struct State {
    pub(super) token: Option<Arc<BearerToken>>,
    generation: u64,
    pub(super) renewal: Option<Renewal>,
    /// The last renewal that was started.
    pub(super) last_id: u64,
    /// How many renewals have ended with a result that counts.
    pub(super) results: u64,
    /// The last result, unless it was a token. Rare, and large.
    pub(super) failure: Option<Box<FailedRenewal>>,
    /// Before this instant, callers get the last result, unless it is a token that is gone: the backoff after a failure, the
    /// least interval after a success.
    pub(super) next_renewal: Option<Instant>,
    pub(super) rejections: RejectionTracker,
}

impl State {
    /// The token, if it needs no renewal.
    pub(super) fn fresh(&self, now: Instant) -> Option<Arc<BearerToken>> {
        let token = self.token.as_ref();
        token.filter(|it| it.phase(now) == Phase::Fresh).cloned()
    }

    /// The token, unless it has expired.
    pub(super) fn live(&self, now: Instant) -> Option<Arc<BearerToken>> {
        let token = self.token.as_ref();
        token.filter(|it| it.phase(now) != Phase::Expired).cloned()
    }

    /// Drops the token if it has expired.
    pub(super) fn drop_expired(&mut self, now: Instant) {
        self.token
            .take_if(|token| token.phase(now) == Phase::Expired);
    }

    /// Whether a new state would do as well: there is no token, no renewal in flight, and no backoff that a new one would not
    /// keep.
    pub(super) fn is_idle(&self, now: Instant, policy: &TokenPolicy) -> bool {
        self.token.is_none()
            && self.renewal.is_none()
            && self.backoff_left(now).is_zero()
            && self.rejections.is_quiet(now, policy)
    }

    /// Decides what a caller does at `now`, and which renewal it must start first, if any. A caller asks when it arrives, when
    /// a renewal has ended, and at the instant until which it waits.
    ///
    /// A caller that abandons a renewal wakes nobody. Waiters on other runtimes abandon it at the same instant, and for those
    /// on its own runtime it still runs.
    pub(super) fn next(
        &mut self,
        now: Instant,
        waiter: &mut Waiter,
        policy: &TokenPolicy,
    ) -> (Action, Option<u64>) {
        let live = self.live(now);
        if let Some(action) = self.serve_from_cache(now, waiter, live.as_ref()) {
            return (action, None);
        }
        self.renewal
            .take_if(|renewal| renewal.limit(waiter.runtime) <= now);
        let waits = live.as_ref().is_none_or(|token| {
            !waiter.has_reached_fallback(now) && self.waits(token, now, waiter.min_validity)
        });
        let start = self.renewal.is_none();
        let renewal = self
            .renewal
            .unwrap_or_else(|| self.start_renewal(now, waiter.runtime, policy));
        let action = match live {
            Some(token) if !waits => Action::Use(token),
            live => {
                waiter.waits_since = Some(self.results);
                Action::Wait(waiter.wait_for(&renewal, live.as_deref(), now))
            }
        };
        (action, start.then_some(renewal.id))
    }

    /// The action of a caller that needs no renewal: its token is fresh, the renewal that it waited for has ended, or the next
    /// one is not due.
    fn serve_from_cache(
        &self,
        now: Instant,
        waiter: &Waiter,
        live: Option<&Arc<BearerToken>>,
    ) -> Option<Action> {
        let fresh = live.is_some_and(|token| token.phase(now) == Phase::Fresh);
        // A caller takes the token that it waited for, however short its lifetime.
        let answered = waiter.waits_since.is_some_and(|since| since < self.results);
        let early = self.next_renewal.is_some_and(|due| now < due);
        match (live, &self.failure) {
            _ if !fresh && !answered && !early => None,
            (Some(token), _) => Some(Action::Use(Arc::clone(token))),
            (None, Some(failure)) => Some(Action::Fail(failure.error.clone())),
            (None, None) => None,
        }
    }

    /// Whether a caller with a live token waits for another: only if this one is about to expire, would not outlast the
    /// attempt, and the last renewal did not fail.
    fn waits(&self, token: &BearerToken, now: Instant, min_validity: Duration) -> bool {
        token.phase(now) == Phase::RenewNow
            && self.failure.is_none()
            && token.expires_at().saturating_duration_since(now) < min_validity
    }

    fn start_renewal(
        &mut self,
        now: Instant,
        runtime: runtime::Id,
        policy: &TokenPolicy,
    ) -> Renewal {
        self.last_id += 1;
        // The task has a timeout of its own; the margin is for its last step.
        let end = lifetime::later(now, policy.renewal_timeout);
        let overdue = lifetime::later(end, policy.min_interval);
        let renewal = Renewal {
            id: self.last_id,
            runtime,
            overtaken: end.min(lifetime::later(now, policy.exchange_timeout)),
            overdue,
        };
        self.renewal = Some(renewal);
        renewal
    }

    /// Whether renewal `id` is in flight, and was not abandoned.
    pub(super) fn is_current(&self, id: u64) -> bool {
        self.renewal.is_some_and(|renewal| renewal.id == id)
    }

    /// Abandons renewal `id`, so that the next caller starts another.
    pub(super) fn abandon_renewal(&mut self, id: u64) {
        self.renewal.take_if(|renewal| renewal.id == id);
    }

    /// Takes the result of renewal `id`, which began at `started` and ends at `now`; `random`, from 0 to 1, sets the jitter.
    ///
    /// A token that has expired on arrival is a failure. One that expires before the live token does not replace it. The result
    /// of an abandoned renewal counts only if it is an improvement.
    pub(super) fn settle(
        &mut self,
        id: u64,
        started: Instant,
        now: Instant,
        answer: Result<AccessToken, TokenError>,
        policy: &TokenPolicy,
        random: f64,
    ) -> TokenResult {
        let current = self.renewal.take_if(|renewal| renewal.id == id).is_some();
        let prepared = self.prepare(started, now, answer, policy, random);
        let (start, token) = prepared.inspect_err(|error| {
            if current {
                self.record_failure(now, error.clone(), policy, random);
            }
        })?;
        let better = |held: &Arc<BearerToken>| token.expires_at() <= held.expires_at();
        let held = self.live(now).filter(better);
        let improves = held.is_none();
        let token = held.unwrap_or(token);
        if improves {
            self.generation += 1;
            self.token = Some(Arc::clone(&token));
        }
        if current || improves {
            self.results += 1;
            self.failure = None;
            self.next_renewal = Some(lifetime::later(start, policy.min_interval));
        }
        Ok(token)
    }

    /// The token in an answer, unless it has expired, and when it was requested.
    fn prepare(
        &self,
        started: Instant,
        now: Instant,
        answer: Result<AccessToken, TokenError>,
        policy: &TokenPolicy,
        random: f64,
    ) -> Result<(Instant, Arc<BearerToken>), TokenError> {
        let token = answer?;
        let start = token.requested_at().unwrap_or(started);
        let bearer = BearerToken::prepare(&token, start, self.generation + 1, policy, random)?;
        if bearer.phase(now) == Phase::Expired {
            return Err(TokenError::new(TokenErrorKind::Expired));
        }
        Ok((start, Arc::new(bearer)))
    }

    fn record_failure(
        &mut self,
        now: Instant,
        error: TokenError,
        policy: &TokenPolicy,
        random: f64,
    ) {
        let earlier = self.failure.as_ref().map_or(0, |failure| failure.failures);
        let failures = earlier.saturating_add(1);
        let backoff = policy.renewal_backoff;
        let wait = backoff.half_jitter(failures, random);
        // Never earlier than asked, within the cap, and not all clients at once.
        let asked = error.retry_after().unwrap_or_default().min(backoff.cap);
        self.results += 1;
        self.failure = Some(Box::new(FailedRenewal { error, failures }));
        // An overtaken renewal may have succeeded just now.
        let due = lifetime::later(now, asked.saturating_add(wait));
        self.next_renewal = self.next_renewal.max(Some(due));
    }

    /// How long callers without a live token keep getting the last error.
    pub(super) fn backoff_left(&self, now: Instant) -> Duration {
        let until = self.next_renewal.filter(|_| self.failure.is_some());
        until.map_or(Duration::ZERO, |it| it.saturating_duration_since(now))
    }

    /// Records that an operation rejected `token`, after it rejected `renewals` others in a row from the same call. Returns
    /// whether the next token is another one, so that a resend makes sense.
    pub(super) fn reject(
        &mut self,
        token: &BearerToken,
        operation: &'static Operation,
        renewals: u32,
        now: Instant,
        policy: &TokenPolicy,
        random: f64,
    ) -> bool {
        let enough = renewals >= MAX_RENEWALS;
        // The caller's borrow keeps the address in use, so an equal address is the same token.
        let held = self.token.as_deref();
        if !held.is_some_and(|held| std::ptr::eq(held, token)) {
            return !enough;
        }
        // A token that has served other calls may have been revoked since.
        let on_arrival = enough || !token.was_accepted();
        if on_arrival {
            let generation = token.generation();
            self.rejections
                .count(operation, generation, now, policy, random);
        }
        let in_backoff = self.rejections.in_backoff(operation, token, now);
        if in_backoff || (on_arrival && renewals > 0) {
            return false;
        }
        self.rejections.replaced(operation, now);
        self.token = None;
        true
    }
}
