//! The environment of one entry: callers, renewals in the air, targets and time. It drives the real state machine and checks
//! each of its steps.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::token::bearer::{BearerToken, Phase};
use crate::token::error::TokenError;
use crate::token::policy::TokenPolicy;
use crate::token::search::scope::{Answer, Rules};
use crate::token::source::AccessToken;
use crate::token::state::State;
use crate::token::waiter::{Action, Waiter};

/// Why a caller wants a token, and how many tokens in a row its target has refused.
#[derive(Clone, Copy, Debug)]
pub(super) struct Purpose {
    pub(super) kind: u8,
    pub(super) target: u8,
    pub(super) refused: u32,
}

#[derive(Clone, Debug)]
pub(super) enum WaiterState {
    Away,
    Waits {
        purpose: Purpose,
        waiter: Waiter,
        look: Instant,
        woken: bool,
    },
    Holds {
        purpose: Purpose,
        token: Arc<BearerToken>,
    },
}

/// A renewal whose task has not ended, whether it still counts or not.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task {
    pub(super) id: u64,
    pub(super) started: Instant,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Event {
    Start,
    TimePasses,
    Sweep,
    Arrives { kind: u8, target: u8 },
    Looks(u8),
    Leaves(u8),
    Settles { task: u8, answer: u8, random: u16 },
    Dies(u8),
    Accepted(u8),
    Refused { waiter: u8, random: u16 },
}

/// The invariant that a step has broken.
pub(super) type Broken = &'static str;

pub(super) fn invariant(holds: bool, name: Broken) -> Result<(), Broken> {
    if holds { Ok(()) } else { Err(name) }
}

#[derive(Clone)]
pub(super) struct World {
    pub(super) state: State,
    pub(super) now: Instant,
    pub(super) callers: Vec<WaiterState>,
    pub(super) tasks: Vec<Task>,
    /// Before these instants no renewal may begin: the last one succeeded, the last one failed.
    pub(super) routine: Instant,
    pub(super) backoff: Instant,
    /// When the renewal under way began.
    pub(super) began: Instant,
    /// Before this instant no operation may cost a token again that nobody has accepted.
    pub(super) storm: [Instant; 2],
}

impl WaiterState {
    pub(super) fn is_runnable(&self, now: Instant) -> bool {
        matches!(self, Self::Waits { woken, look, .. } if *woken || *look <= now)
    }
}

impl World {
    pub(super) fn new(rules: &Rules) -> Self {
        let now = Instant::now();
        Self {
            state: State::default(),
            now,
            callers: vec![WaiterState::Away; rules.scope.callers],
            tasks: Vec::new(),
            routine: now,
            backoff: now,
            began: now,
            storm: [now; 2],
        }
    }

    /// Adds whatever may happen next to `events`.
    pub(super) fn events(&self, rules: &Rules, events: &mut Vec<Event>) {
        let scope = &rules.scope;
        let runnable = self.callers.iter().any(|it| it.is_runnable(self.now));
        if scope.lazy || !runnable {
            events.push(Event::TimePasses);
        }
        if self.state.has_expired(self.now) || self.is_unused() {
            events.push(Event::Sweep);
        }
        if self
            .callers
            .iter()
            .any(|it| matches!(it, WaiterState::Away))
        {
            for kind in 0..u8::try_from(scope.kinds.len()).unwrap() {
                for target in 0..scope.targets.max(1) {
                    events.push(Event::Arrives { kind, target });
                }
            }
        }
        for (slot, caller) in (0..).zip(&self.callers) {
            match caller {
                WaiterState::Away => continue,
                WaiterState::Waits { .. } if caller.is_runnable(self.now) => {
                    events.push(Event::Looks(slot));
                }
                WaiterState::Waits { .. } => {}
                WaiterState::Holds { .. } => {
                    events.push(Event::Accepted(slot));
                    events.extend(scope.random_values.iter().map(|&random| Event::Refused {
                        waiter: slot,
                        random,
                    }));
                }
            }
            events.push(Event::Leaves(slot));
        }
        for (task, _) in (0..).zip(&self.tasks) {
            for answer in 0..u8::try_from(scope.answers.len()).unwrap() {
                let settles = |&random| Event::Settles {
                    task,
                    answer,
                    random,
                };
                events.extend(scope.random_values.iter().map(settles));
            }
            events.push(Event::Dies(task));
        }
    }

    /// The world after an event, unless a step breaks an invariant.
    pub(super) fn after(&self, event: Event, rules: &Rules) -> Result<Self, Broken> {
        let mut next = self.clone();
        next.apply(event, rules).map(|()| next)
    }

