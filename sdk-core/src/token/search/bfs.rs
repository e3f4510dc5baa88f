//! A breadth-first search that stores the fingerprint of each state and the path to it.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::hash::{BuildHasherDefault, DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::token::search::invariants::{self, Violation};
use crate::token::search::model::{Purpose, Simulation, WaiterState};
use crate::token::search::scope::{Event, Rules, Scope};
use crate::token::state::State;

#[derive(Debug)]
pub(super) struct Found {
    pub(super) states: usize,
    pub(super) transitions: u64,
    pub(super) depth: u32,
    /// Whether every state was reached.
    pub(super) exhaustive: bool,
    pub(super) seconds: f64,
    /// The first violation, and the shortest path to it.
    pub(super) violation: Option<(Violation, Vec<Event>)>,
}

/// Returns fingerprints unchanged, because they are already hashes.
#[derive(Default)]
struct Identity(u64);

impl Hasher for Identity {
    fn write(&mut self, _: &[u8]) {
        unreachable!("fingerprints are numbers");
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// The reached states, and the last event of the path to each.
struct Search {
    rules: Rules,
    seen: HashSet<u64, BuildHasherDefault<Identity>>,
    paths: Vec<(u32, Event)>,
    transitions: u64,
}

/// Searches until all states are reached, an invariant is violated, or `limit` states are reached.
pub(super) fn search(scope: Scope, limit: usize) -> Found {
    let (rules, started) = (Rules::new(scope), std::time::Instant::now());
    let first = Simulation::new(&rules);
    let mut search = Search {
        seen: HashSet::from_iter([fingerprint(&first, &rules)]),
        paths: vec![(0, Event::Start)],
        transitions: 0,
        rules,
    };
    let (mut depth, mut violation, mut level) = (0, None, vec![(0, first)]);
    while !level.is_empty() && violation.is_none() && search.paths.len() < limit {
        depth += 1;
        let mut next = Vec::new();
        for (number, simulation) in level {
            violation = search.expand(number, &simulation, &mut next).err();
            if violation.is_some() || search.paths.len() >= limit {
                break;
            }
        }
        level = next;
    }
    Found {
        states: search.paths.len(),
        transitions: search.transitions,
        depth,
        exhaustive: level.is_empty() && violation.is_none(),
        seconds: started.elapsed().as_secs_f64(),
        violation,
    }
}

impl Search {
    fn expand(
        &mut self,
        number: u32,
        simulation: &Simulation,
        next: &mut Vec<(u32, Simulation)>,
    ) -> Result<(), (Violation, Vec<Event>)> {
        for event in events(simulation, &self.rules) {
            self.transitions += 1;
            let (after, step) = simulation.after(event, &self.rules);
            let new = invariants::of_step(simulation, &after, &step, &self.rules.policy)
                .and_then(|()| self.reach(number, event, after))
                .map_err(|invariant| (invariant, self.path(number, event)))?;
            next.extend(new);
        }
        Ok(())
    }

    /// Returns the number of a state and the state, if it is new.
    fn reach(
        &mut self,
        from: u32,
        event: Event,
        simulation: Simulation,
    ) -> Result<Option<(u32, Simulation)>, Violation> {
        if !self.seen.insert(fingerprint(&simulation, &self.rules)) {
            return Ok(None);
        }
        let number = u32::try_from(self.paths.len()).map_err(|_| "too many states")?;
        self.paths.push((from, event));
        invariants::of_state(&simulation, &self.rules)?;
        Ok(Some((number, simulation)))
    }

    fn path(&self, mut number: u32, last: Event) -> Vec<Event> {
        let mut events = vec![last];
        while number != 0 {
            let (from, event) = self.paths[number as usize];
            events.push(event);
            number = from;
        }
        events.reverse();
        events
    }
}

pub(super) fn describe_path(scope: Scope, path: &[Event]) -> String {
    let rules = Rules::new(scope);
    let (mut simulation, mut description) = (Simulation::new(&rules), String::new());
    let start = simulation.now;
    for &event in path {
        let at = (simulation.now - start).as_secs();
        let _ = write!(description, "\n{at:>4} s {}", event.describe(&scope));
        simulation = simulation.after(event, &rules).0;
        let at = |instant: Instant| (instant - start).as_secs_f64();
        if let Some(token) = &simulation.state.token {
            let _ = write!(description, "; token until {:.1}", at(token.expires_at()));
        }
        if let Some(renewal) = &simulation.state.renewal {
            let _ = write!(
                description,
                "; renewal {} until {:.1}",
                renewal.id,
                at(renewal.overdue)
            );
        }
        for caller in &simulation.callers {
            let _ = match caller {
                WaiterState::Away => write!(description, "; -"),
                WaiterState::Waits { until, .. } => {
                    write!(description, "; waits until {:.1}", at(*until))
                }
                WaiterState::Holds { .. } => write!(description, "; holds a token"),
            };
        }
    }
    description
}

fn events(simulation: &Simulation, rules: &Rules) -> Vec<Event> {
    let scope = &rules.scope;
    let mut events = Vec::new();
    let runnable = simulation
        .callers
        .iter()
        .any(|it| it.is_runnable(simulation.now));
    if scope.lazy || !runnable {
        events.push(Event::TimePasses);
    }
    let expired =
        simulation.state.token.is_some() && simulation.state.live(simulation.now).is_none();
    if expired || simulation.is_unused() {
        events.push(Event::Sweep);
    }
    if simulation.callers.iter().any(WaiterState::is_away) {
        for kind in numbers(scope.kinds) {
            let operations = 0..scope.operations.max(1);
            events.extend(operations.map(|operation| Event::Arrives { kind, operation }));
        }
    }
    for (slot, caller) in (0..).zip(&simulation.callers) {
        events_of_caller(simulation, slot, caller, scope, &mut events);
    }
    for (task, _) in (0..).zip(&simulation.tasks) {
        for answer in numbers(scope.answers) {
            let settles = |&random| Event::Settles {
                task,
                answer,
                random,
            };
            events.extend(scope.random_values.iter().map(settles));
        }
        events.push(Event::Dies(task));
    }
    events
}

fn events_of_caller(
    simulation: &Simulation,
    slot: u8,
    caller: &WaiterState,
    scope: &Scope,
    events: &mut Vec<Event>,
) {
    match caller {
        WaiterState::Away => return,
        WaiterState::Waits { .. } if caller.is_runnable(simulation.now) => {
            events.push(Event::Polls(slot));
        }
        WaiterState::Waits { .. } => {}
        WaiterState::Holds { .. } => {
            events.push(Event::Accepted(slot));
            let rejected = |&random| Event::Rejected {
                waiter: slot,
                random,
            };
            events.extend(scope.random_values.iter().map(rejected));
        }
    }
    events.push(Event::Leaves(slot));
}

fn numbers<T>(items: &[T]) -> std::ops::Range<u8> {
    0..u8::try_from(items.len()).unwrap()
}

/// Returns a fingerprint that is equal for equivalent states, regardless of absolute times and numbers.
fn fingerprint(simulation: &Simulation, rules: &Rules) -> u64 {
    let now = simulation.now;
    let mut out = DefaultHasher::new();
    of_state(&simulation.state, now).hash(&mut out);
    let memory = Duration::from_secs(60);
    for (key, streak) in &simulation.state.rejections.0 {
        let newest = simulation.generation() == streak.generation;
        let until = streak.backoff_until.map_or(0, |it| left(it, now));
        let length = streak.length.min(3);
        (key, length, age(streak.last, now, memory), until, newest).hash(&mut out);
    }
    // The longest lifetime of a token.
    let oldest = rules.scope.ticks(6);
    for task in &simulation.tasks {
        let counts = simulation.state.is_current(task.id);
        (counts, age(task.started, now, oldest)).hash(&mut out);
    }
    let bounds = [
        simulation.routine,
        simulation.backoff,
        simulation.storm[0],
        simulation.storm[1],
    ];
    bounds.map(|it| left(it, now)).hash(&mut out);
    let callers = simulation.callers.iter();
    let mut callers: Vec<_> = callers.map(|it| of_caller(it, simulation)).collect();
    // Callers are interchangeable.
    callers.sort_unstable();
    callers.hash(&mut out);
    out.finish()
}

fn of_state(state: &State, now: Instant) -> impl Hash {
    let token = state.token.as_ref().map(|it| {
        let schedule = it.schedule;
        let phases = [
            schedule.renew_soon_at,
            schedule.renew_now_at,
            schedule.expires_at,
        ];
        (phases.map(|at| left(at, now)), it.was_accepted())
    });
    let renewal = state.renewal.as_ref().map(|it| {
        let limits = [it.overtaken, it.overdue];
        (it.runtime, limits.map(|at| left(at, now)))
    });
    // From the third failure on, all backoffs are equal.
    let failures = state.failure.as_ref().map(|it| it.failures.min(3));
    let next_renewal = state.next_renewal.map_or(0, |it| left(it, now));
    (token, renewal, failures, next_renewal)
}

fn of_caller(caller: &WaiterState, simulation: &Simulation) -> (Option<Purpose>, [u64; 5]) {
    match caller {
        WaiterState::Away => (None, [0; 5]),
        WaiterState::Waits {
            purpose,
            waiter,
            until,
            answered,
        } => {
            let has_result = |since| 1 + u64::from(since < simulation.state.results);
            let fields = [
                1,
                waiter.waits_since.map_or(0, has_result),
                waiter
                    .fallback_at
                    .map_or(0, |at| left(at, simulation.now) + 1),
                left(*until, simulation.now),
                answered.map_or(0, |it| 1 + u64::from(it)),
            ];
            (Some(*purpose), fields)
        }
        WaiterState::Holds { purpose, token } => {
            let current = simulation.state.token.as_ref();
            let newest = current.is_some_and(|it| Arc::ptr_eq(it, token));
            (Some(*purpose), [2, newest.into(), 0, 0, 0])
        }
    }
}

fn left(instant: Instant, now: Instant) -> u64 {
    micros(instant.saturating_duration_since(now))
}

fn age(instant: Instant, now: Instant, most: Duration) -> u64 {
    micros(now.saturating_duration_since(instant).min(most))
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
