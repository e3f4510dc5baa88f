//! The state of an entry and its decisions, free of locks, tasks and clocks.

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime;
use tokio::time::Instant;

use crate::policy::chance::roll;
use crate::token::bearer::{BearerToken, Phase};
use crate::token::error::{TokenError, TokenErrorKind};
use crate::token::flight::{Flight, Outcome};
use crate::token::lifetime;
use crate::token::policy::TokenPolicy;
use crate::token::rejection::{MOST_RENEWALS, Rejection, Rejections, Target};
use crate::token::source::AccessToken;

/// Who asks for a token, and what for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Caller {
    /// The runtime that a renewal would run on.
    pub(super) runtime: runtime::Id,
    /// Whether it waits where others go on with an ageing token.
    pub(super) eager: bool,
    /// How long the token has to last: the time of an attempt.
    pub(super) need: Duration,
    /// The renewal that it has waited for already, if any.
    pub(super) waited: Option<u64>,
}

/// What a caller does next.
#[derive(Debug)]
pub(super) enum Step {
    Use(Arc<BearerToken>),
    Wait(Flight),
    Fail(TokenError),
}

/// A failed renewal, and until when it stands for all that ask.
#[derive(Debug)]
struct Setback {
    error: TokenError,
    until: Instant,
    /// The number of the renewal, whose waiters all get the error.
    flight: u64,
}

#[derive(Debug, Default)]
pub(super) struct State {
    token: Option<Arc<BearerToken>>,
    generation: u64,
    flight: Option<Flight>,
    flights: u64,
    /// The last renewal that succeeded.
    landed: u64,
    failures: u32,
    setback: Option<Setback>,
    /// The earliest routine renewal after a successful one.
    next_routine: Option<Instant>,
    rejections: Rejections,
}

impl State {
    /// The token if nothing needs to be done about it.
    pub(super) fn fresh(&self, now: Instant) -> Option<Arc<BearerToken>> {
        self.token
            .as_ref()
            .filter(|token| token.phase(now) == Phase::Fresh)
            .cloned()
    }

    /// The token if it lives.
    pub(super) fn live(&self, now: Instant) -> Option<Arc<BearerToken>> {
        self.token
            .as_ref()
            .filter(|token| token.phase(now) != Phase::Dead)
            .cloned()
    }

    /// How many renewals were started.
    pub(super) fn flights(&self) -> u64 {
        self.flights
    }

    /// Decides what a caller does at `now`. When a renewal is to be started, its number comes with the decision: whoever
    /// gets it must start it.
    pub(super) fn next(
        &mut self,
        now: Instant,
        caller: Caller,
        policy: &TokenPolicy,
    ) -> (Step, Option<u64>) {
        let live = self.live(now);
        if let Some(token) = &live {
            // What a renewal brought serves whoever waited for it, however short its life.
            let arrived = caller.waited.is_some_and(|waited| waited <= self.landed);
            if arrived || token.phase(now) == Phase::Fresh {
                return (Step::Use(Arc::clone(token)), None);
            }
        }
        if let Some(step) = self.without_renewal(now, caller, live.as_ref()) {
            return (step, None);
        }
        let (flight, started) = match &self.flight {
            Some(flight) => (flight.clone(), None),
            None => self.launch(now, caller.runtime, policy),
        };
        let step = match live {
            Some(token) if !caller.eager && !self.waits(&token, now, caller.need) => {
                Step::Use(token)
            }
            _ => Step::Wait(flight),
        };
        (step, started)
    }

