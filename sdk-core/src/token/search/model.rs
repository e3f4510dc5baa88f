//! Simulates the environment of an entry: callers, renewals in flight, operations and time. It drives the real state
//! machine.

use std::sync::Arc;

use tokio::time::Instant;

use crate::token::bearer::BearerToken;
use crate::token::error::TokenError;
use crate::token::search::scope::{Answer, Event, Rules};
use crate::token::source::AccessToken;
use crate::token::state::{Action, State, TokenResult, Waiter};

/// The kind and operation of a caller, and the number of consecutive tokens that its operation has rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Purpose {
    pub(super) kind: u8,
    pub(super) operation: u8,
    pub(super) rejected: u32,
}

impl Purpose {
    fn new(kind: u8, operation: u8) -> Self {
        Self {
            kind,
            operation,
            rejected: 0,
        }
    }
}

#[derive(Clone, Debug)]
pub(super) enum WaiterState {
    Away,
    Waits {
        purpose: Purpose,
        waiter: Waiter,
        /// The instant of its next poll: now, once it is woken.
        until: Instant,
        /// Whether a renewal has ended with a result since it began to wait; `None` before it waits.
        answered: Option<bool>,
    },
    Holds {
        purpose: Purpose,
        token: Arc<BearerToken>,
    },
}

impl WaiterState {
    pub(super) fn is_away(&self) -> bool {
        matches!(self, Self::Away)
    }

    pub(super) fn waits(&self) -> bool {
        matches!(self, Self::Waits { .. })
    }

    pub(super) fn is_runnable(&self, now: Instant) -> bool {
        matches!(self, Self::Waits { until, .. } if *until <= now)
    }
}

/// A renewal whose task has not ended, even if it was abandoned.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task {
    pub(super) id: u64,
    pub(super) started: Instant,
}

/// The decision of the state machine at an event.
pub(super) enum Step {
    None,
    /// The action of a caller, and whether the renewal it waited for has ended.
    Poll {
        answered: bool,
        after: Waiter,
        action: Action,
        start: Option<u64>,
    },
    /// The result of a renewal, and the expiry of its token.
    Settlement {
        outcome: TokenResult,
        expires_at: Option<Instant>,
    },
    /// Whether a call that got a 401 for this token is resent.
    Rejection {
        purpose: Purpose,
        token: Arc<BearerToken>,
        resends: bool,
    },
}

#[derive(Clone)]
pub(super) struct Simulation {
    pub(super) state: State,
    pub(super) now: Instant,
    pub(super) callers: Vec<WaiterState>,
    pub(super) tasks: Vec<Task>,
    /// No renewal may start before this instant, because the last renewal succeeded.
    pub(super) routine: Instant,
    /// No renewal may start before this instant, because the last renewal failed.
    pub(super) backoff: Instant,
    pub(super) started: Instant,
    /// Before these instants, an operation must not cause the renewal of a token that no operation has accepted.
    pub(super) storm: [Instant; 2],
}

impl Simulation {
    pub(super) fn new(rules: &Rules) -> Self {
        let now = Instant::now();
        Self {
            state: State::default(),
            now,
            callers: vec![WaiterState::Away; rules.scope.callers],
            tasks: Vec::new(),
            routine: now,
            backoff: now,
            started: now,
            storm: [now; 2],
        }
    }

    /// Returns the simulation after an event, and the state machine's decision.
    pub(super) fn after(&self, event: Event, rules: &Rules) -> (Self, Step) {
        let mut next = self.clone();
        let step = next.apply(event, rules);
        (next, step)
    }

    fn apply(&mut self, event: Event, rules: &Rules) -> Step {
        match event {
            Event::Start => {}
            Event::TimePasses => self.now += rules.scope.ticks(1),
            Event::Sweep => {
                self.state.drop_expired(self.now);
                if self.is_unused() && self.state.is_idle(self.now, &rules.policy) {
                    self.state = State::default();
                }
            }
            Event::Arrives { kind, operation } => {
                let slot = self.callers.iter().position(WaiterState::is_away).unwrap();
                self.callers[slot] = self.arrival(Purpose::new(kind, operation), rules);
                return self.poll(slot, rules);
            }
            Event::Polls(slot) => return self.poll(usize::from(slot), rules),
            Event::Leaves(slot) => self.callers[usize::from(slot)] = WaiterState::Away,
            Event::Settles {
                task,
                answer,
                random,
            } => {
                let answer = rules.scope.answers[usize::from(answer)];
                return self.settle(usize::from(task), answer, fraction(random), rules);
            }
            Event::Dies(task) => {
                let task = self.tasks.remove(usize::from(task));
                self.end(task.id);
            }
            Event::Accepted(slot) => self.accept(usize::from(slot)),
            Event::Rejected { waiter, random } => {
                return self.reject(usize::from(waiter), fraction(random), rules);
            }
        }
        Step::None
    }

    pub(super) fn is_unused(&self) -> bool {
        self.tasks.is_empty() && self.callers.iter().all(WaiterState::is_away)
    }

    fn arrival(&self, purpose: Purpose, rules: &Rules) -> WaiterState {
        let kind = rules.scope.kinds[usize::from(purpose.kind)];
        let runtime = rules.runtimes[usize::from(kind.runtime)];
        WaiterState::Waits {
            purpose,
            waiter: Waiter::new(runtime, rules.scope.ticks(kind.min_validity)),
            until: self.now,
            answered: None,
        }
    }