    fn apply(&mut self, event: Event, rules: &Rules) -> Result<(), Broken> {
        match event {
            Event::Start => {}
            Event::TimePasses => self.now += rules.scope.ticks(1),
            Event::Sweep => {
                self.state.drop_expired(self.now);
                if self.is_unused() && self.state.is_idle(self.now, &rules.policy) {
                    self.state = State::default();
                }
            }
            Event::Arrives { kind, target } => {
                let away = |caller: &WaiterState| matches!(caller, WaiterState::Away);
                let slot = self.callers.iter().position(away).unwrap();
                let purpose = Purpose {
                    kind,
                    target,
                    refused: 0,
                };
                self.callers[slot] = self.arrival(purpose, rules);
                return self.look(slot, rules);
            }
            Event::Looks(slot) => return self.look(usize::from(slot), rules),
            Event::Leaves(slot) => self.callers[usize::from(slot)] = WaiterState::Away,
            Event::Settles {
                task,
                answer,
                random,
            } => {
                let answer = rules.scope.answers[usize::from(answer)];
                return self.settle(usize::from(task), answer, chance(random), rules);
            }
            Event::Dies(task) => {
                let task = self.tasks.remove(usize::from(task));
                self.end(task.id);
            }
            Event::Accepted(slot) => self.accept(usize::from(slot)),
            Event::Refused { waiter, random } => {
                return self.refuse(usize::from(waiter), chance(random), rules);
            }
        }
        Ok(())
    }

    /// Whether only the cache holds the entry.
    fn is_unused(&self) -> bool {
        self.tasks.is_empty()
            && self
                .callers
                .iter()
                .all(|it| matches!(it, WaiterState::Away))
    }

    pub(super) fn arrival(&self, purpose: Purpose, rules: &Rules) -> WaiterState {
        let kind = rules.scope.kinds[usize::from(purpose.kind)];
        let runtime = rules.runtimes[usize::from(kind.runtime)];
        WaiterState::Waits {
            purpose,
            waiter: Waiter::new(runtime, rules.scope.ticks(kind.min_validity)),
            look: self.now,
            woken: true,
        }
    }

    /// A caller asks what to do.
    fn look(&mut self, slot: usize, rules: &Rules) -> Result<(), Broken> {
        let (now, policy) = (self.now, &rules.policy);
        let WaiterState::Waits {
            purpose,
            mut waiter,
            ..
        } = self.callers[slot].clone()
        else {
            unreachable!("only a waiter that waits looks");
        };
        let (renewal, live, began) = (self.state.renewal, self.state.live(now), self.began);
        let (earlier, generation) = (waiter, self.generation());
        let (action, start) = self.state.next(now, &mut waiter, policy);
        invariant(
            self.generation() == generation,
            "2: to look changes no token",
        )?;
        if let Some(renewal) = renewal.filter(|it| !self.state.renews(it.id)) {
            let limit = if renewal.runtime == waiter.runtime {
                policy.renewal_timeout + policy.min_interval
            } else {
                policy.exchange_timeout
            };
            let hopeless = began + limit <= now;
            invariant(hopeless, "4: only a renewal without hope is given up")?;
        }
        if let Some(id) = start {
            let due = self.backoff <= now && self.routine <= now;
            invariant(due, "6: no renewal begins before its time")?;
            self.began = now;
            self.tasks.push(Task { id, started: now });
            if self.tasks.len() > rules.scope.tasks {
                let oldest = self.tasks.remove(0);
                self.end(oldest.id);
            }
        }
        self.callers[slot] = match action {
            Action::Use(token) => {
                invariant(token.expires_at() > now, "3: no dead token is handed out")?;
                if rules.scope.targets == 0 {
                    WaiterState::Away
                } else {
                    WaiterState::Holds { purpose, token }
                }
            }
            Action::Fail(_) => {
                invariant(live.is_none(), "7: who has a live token never fails")?;
                let failed = self.state.failure.is_some();
                invariant(failed, "7: no failure without a reason")?;
                WaiterState::Away
            }
            Action::Wait(look) => {
                self.waits(&earlier, &waiter, look, live.as_deref(), policy)?;
                WaiterState::Waits {
                    purpose,
                    waiter,
                    look,
                    woken: false,
                }
            }
        };
        Ok(())
    }

