//! The state of an entry and its decisions, without locks, tasks or clocks.

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime;
use tokio::time::Instant;

use crate::operation::Operation;
use crate::token::bearer::{BearerToken, Phase};
use crate::token::caller::{Caller, Decision, Step};
use crate::token::error::{TokenError, TokenErrorKind};
use crate::token::flight::{Flight, Outcome};
use crate::token::lifetime;
use crate::token::policy::TokenPolicy;
use crate::token::rejection::{MOST_RENEWALS, Rejection, Rejections};
use crate::token::source::AccessToken;

/// A failed renewal, and until when all callers get its error.
#[derive(Clone, Debug)]
pub(super) struct Setback {
    error: TokenError,
    pub(super) until: Instant,
    /// The renewal, whose waiters all get the error.
    pub(super) flight: u64,
}

#[derive(Clone, Debug, Default)]
pub(super) struct State {
    pub(super) token: Option<Arc<BearerToken>>,
    generation: u64,
    pub(super) flight: Option<Flight>,
    flights: u64,
    /// The last renewal that succeeded.
    pub(super) landed: u64,
    pub(super) failures: u32,
    /// Rare, and large.
    pub(super) setback: Option<Box<Setback>>,
    /// The earliest routine renewal after a successful one.
    pub(super) next_routine: Option<Instant>,
    pub(super) rejections: Rejections,
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
        token.filter(|it| it.phase(now) != Phase::Dead).cloned()
    }

    /// Whether it holds a token that has expired.
    pub(super) fn has_expired(&self, now: Instant) -> bool {
        let token = self.token.as_ref();
        token.is_some_and(|token| token.phase(now) == Phase::Dead)
    }

    /// Drops the token if it has expired.
    pub(super) fn drop_expired(&mut self, now: Instant) {
        self.token.take_if(|token| token.phase(now) == Phase::Dead);
    }

    /// Whether a new state would do as well: there is no token, no renewal under way, and no backoff that a new one would not
    /// keep.
    pub(super) fn is_idle(&self, now: Instant, policy: &TokenPolicy) -> bool {
        self.token.is_none()
            && self.flight.is_none()
            && self.backoff_left(now).is_zero()
            && self.rejections.is_quiet(now, policy)
    }

    /// How many renewals were started.
    pub(super) fn flights(&self) -> u64 {
        self.flights
    }

    /// Decides what a caller does at `now`: when it arrives, when a renewal has ended, and when the instant that it was told
    /// has come.
    pub(super) fn next(
        &mut self,
        now: Instant,
        caller: &mut Caller,
        policy: &TokenPolicy,
    ) -> Decision {
        let live = self.live(now);
        if let Some(step) = self.at_hand(now, caller, live.as_ref()) {
            return Decision::from(step);
        }
        let lost = self
            .flight
            .take_if(|flight| flight.limit(caller.runtime) <= now);
        let news = lost.is_some();
        let waits = live.as_ref().is_none_or(|token| {
            !caller.has_spent(now) && (caller.eager || self.waits(token, now, caller.need))
        });
        let (flight, start) = match self.flight {
            Some(flight) => (flight, None),
            None => self.launch(now, caller.runtime, policy),
        };
        let step = match live {
            Some(token) if !waits => Step::Use(token),
            live => Step::Wait(caller.wait_for(&flight, live.as_deref(), now)),
        };
        Decision { step, start, news }
    }

    /// The step of a caller that something serves already.
    fn at_hand(
        &self,
        now: Instant,
        caller: &Caller,
        live: Option<&Arc<BearerToken>>,
    ) -> Option<Step> {
        let serves = |token: &&Arc<BearerToken>| {
            // A caller takes the token that it waited for, however short its lifetime.
            let arrived = caller.waited().is_some_and(|waited| waited <= self.landed);
            arrived || token.phase(now) == Phase::Fresh
        };
        let token = live.filter(serves).cloned();
        token
            .map(Step::Use)
            .or_else(|| self.without_renewal(now, caller, live))
    }

    /// The step of a caller if no renewal is due.
    fn without_renewal(
        &self,
        now: Instant,
        caller: &Caller,
        live: Option<&Arc<BearerToken>>,
    ) -> Option<Step> {
        let failed = self.setback.as_ref().filter(|setback| {
            let shared = caller
                .waited()
                .is_some_and(|waited| waited <= setback.flight);
            shared || self.flight.is_none() && now < setback.until
        });
        match (failed, live) {
            (Some(_), Some(token)) => Some(Step::Use(Arc::clone(token))),
            (Some(setback), None) => Some(Step::Fail(setback.error.clone())),
            (None, Some(token)) if self.flight.is_none() && self.setback.is_none() => self
                .next_routine
                .is_some_and(|until| now < until)
                .then(|| Step::Use(Arc::clone(token))),
            (None, _) => None,
        }
    }

    /// Whether a caller with a live token waits for another: only if this one is about to expire, would not outlast the
    /// attempt, and the last renewal did not fail.
    fn waits(&self, token: &BearerToken, now: Instant, need: Duration) -> bool {
        token.phase(now) == Phase::Hard
            && self.failures == 0
            && token.end().saturating_duration_since(now) < need
    }

    fn launch(
        &mut self,
        now: Instant,
        runtime: runtime::Id,
        policy: &TokenPolicy,
    ) -> (Flight, Option<u64>) {
        self.flights += 1;
        // The task has a timeout of its own; the margin is for its last step.
        let end = lifetime::later(now, policy.renewal_timeout);
        let overdue = lifetime::later(end, policy.min_interval);
        let flight = Flight {
            id: self.flights,
            runtime,
            overtaken: end.min(lifetime::later(now, policy.exchange_timeout)),
            overdue,
        };
        self.flight = Some(flight);
        (flight, Some(self.flights))
    }

    /// Whether renewal `id` is under way, and was not given up.
    pub(super) fn renews(&self, id: u64) -> bool {
        self.flight.is_some_and(|flight| flight.id == id)
    }

    /// Gives up renewal `id`, so that the next caller starts another.
    pub(super) fn abandon(&mut self, id: u64) {
        self.flight.take_if(|flight| flight.id == id);
    }

    /// Takes the result of renewal `id`, which began at `started` and ends at `now`; `roll`, from 0 to 1, sets the jitter.
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
        roll: f64,
    ) -> Outcome {
        let current = self.flight.take_if(|flight| flight.id == id).is_some();
        let prepared = answer.and_then(|token| {
            let start = token.requested_at().unwrap_or(started);
            let bearer = BearerToken::prepare(&token, start, self.generation + 1, policy, roll)?;
            if bearer.phase(now) == Phase::Dead {
                return Err(TokenError::new(TokenErrorKind::Expired));
            }
            Ok((start, Arc::new(bearer)))
        });
        match prepared {
            Ok((start, token)) => {
                let held = self.live(now).filter(|held| token.end() <= held.end());
                let improves = held.is_none();
                let token = held.unwrap_or(token);
                if improves {
                    self.generation += 1;
                    self.token = Some(Arc::clone(&token));
                }
                if current || improves {
                    self.landed = self.landed.max(id);
                    self.failures = 0;
                    self.setback = None;
                    self.next_routine = Some(lifetime::later(start, policy.min_interval));
                }
                Ok(token)
            }
            Err(error) => {
                if current {
                    self.set_back(id, now, error.clone(), policy, roll);
                }
                Err(error)
            }
        }
    }

    fn set_back(
        &mut self,
        flight: u64,
        now: Instant,
        error: TokenError,
        policy: &TokenPolicy,
        roll: f64,
    ) {
        self.failures = self.failures.saturating_add(1);
        let backoff = policy.renewal_backoff;
        let wait = backoff.half_jitter(self.failures, roll);
        // Never earlier than asked, within the cap, and not all clients at once.
        let asked = error.retry_after().unwrap_or_default().min(backoff.cap);
        self.setback = Some(Box::new(Setback {
            until: lifetime::later(now, asked.saturating_add(wait)),
            error,
            flight,
        }));
    }

    /// How long callers without a live token keep getting the last error.
    pub(super) fn backoff_left(&self, now: Instant) -> Duration {
        let until = self.setback.as_ref().map_or(now, |setback| setback.until);
        until.saturating_duration_since(now)
    }

    /// Records that an operation refused `token`, after it refused `renewals` others in a row to the same call.
    pub(super) fn reject(
        &mut self,
        token: &BearerToken,
        operation: &'static Operation,
        renewals: u32,
        now: Instant,
        policy: &TokenPolicy,
        roll: f64,
    ) -> Rejection {
        let enough = renewals >= MOST_RENEWALS;
        // The caller's borrow keeps the address in use, so an equal address is the same token.
        let held = self.token.as_deref();
        if !held.is_some_and(|held| std::ptr::eq(held, token)) {
            return if enough {
                Rejection::Kept
            } else {
                Rejection::Superseded
            };
        }
        // A token that has served other calls may have been revoked since.
        let on_arrival = enough || !token.was_accepted();
        if on_arrival {
            let generation = token.generation();
            self.rejections
                .count(operation, generation, now, policy, roll);
        }
        let in_backoff = self.rejections.in_backoff(operation, token, now);
        if in_backoff || (on_arrival && renewals > 0) {
            return Rejection::Kept;
        }
        self.rejections.replaced(operation, now);
        self.token = None;
        self.next_routine = None;
        Rejection::Dropped
    }
}