    fn poll(&mut self, slot: usize, rules: &Rules) -> Step {
        let WaiterState::Waits {
            purpose,
            waiter: mut after,
            answered,
            ..
        } = self.callers[slot].clone()
        else {
            unreachable!("only a waiting caller polls");
        };
        let (action, start) = self.state.next(self.now, &mut after, &rules.policy);
        if let Some(id) = start {
            self.start(id, rules);
        }
        self.callers[slot] = match &action {
            Action::Use(token) if rules.scope.operations > 0 => WaiterState::Holds {
                purpose,
                token: Arc::clone(token),
            },
            Action::Use(_) | Action::Fail(_) => WaiterState::Away,
            Action::Wait(until) => WaiterState::Waits {
                purpose,
                waiter: after,
                until: *until,
                answered: Some(false),
            },
        };
        Step::Poll {
            answered: answered == Some(true),
            after,
            action,
            start,
        }
    }

    /// Starts a renewal, and ends the oldest one if there are too many.
    fn start(&mut self, id: u64, rules: &Rules) {
        let started = self.now;
        self.started = started;
        self.tasks.push(Task { id, started });
        if self.tasks.len() > rules.scope.tasks {
            let oldest = self.tasks.remove(0);
            self.end(oldest.id);
        }
    }

    fn settle(&mut self, task: usize, answer: Answer, random: f64, rules: &Rules) -> Step {
        let (now, policy, scope) = (self.now, &rules.policy, &rules.scope);
        let Task { id, started } = self.tasks.remove(task);
        let of = |ticks| AccessToken::new("token").with_lifetime(scope.ticks(ticks));
        let (answer, start) = match answer {
            Answer::Lives(ticks) => (Ok(of(ticks)), started),
            Answer::Anew(ticks) => (Ok(of(ticks).with_requested_at(now)), now),
            Answer::Fails(ticks) => {
                let error = TokenError::unavailable("down").with_retry_after(scope.ticks(ticks));
                (Err(error), started)
            }
        };
        let retry_after = answer.as_ref().err().and_then(TokenError::retry_after);
        let lifetime = answer.as_ref().ok().and_then(AccessToken::lifetime);
        let (current, generation) = (self.state.is_current(id), self.generation());
        let outcome = self.state.settle(id, started, now, answer, policy, random);
        let counts = current || self.generation() != generation;
        if counts && outcome.is_ok() {
            (self.routine, self.backoff) = (start + policy.min_interval, now);
        } else if counts {
            let backoff = policy.renewal_backoff;
            let asked = retry_after.unwrap_or_default().min(backoff.cap);
            self.backoff = now + asked + backoff.base / 2;
        }
        for caller in &mut self.callers {
            if let WaiterState::Waits { answered, .. } = caller {
                *answered = answered.map(|it| it || counts);
            }
        }
        self.end(id);
        Step::Settlement {
            outcome,
            expires_at: lifetime.map(|lifetime| start + lifetime),
        }
    }

    /// Ends a renewal that has a result, or was lost with its runtime.
    fn end(&mut self, id: u64) {
        self.state.abandon_renewal(id);
        for caller in &mut self.callers {
            if let WaiterState::Waits { until, .. } = caller {
                *until = (*until).min(self.now);
            }
        }
    }

    /// Lets an operation accept a copy of a caller's token, because other simulations share the token.
    fn accept(&mut self, slot: usize) {
        let caller = std::mem::replace(&mut self.callers[slot], WaiterState::Away);
        let WaiterState::Holds { token, .. } = caller else {
            unreachable!("only a caller with a token can have it accepted");
        };
        let copy = Arc::new(token.fork());
        copy.mark_accepted();
        let holders = self.callers.iter_mut().filter_map(|caller| match caller {
            WaiterState::Holds { token, .. } => Some(token),
            _ => None,
        });
        for held in holders.chain(&mut self.state.token) {
            if Arc::ptr_eq(held, &token) {
                *held = Arc::clone(&copy);
            }
        }
    }

    fn reject(&mut self, slot: usize, random: f64, rules: &Rules) -> Step {
        let (now, policy) = (self.now, &rules.policy);
        let WaiterState::Holds { purpose, token } = self.callers[slot].clone() else {
            unreachable!("only a caller with a token can have it rejected");
        };
        let generation = self.generation();
        let operation = rules.operations[usize::from(purpose.operation)];
        let rejected = purpose.rejected;
        let resends = self
            .state
            .reject(&token, operation, rejected, now, policy, random);
        if self.generation() != generation {
            if !token.was_accepted() {
                let until = now + policy.renewal_backoff.base / 2;
                self.storm[usize::from(purpose.operation)] = until;
            }
            self.routine = now;
        }
        self.callers[slot] = if resends {
            let rejected = rejected + 1;
            self.arrival(
                Purpose {
                    rejected,
                    ..purpose
                },
                rules,
            )
        } else {
            WaiterState::Away
        };
        Step::Rejection {
            purpose,
            token,
            resends,
        }
    }

    /// Returns the number of the cached token, or 0 without a token.
    pub(super) fn generation(&self) -> u64 {
        let token = self.state.token.as_ref();
        token.map_or(0, |token| token.generation())
    }
}

fn fraction(thousandths: u16) -> f64 {
    f64::from(thousandths) / 1000.0
}