    /// The invariants of a caller that waits from now on.
    fn waits(
        &self,
        earlier: &Waiter,
        waiter: &Waiter,
        look: Instant,
        live: Option<&BearerToken>,
        policy: &TokenPolicy,
    ) -> Result<(), Broken> {
        let now = self.now;
        let renewal = self.state.renewal.ok_or("5: no wait without a renewal")?;
        let limit = now + policy.renewal_timeout + policy.min_interval;
        let bound = look <= renewal.overdue && renewal.overdue <= limit;
        invariant(bound, "5: every wait has an end")?;
        let further = earlier.waited_for <= waiter.waited_for;
        invariant(further, "5: no waiter waits for an earlier renewal")?;
        let foreign = renewal.runtime != waiter.runtime;
        invariant(look > now, "5: no waiter waits for what is over")?;
        let overtaken = !foreign || look <= self.began + policy.exchange_timeout;
        invariant(
            overtaken,
            "5: another runtime's renewal is overtaken in time",
        )?;
        let failed = self.state.failure.as_ref();
        let shares = failed.is_some_and(|it| earlier.has_waited_for(it.renewal));
        invariant(!shares, "6: who waited for a failed renewal gets its error")?;
        if let Some(token) = live {
            let arrived = earlier.has_waited_for(self.state.last_success);
            invariant(!arrived, "1: who waited for a token takes it")?;
            let rest = token.expires_at() - now;
            let due = token.phase(now) == Phase::RenewNow && rest < waiter.min_validity;
            let must = due && self.state.failures == 0;
            invariant(must, "1: no waiter waits although its token lasts")?;
            invariant(look <= now + rest / 2, "5: half of a live token is left")?;
        }
        Ok(())
    }

    /// A renewal ends with an answer.
    fn settle(
        &mut self,
        task: usize,
        answer: Answer,
        random: f64,
        rules: &Rules,
    ) -> Result<(), Broken> {
        let (now, policy, scope) = (self.now, &rules.policy, &rules.scope);
        let Task { id, started } = self.tasks.remove(task);
        let of = |ticks| AccessToken::new("token").with_lifetime(scope.ticks(ticks));
        let (answer, start, asked) = match answer {
            Answer::Lives(ticks) => (Ok(of(ticks)), started, Duration::ZERO),
            Answer::Anew(ticks) => (Ok(of(ticks).with_requested_at(now)), now, Duration::ZERO),
            Answer::Fails(ticks) => {
                let asked = scope.ticks(ticks);
                let error = TokenError::unavailable("down").with_retry_after(asked);
                (Err(error), started, asked)
            }
        };
        let current = self.state.renewal.is_some_and(|renewal| renewal.id == id);
        let (held, generation) = (self.state.live(now), self.generation());
        let end = answer
            .as_ref()
            .ok()
            .and_then(|it| Some(start + it.lifetime()?));
        let outcome = self.state.settle(id, started, now, answer, policy, random);
        let changed = self.generation() != generation;
        let live = self.state.live(now);
        invariant(live.is_some() || held.is_none(), "2: no live token is lost")?;
        invariant(live.is_some() || !changed, "3: no dead token is taken")?;
        if let (Some(held), Some(live)) = (&held, &live) {
            let longer = !changed || live.expires_at() > held.expires_at();
            invariant(longer, "2: no token takes the caller of a longer one")?;
        }
        let best = end
            .into_iter()
            .chain(held.map(|held| held.expires_at()))
            .max();
        if let Some(best) = best.filter(|best| *best > now) {
            let taken = live.is_some_and(|live| live.expires_at() == best);
            invariant(taken, "2: the longer token is kept")?;
        }
        if let Ok(token) = outcome {
            invariant(
                token.expires_at() > now,
                "3: no waiter is told of a dead token",
            )?;
            invariant(end.is_some(), "6: no failure is told as a success")?;
            if current || changed {
                (self.routine, self.backoff) = (start + policy.min_interval, now);
            }
        } else {
            invariant(!changed, "2: a failure changes no token")?;
            if current {
                let backoff = policy.renewal_backoff;
                self.backoff = now + asked.min(backoff.cap) + backoff.base / 2;
            }
        }
        self.end(id);
        Ok(())
    }

    /// A renewal is over, or was lost with its runtime.
    fn end(&mut self, id: u64) {
        self.state.abandon_renewal(id);
        self.wake();
    }

    fn wake(&mut self) {
        for caller in &mut self.callers {
            if let WaiterState::Waits { woken, .. } = caller {
                *woken = true;
            }
        }
    }

    pub(super) fn generation(&self) -> u64 {
        self.state
            .token
            .as_ref()
            .map_or(0, |token| token.generation())
    }
}

fn chance(thousandths: u16) -> f64 {
    f64::from(thousandths) / 1000.0
}