    /// What a caller gets while no renewal is due.
    fn without_renewal(
        &self,
        now: Instant,
        caller: Caller,
        live: Option<&Arc<BearerToken>>,
    ) -> Option<Step> {
        let failed = self.setback.as_ref().filter(|setback| {
            let shared = caller.waited.is_some_and(|waited| waited <= setback.flight);
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

    /// Whether the holder of a live token waits for another: only when this one is about to end, would not outlive the
    /// attempt, and nothing speaks against the endpoint.
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
        // The task ends itself in time; the grace is for its last step.
        let overdue = lifetime::later(
            lifetime::later(now, policy.renewal_timeout),
            policy.min_interval,
        );
        let flight = Flight::new(self.flights, runtime, overdue);
        self.flight = Some(flight.clone());
        (flight, Some(self.flights))
    }

    /// Renewal `id`, if it is the one under way.
    pub(super) fn flight(&self, id: u64) -> Option<&Flight> {
        self.flight.as_ref().filter(|flight| flight.id == id)
    }

    /// Gives up on a renewal that will not end, so that the next caller starts another.
    pub(super) fn abandon(&mut self, id: u64) {
        self.flight.take_if(|flight| flight.id == id);
    }

    /// Takes the result of renewal `id`, started at `started`, which ends at `now`.
    ///
    /// A token that is dead on arrival is a failure. One that ends sooner than the live token does not replace it. The
    /// result of an abandoned renewal is only welcome if it is an improvement.
    pub(super) fn settle(
        &mut self,
        id: u64,
        started: Instant,
        now: Instant,
        answer: Result<AccessToken, TokenError>,
        policy: &TokenPolicy,
    ) -> Outcome {
        let current = self.flight.take_if(|flight| flight.id == id).is_some();
        let prepared = answer.and_then(|token| {
            let start = token.requested_at().unwrap_or(started);
            let bearer = BearerToken::prepare(&token, start, self.generation + 1, policy)?;
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
                    self.set_back(id, now, error.clone(), policy);
                }
                Err(error)
            }
        }
    }

    fn set_back(&mut self, flight: u64, now: Instant, error: TokenError, policy: &TokenPolicy) {
        self.failures = self.failures.saturating_add(1);
        let backoff = policy.renewal_backoff;
        let wait = backoff.half_jitter(self.failures, roll());
        // Never earlier than asked, within reason, and not all clients at the same moment.
        let asked = error.retry_after().unwrap_or_default().min(backoff.cap);
        self.setback = Some(Setback {
            until: lifetime::later(now, asked.saturating_add(wait)),
            error,
            flight,
        });
    }

    /// How long callers without a live token get the last error, from `now`.
    pub(super) fn backoff_left(&self, now: Instant) -> Duration {
        self.setback
            .as_ref()
            .map(|setback| setback.until.saturating_duration_since(now))
            .unwrap_or_default()
    }

    /// Takes note that a target refused `token`, after it had refused `renewals` others in a row under the same call.
    pub(super) fn reject(
        &mut self,
        token: &BearerToken,
        target: Target,
        renewals: u32,
        now: Instant,
        policy: &TokenPolicy,
    ) -> Rejection {
        let enough = renewals >= MOST_RENEWALS;
        // The caller's borrow keeps the address alive, so an equal address is the same token.
        let held = self.token.as_deref();
        if !held.is_some_and(|held| std::ptr::eq(held, token)) {
            return if enough {
                Rejection::Kept
            } else {
                Rejection::Superseded
            };
        }
        // One that served others since it came may have died in between, now and then.
        let on_arrival = enough || !token.was_accepted();
        if on_arrival {
            let generation = token.generation();
            self.rejections
                .count(target, generation, now, policy, roll());
        }
        let (served, accepted) = (token.has_served(target.operation), token.was_accepted());
        let rejections = &mut self.rejections;
        let in_backoff = rejections.in_backoff(target, served, accepted, now);
        if in_backoff || (on_arrival && renewals > 0) {
            return Rejection::Kept;
        }
        rejections.replaced(target, now);
        self.token = None;
        self.next_routine = None;
        Rejection::Dropped
    }

    /// What is held against targets that refused tokens.
    pub(super) fn rejections(&self) -> &Rejections {
        &self.rejections
    }

    pub(super) fn rejections_mut(&mut self) -> &mut Rejections {
        &mut self.rejections
    }
}
