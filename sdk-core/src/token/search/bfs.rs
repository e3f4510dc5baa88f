//! A breadth-first search, which stores the fingerprint of each state and the path to it.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::hash::{BuildHasherDefault, DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::token::search::invariants::{self, Violation};
use crate::token::search::model::{Purpose, WaiterState, World};
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

/// A fingerprint is a hash already.
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

/// The states that were reached, and the last event on the way to each.
struct Search {
    rules: Rules,
    seen: HashSet<u64, BuildHasherDefault<Identity>>,
    paths: Vec<(u32, Event)>,
    transitions: u64,
}

/// Searches until no state is left, an invariant is violated, or `limit` states were reached.
pub(super) fn search(scope: Scope, limit: usize) -> Found {
    let (rules, started) = (Rules::new(scope), std::time::Instant::now());
    let first = World::new(&rules);
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
        for (number, world) in level {
            violation = search.expand(number, &world, &mut next).err();
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
    /// Reaches the states after this one, and adds the new ones to `next`.
    fn expand(
        &mut self,
        number: u32,
        world: &World,
        next: &mut Vec<(u32, World)>,
    ) -> Result<(), (Violation, Vec<Event>)> {
        for event in events(world, &self.rules) {
            self.transitions += 1;
            let (after, step) = world.after(event, &self.rules);
            let new = invariants::of_step(world, &after, &step, &self.rules.policy)
                .and_then(|()| self.reach(number, event, after))
                .map_err(|invariant| (invariant, self.path(number, event)))?;
            next.extend(new);
        }
        Ok(())
    }

    /// The number of a state, if it is new, and the state.
    fn reach(
        &mut self,
        from: u32,
        event: Event,
        world: World,
    ) -> Result<Option<(u32, World)>, Violation> {
        if !self.seen.insert(fingerprint(&world, &self.rules)) {
            return Ok(None);
        }
        let number = u32::try_from(self.paths.len()).map_err(|_| "too many states")?;
        self.paths.push((from, event));
        invariants::of_state(&world, &self.rules)?;
        Ok(Some((number, world)))
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

/// The events of a path and the states between them, to be read.
pub(super) fn describe_path(scope: Scope, path: &[Event]) -> String {
    let rules = Rules::new(scope);
    let (mut world, mut text) = (World::new(&rules), String::new());
    let start = world.now;
    for &event in path {
        let at = (world.now - start).as_secs();
        let _ = write!(text, "\n{at:>4} s {}", event.describe(&scope));
        world = world.after(event, &rules).0;
        let at = |instant: Instant| (instant - start).as_secs_f64();
        if let Some(token) = &world.state.token {
            let _ = write!(text, "; token until {:.1}", at(token.expires_at()));
        }
        if let Some(renewal) = &world.state.renewal {
            let _ = write!(
                text,
                "; renewal {} until {:.1}",
                renewal.id,
                at(renewal.overdue)
            );
        }
        for caller in &world.callers {
            let _ = match caller {
                WaiterState::Away => write!(text, "; -"),
                WaiterState::Waits { until, .. } => write!(text, "; waits until {:.1}", at(*until)),
                WaiterState::Holds { .. } => write!(text, "; holds a token"),
            };
        }
    }
    text
}

/// What may happen next.
fn events(world: &World, rules: &Rules) -> Vec<Event> {
    let scope = &rules.scope;
    let mut events = Vec::new();
    let runnable = world.callers.iter().any(|it| it.is_runnable(world.now));
    if scope.lazy || !runnable {
        events.push(Event::TimePasses);
    }
    let expired = world.state.token.is_some() && world.state.live(world.now).is_none();
    if expired || world.is_unused() {
        events.push(Event::Sweep);
    }
    if world.callers.iter().any(WaiterState::is_away) {
        for kind in numbers(scope.kinds) {
            let operations = 0..scope.operations.max(1);
            events.extend(operations.map(|operation| Event::Arrives { kind, operation }));
        }
    }
    for (slot, caller) in (0..).zip(&world.callers) {
        events_of_caller(world, slot, caller, scope, &mut events);
    }
    for (task, _) in (0..).zip(&world.tasks) {
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
    world: &World,
    slot: u8,
    caller: &WaiterState,
    scope: &Scope,
    events: &mut Vec<Event>,
) {
    match caller {
        WaiterState::Away => return,
        WaiterState::Waits { .. } if caller.is_runnable(world.now) => {
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

/// The fingerprint of a world: equal for worlds in which the same will happen, whatever the time and the numbers.
fn fingerprint(world: &World, rules: &Rules) -> u64 {
    let now = world.now;
    let mut out = DefaultHasher::new();
    of_state(&world.state, now).hash(&mut out);
    let memory = Duration::from_secs(60);
    for (key, streak) in &world.state.rejections.0 {
        let newest = world.generation() == streak.generation;
        let until = streak.backoff_until.map_or(0, |it| left(it, now));
        let length = streak.length.min(3);
        (key, length, age(streak.last, now, memory), until, newest).hash(&mut out);
    }
    // No token lives longer.
    let oldest = rules.scope.ticks(6);
    for task in &world.tasks {
        let counts = world.state.is_current(task.id);
        (counts, age(task.started, now, oldest)).hash(&mut out);
    }
    let bounds = [world.routine, world.backoff, world.storm[0], world.storm[1]];
    bounds.map(|it| left(it, now)).hash(&mut out);
    let callers = world.callers.iter();
    let mut callers: Vec<_> = callers.map(|it| of_caller(it, world)).collect();
    // It does not matter which caller is which.
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
    // From the third failure on, all backoffs are the same.
    let failures = state.failure.as_ref().map(|it| it.failures.min(3));
    let next_renewal = state.next_renewal.map_or(0, |it| left(it, now));
    (token, renewal, failures, next_renewal)
}

fn of_caller(caller: &WaiterState, world: &World) -> (Option<Purpose>, [u64; 5]) {
    match caller {
        WaiterState::Away => (None, [0; 5]),
        WaiterState::Waits {
            purpose,
            waiter,
            until,
            answered,
        } => {
            let has_result = |since| 1 + u64::from(since < world.state.results);
            let fields = [
                1,
                waiter.waits_since.map_or(0, has_result),
                waiter.fallback_at.map_or(0, |at| left(at, world.now) + 1),
                left(*until, world.now),
                answered.map_or(0, |it| 1 + u64::from(it)),
            ];
            (Some(*purpose), fields)
        }
        WaiterState::Holds { purpose, token } => {
            let current = world.state.token.as_ref();
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
