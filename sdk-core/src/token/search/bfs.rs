//! A breadth-first search, which stores the fingerprint of each state and the path to it.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::hash::{BuildHasherDefault, DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::token::search::invariants::{self, Violation};
use crate::token::search::model::{Event, Purpose, WaiterState, World};
use crate::token::search::scope::{Rules, Scope};
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

/// Searches until no state is left, an invariant is violated, or `limit` states were reached.
pub(super) fn search(scope: Scope, limit: usize) -> Found {
    let (rules, started) = (Rules::new(scope), std::time::Instant::now());
    let mut seen = HashSet::<u64, BuildHasherDefault<Identity>>::default();
    let first = World::new(&rules);
    seen.insert(fingerprint(&first, &rules));
    let mut paths: Vec<(u32, Event)> = vec![(0, Event::Start)];
    let mut found = Found {
        states: 1,
        transitions: 0,
        depth: 0,
        exhaustive: false,
        seconds: 0.0,
        violation: None,
    };
    let mut level = vec![(0, first)];
    let mut events = Vec::new();
    'search: loop {
        if level.is_empty() {
            found.exhaustive = true;
            break;
        }
        found.depth += 1;
        let mut next = Vec::new();
        for (at, world) in level {
            events.clear();
            world.events(&rules, &mut events);
            for &event in &events {
                found.transitions += 1;
                let (after, step) = world.after(event, &rules);
                let checked = invariants::of_step(&world, &after, &step, &rules.policy);
                let checked = checked.and_then(|()| {
                    if !seen.insert(fingerprint(&after, &rules)) {
                        return Ok(());
                    }
                    let number = u32::try_from(paths.len()).map_err(|_| "too many states")?;
                    paths.push((at, event));
                    invariants::of_state(&after, &rules)?;
                    next.push((number, after));
                    Ok(())
                });
                if let Err(invariant) = checked {
                    found.violation = Some((invariant, path(&paths, at, event)));
                    break 'search;
                }
            }
            if paths.len() >= limit {
                break 'search;
            }
        }
        level = next;
    }
    found.states = paths.len();
    found.seconds = started.elapsed().as_secs_f64();
    found
}

fn path(paths: &[(u32, Event)], mut at: u32, last: Event) -> Vec<Event> {
    let mut events = vec![last];
    while at != 0 {
        let (from, event) = paths[at as usize];
        events.push(event);
        at = from;
    }
    events.reverse();
    events
}

/// The events of a path and the states between them, to be read.
pub(super) fn describe_path(scope: Scope, path: &[Event]) -> String {
    let rules = Rules::new(scope);
    let (mut world, mut text) = (World::new(&rules), String::new());
    let start = world.now;
    for &event in path {
        let at = (world.now - start).as_secs();
        let _ = write!(text, "\n{at:>4} s {}", describe(event, &scope));
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
                WaiterState::Waits { woken: true, .. } => write!(text, "; woken"),
                WaiterState::Waits { until, .. } => write!(text, "; waits until {:.1}", at(*until)),
                WaiterState::Holds { .. } => write!(text, "; holds a token"),
            };
        }
    }
    text
}

fn describe(event: Event, scope: &Scope) -> String {
    match event {
        Event::Arrives { kind, operation } => {
            let kind = scope.kinds[usize::from(kind)];
            format!("arrives for operation {operation}: {kind:?}")
        }
        Event::Settles {
            task,
            answer,
            random,
        } => {
            let answer = scope.answers[usize::from(answer)];
            format!("task {task} settles: {answer:?}, random {random}")
        }
        event => format!("{event:?}"),
    }
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
        let counts = world.state.renews(task.id);
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

fn of_caller(caller: &WaiterState, world: &World) -> [u64; 8] {
    let of = |state, purpose: &Purpose, rest: [u64; 4]| {
        let Purpose {
            kind,
            operation,
            rejected,
        } = *purpose;
        let [one, two, three, four] = rest;
        let (kind, operation) = (kind.into(), operation.into());
        [
            state,
            kind,
            operation,
            rejected.into(),
            one,
            two,
            three,
            four,
        ]
    };
    match caller {
        WaiterState::Away => [0; 8],
        WaiterState::Waits {
            purpose,
            waiter,
            until,
            woken,
            answered,
        } => {
            let has_result = |since| 1 + u64::from(since < world.state.results);
            let rest = [
                waiter.waits_since.map_or(0, has_result),
                waiter.fallback_at.map_or(0, |at| left(at, world.now) + 1),
                if *woken { 0 } else { left(*until, world.now) },
                answered.map_or(0, |it| 1 + u64::from(it)),
            ];
            of(1, purpose, rest)
        }
        WaiterState::Holds { purpose, token } => {
            let current = world.state.token.as_ref();
            let newest = current.is_some_and(|it| Arc::ptr_eq(it, token));
            of(2, purpose, [newest.into(), 0, 0, 0])
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
