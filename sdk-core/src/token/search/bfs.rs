//! A plain breadth-first search, which remembers fingerprints and how it came to them.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::hash::{BuildHasherDefault, Hasher};
use std::time::Instant;

use crate::token::search::fingerprint::fingerprint;
use crate::token::search::invariants;
use crate::token::search::scope::{Rules, Scope};
use crate::token::search::world::{Broken, Event, WaiterState, World};

#[derive(Debug)]
pub(super) struct Found {
    pub(super) states: usize,
    pub(super) transitions: u64,
    pub(super) depth: u32,
    /// Whether there is nothing further.
    pub(super) whole: bool,
    pub(super) seconds: f64,
    /// The first invariant that was broken, and the shortest way there.
    pub(super) broken: Option<(Broken, Vec<Event>)>,
}

/// A fingerprint is a hash already.
#[derive(Default)]
struct Same(u64);

impl Hasher for Same {
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

/// Searches until nothing is left, an invariant is broken, or so many states were seen.
pub(super) fn search(scope: Scope, most: usize) -> Found {
    let (rules, begun) = (Rules::new(scope), Instant::now());
    let mut seen = HashSet::<u64, BuildHasherDefault<Same>>::default();
    let first = World::new(&rules);
    seen.insert(fingerprint(&first, &rules));
    let mut ways: Vec<(u32, Event)> = vec![(0, Event::Start)];
    let mut found = Found {
        states: 1,
        transitions: 0,
        depth: 0,
        whole: false,
        seconds: 0.0,
        broken: None,
    };
    let mut level = vec![(0, first)];
    let mut events = Vec::new();
    'search: loop {
        if level.is_empty() {
            found.whole = true;
            break;
        }
        found.depth += 1;
        let mut next = Vec::new();
        for (at, world) in level {
            events.clear();
            world.events(&rules, &mut events);
            for &event in &events {
                found.transitions += 1;
                let after = world.after(event, &rules);
                let checked = after.and_then(|after| {
                    if !seen.insert(fingerprint(&after, &rules)) {
                        return Ok(());
                    }
                    let number = u32::try_from(ways.len()).map_err(|_| "too many states")?;
                    ways.push((at, event));
                    invariants::check(&after, &rules)?;
                    next.push((number, after));
                    Ok(())
                });
                if let Err(invariant) = checked {
                    found.broken = Some((invariant, way(&ways, at, event)));
                    break 'search;
                }
            }
            if ways.len() >= most {
                break 'search;
            }
        }
        level = next;
    }
    found.states = ways.len();
    found.seconds = begun.elapsed().as_secs_f64();
    found
}

fn way(ways: &[(u32, Event)], mut at: u32, last: Event) -> Vec<Event> {
    let mut events = vec![last];
    while at != 0 {
        let (from, event) = ways[at as usize];
        events.push(event);
        at = from;
    }
    events.reverse();
    events
}

/// What happens on a way, for people.
pub(super) fn describe_path(scope: Scope, way: &[Event]) -> String {
    let rules = Rules::new(scope);
    let (mut world, mut text) = (World::new(&rules), String::new());
    let begun = world.now;
    for &event in way {
        let at = (world.now - begun).as_secs();
        let _ = write!(text, "\n{at:>4} s {}", named(event, &scope));
        let Ok(after) = world.after(event, &rules) else {
            break;
        };
        world = after;
        let at = |instant: tokio::time::Instant| (instant - begun).as_secs_f64();
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
                WaiterState::Waits { look, .. } => write!(text, "; waits until {:.1}", at(*look)),
                WaiterState::Holds { .. } => write!(text, "; holds a token"),
            };
        }
    }
    text
}

fn named(event: Event, scope: &Scope) -> String {
    match event {
        Event::Arrives { kind, target } => {
            let kind = scope.kinds[usize::from(kind)];
            format!("arrives for target {target}: {kind:?}")
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
