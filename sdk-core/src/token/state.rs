//! The state of an entry and its decisions, free of locks, tasks and clocks.

use crate::retry::jitter;
use std::sync::Arc;

use tokio::runtime;
use tokio::sync::watch;
use tokio::time::Instant;

use super::bearer::Phase;
use super::flight::{Flight, Outcome, Ticket};
use super::rejection::Rejections;
use super::{AccessToken, BearerToken, Rejection, TokenError, TokenPolicy, backoff, lifetime};

/// What a caller does next.
pub(super) enum Step {
    Use(Arc<BearerToken>),
    Wait(Flight),
    Fail(TokenError),
}

/// A failed renewal, and until when it stands for all that ask.
struct Setback {
    error: TokenError,
    until: Instant,
}

#[derive(Default)]
pub(super) struct State {
    token: Option<Arc<BearerToken>>,
    generation: u64,
    flight: Option<Flight>,
    flights: u64,
    failures: u32,
    setback: Option<Setback>,
    /// The earliest routine renewal after a successful one.
    quiet_until: Option<Instant>,
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

    /// Decides what a caller on `runtime` does at `now`. An `eager` one waits where others go on with an ageing token.
    pub(super) fn next(
        &mut self,
        now: Instant,
        eager: bool,
        runtime: runtime::Id,
        policy: &TokenPolicy,
    ) -> (Step, Option<Ticket>) {
        let live = self.live(now);
        if let Some(token) = self.fresh(now) {
            return (Step::Use(token), None);
        }
        // A sender that is gone without a word went down with its runtime.
        self.flight
            .take_if(|flight| flight.outcome.has_changed().is_err());
        if self.flight.is_none() {
            match (&self.setback, &live) {
                (Some(setback), live) if now < setback.until => {
                    let step = live
                        .clone()
                        .map_or_else(|| Step::Fail(setback.error.clone()), Step::Use);
                    return (step, None);
                }
                (None, Some(token)) if self.quiet_until.is_some_and(|until| now < until) => {
                    return (Step::Use(Arc::clone(token)), None);
                }
                _ => {}
            }
        }
        let (flight, ticket) = match &self.flight {
            Some(flight) => (flight.clone(), None),
            None => self.launch(now, runtime, policy),
        };
        let step = match live {
            // Nobody waits for an endpoint that is known to be in trouble while there is a token to go on with.
            Some(token) if !eager && (token.phase(now) == Phase::Soft || self.failures > 0) => {
                Step::Use(token)
            }
            _ => Step::Wait(flight),
        };
        (step, ticket)
    }

    fn launch(
        &mut self,
        now: Instant,
        runtime: runtime::Id,
        policy: &TokenPolicy,
    ) -> (Flight, Option<Ticket>) {
        self.flights += 1;
        let (sender, outcome) = watch::channel(None);
        // The task ends itself in time; the grace is for its last step.
        let overdue = lifetime::later(
            lifetime::later(now, policy.renewal_timeout),
            policy.min_interval,
        );
        let flight = Flight {
            id: self.flights,
            outcome,
            runtime,
            overdue,
        };
        self.flight = Some(flight.clone());
        (
            flight,
            Some(Ticket {
                id: self.flights,
                outcome: sender,
            }),
        )
    }

    /// Gives up on a renewal that will not end, so that the next caller starts another.
    pub(super) fn abandon(&mut self, id: u64) {
        self.flight.take_if(|flight| flight.id == id);
    }

    /// Takes the result of renewal `id`, started at `started`. The result of an abandoned one is only
    /// welcome if it is an improvement.
    pub(super) fn settle(
        &mut self,
        id: u64,
        started: Instant,
        answer: Result<AccessToken, TokenError>,
        policy: &TokenPolicy,
    ) -> Outcome {
        let current = self.flight.take_if(|flight| flight.id == id).is_some();
        let prepared = answer.and_then(|token| {
            let start = token.requested_at().unwrap_or(started);
            BearerToken::prepare(&token, start, self.generation + 1, policy)
                .map(|bearer| (start, Arc::new(bearer)))
        });
        match prepared {
            Ok((start, token)) => {
                if current
                    || self
                        .token
                        .as_ref()
                        .is_none_or(|held| held.end() < token.end())
                {
                    self.generation += 1;
                    self.token = Some(Arc::clone(&token));
                    self.failures = 0;
                    self.setback = None;
                    self.quiet_until = Some(lifetime::later(start, policy.min_interval));
                }
                Ok(token)
            }
            Err(error) => {
                if current {
                    self.set_back(error.clone(), policy);
                }
                Err(error)
            }
        }
    }

    fn set_back(&mut self, error: TokenError, policy: &TokenPolicy) {
        self.failures = self.failures.saturating_add(1);
        let pause = backoff::half_jitter(
            policy.backoff_base,
            policy.backoff_cap,
            self.failures,
            jitter(),
        );
        let asked = error
            .retry_after()
            .unwrap_or_default()
            .min(policy.backoff_cap);
        self.setback = Some(Setback {
            until: lifetime::later(Instant::now(), pause.max(asked)),
            error,
        });
    }

    /// How long callers without a live token get the last error, from `now`.
    pub(super) fn quiet(&self, now: Instant) -> std::time::Duration {
        self.setback
            .as_ref()
            .map(|setback| setback.until.saturating_duration_since(now))
            .unwrap_or_default()
    }

    /// Takes note that a service refused `token`.
    pub(super) fn reject(
        &mut self,
        token: &BearerToken,
        now: Instant,
        policy: &TokenPolicy,
    ) -> Rejection {
        // The caller's borrow keeps the address alive, so an equal address is the same token.
        if !self
            .token
            .as_deref()
            .is_some_and(|held| std::ptr::eq(held, token))
        {
            return Rejection::Superseded;
        }
        if !self.rejections.admit(now, policy, jitter()) {
            return Rejection::Kept;
        }
        self.token = None;
        self.quiet_until = None;
        Rejection::Dropped
    }
}
