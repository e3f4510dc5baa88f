//! The state of an entry, its waiters and their decisions, without locks, tasks or clocks.

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

/// The result of a renewal. All its waiters get a clone.
pub(super) type TokenResult = Result<Arc<BearerToken>, TokenError>;

#[derive(Clone, Copy, Debug)]
pub(super) struct Renewal {
    pub(super) id: u64,
    /// The runtime of its task. If that runtime is not driven, the renewal never ends.
    pub(super) runtime: runtime::Id,
    /// The instant at which callers on other runtimes stop waiting for it.
    pub(super) overtaken: Instant,
    /// The instant by which it should have ended.
    pub(super) overdue: Instant,
}

impl Renewal {
    /// Returns the instant at which a caller on this runtime abandons it. A caller on the renewal's own runtime waits
    /// longer, because it knows that this runtime is driven.
    pub(super) fn limit(&self, runtime: runtime::Id) -> Instant {
        if runtime == self.runtime {
            self.overdue
        } else {
            self.overtaken
        }
    }
}

#[derive(Debug)]
pub(super) enum Action {
    Use(Arc<BearerToken>),
    Fail(TokenError),
    /// Poll again once a renewal has ended, and at this instant at the latest.
    Wait(Instant),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Waiter {
    /// The runtime on which it would start a renewal.
    pub(super) runtime: runtime::Id,
    /// The required remaining lifetime of the token: the timeout of an attempt.
    pub(super) min_validity: Duration,
    /// The number of results when it began to wait. The next result ends the wait.
    pub(super) waits_since: Option<u64>,
    /// The instant at which it has waited for half the remaining lifetime of its live token. From then on, it uses that
    /// token, so a stalled endpoint doesn't delay it further.
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

    /// Whether it has reached this instant and should use its live token.
    pub(super) fn has_reached_fallback(&self, now: Instant) -> bool {
        self.fallback_at.is_some_and(|at| at <= now)
    }

    /// Returns the instant at which to poll again while it waits for `renewal`.
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

#[derive(Clone, Debug)]
pub(super) struct FailedRenewal {
    error: TokenError,
    pub(super) failures: u32,
}

#[derive(Clone, Debug, Default)]
pub(super) struct State {
    pub(super) token: Option<Arc<BearerToken>>,
    generation: u64,
    pub(super) renewal: Option<Renewal>,
    pub(super) last_id: u64,
    /// The number of renewals that ended with a result that counts.
    pub(super) results: u64,
    /// The last result, if it was an error. Boxed, because it is rare and large.
    pub(super) failure: Option<Box<FailedRenewal>>,
    /// Before this instant, callers get the last result, unless it is a token that was dropped. It ends the backoff
    /// after a failure, or the minimum interval after a success.
    pub(super) next_renewal: Option<Instant>,
    pub(super) rejections: RejectionTracker,
}

impl State {
    /// Returns the token if it needs no renewal.
    pub(super) fn fresh(&self, now: Instant) -> Option<Arc<BearerToken>> {
        let token = self.token.as_ref();
        token.filter(|it| it.phase(now) == Phase::Fresh).cloned()
    }

    pub(super) fn live(&self, now: Instant) -> Option<Arc<BearerToken>> {
        let token = self.token.as_ref();
        token.filter(|it| it.phase(now) != Phase::Expired).cloned()
    }

    pub(super) fn drop_expired(&mut self, now: Instant) {
        self.token
            .take_if(|token| token.phase(now) == Phase::Expired);
    }

    /// Whether a new state would be equivalent: no token, no renewal in flight, and no backoff that would be lost.
    pub(super) fn is_idle(&self, now: Instant, policy: &TokenPolicy) -> bool {
        self.token.is_none()
            && self.renewal.is_none()
            && self.backoff_left(now).is_zero()
            && self.rejections.is_quiet(now, policy)
    }

    /// Decides the caller's action at `now`, and which renewal it must start first, if any. A caller asks when it
    /// arrives, when a renewal has ended, and at the instant until which it waits.
    ///
    /// A caller that abandons a renewal doesn't notify the waiters. Waiters on other runtimes abandon it at the same
    /// instant, and for waiters on its own runtime it is still running.
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

    /// Returns the action of a caller that needs no renewal: the token is fresh, the renewal it waited for has ended,
    /// or the next renewal is not due.
    fn serve_from_cache(
        &self,
        now: Instant,
        waiter: &Waiter,
        live: Option<&Arc<BearerToken>>,
    ) -> Option<Action> {
        let fresh = live.is_some_and(|token| token.phase(now) == Phase::Fresh);
        // A caller uses the token that it waited for, however short its lifetime.
        let answered = waiter.waits_since.is_some_and(|since| since < self.results);
        let early = self.next_renewal.is_some_and(|due| now < due);
        match (live, &self.failure) {
            _ if !fresh && !answered && !early => None,
            (Some(token), _) => Some(Action::Use(Arc::clone(token))),
            (None, Some(failure)) => Some(Action::Fail(failure.error.clone())),
            (None, None) => None,
        }
    }

    /// Whether a caller with a live token waits for a new token. It waits only if the live token is about to expire and
    /// would not outlast the attempt, and the last renewal did not fail.
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
        // The task has its own timeout. The margin is for its last step.
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

    pub(super) fn is_current(&self, id: u64) -> bool {
        self.renewal.is_some_and(|renewal| renewal.id == id)
    }

    /// Abandons renewal `id`, so that the next caller starts a new renewal.
    pub(super) fn abandon_renewal(&mut self, id: u64) {
        self.renewal.take_if(|renewal| renewal.id == id);
    }

    /// Applies the result of renewal `id`, which began at `started` and ends at `now`; `random`, from 0 to 1, sets the
    /// jitter.
    ///
    /// A token that has expired on arrival is a failure. A token that expires before the live token doesn't replace it.
    /// The result of an abandoned renewal counts only if it is an improvement.
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
        let lasts_longer = |live: &Arc<BearerToken>| token.expires_at() <= live.expires_at();
        let better = self.live(now).filter(lasts_longer);
        let improves = better.is_none();
        let token = better.unwrap_or(token);
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

    /// Returns the token of a result, unless it has expired, and the instant of its request.
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
        // Wait at least as long as the server asked (up to the cap), plus jitter so that clients don't retry together.
        let asked = error.retry_after().unwrap_or_default().min(backoff.cap);
        self.results += 1;
        self.failure = Some(Box::new(FailedRenewal { error, failures }));
        // An abandoned renewal may have succeeded just now.
        let due = lifetime::later(now, asked.saturating_add(wait));
        self.next_renewal = self.next_renewal.max(Some(due));
    }

    /// Returns how long callers without a live token will keep getting the last error.
    pub(super) fn backoff_left(&self, now: Instant) -> Duration {
        let until = self.next_renewal.filter(|_| self.failure.is_some());
        until.map_or(Duration::ZERO, |it| it.saturating_duration_since(now))
    }

    /// Records that an operation rejected `token`, after it rejected `renewals` consecutive tokens of the same call.
    /// Returns whether the next token will be a different one, so that a resend makes sense.
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
        let current = self.token.as_deref();
        if !current.is_some_and(|current| std::ptr::eq(current, token)) {
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
