//! The fingerprint of a world: equal for worlds in which the same will happen, whatever the time and the numbers.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::token::search::scope::Rules;
use crate::token::search::world::{WaiterState, World};

pub(super) fn fingerprint(world: &World, rules: &Rules) -> u64 {
    let (state, now) = (&world.state, world.now);
    let left = |instant: Instant| micros(instant.saturating_duration_since(now));
    let age = |instant: Instant, most| {
        let age = now.saturating_duration_since(instant);
        micros(age.min(most))
    };
    let mut ids: Vec<u64> = world.tasks.iter().map(|task| task.id).collect();
    ids.extend(world.callers.iter().filter_map(|caller| match caller {
        WaiterState::Waits { waiter, .. } => waiter.waited_for,
        _ => None,
    }));
    ids.sort_unstable();
    ids.dedup();
    let rank = |id: u64| ids.iter().filter(|it| **it <= id).count();
    let mut out = DefaultHasher::new();
    let current = state.token.as_ref();
    if let Some(token) = current {
        let schedule = token.schedule;
        [
            schedule.renew_soon_at,
            schedule.renew_now_at,
            schedule.expires_at,
        ]
        .map(left)
        .hash(&mut out);
        token.was_accepted().hash(&mut out);
    }
    let renewal = state.renewal.as_ref();
    renewal
        .map(|it| {
            (
                rank(it.id),
                it.runtime,
                left(it.overtaken),
                left(it.overdue),
            )
        })
        .hash(&mut out);
    let failure = state.failure.as_ref();
    failure
        .map(|it| (rank(it.renewal), left(it.until)))
        .hash(&mut out);
    // From the third failure on, all backoffs are the same.
    (state.failures.min(3), rank(state.last_success)).hash(&mut out);
    state.next_routine.map_or(0, left).hash(&mut out);
    let memory = Duration::from_secs(60);
    for (key, streak) in &state.rejections.0 {
        let newest = current.is_some_and(|it| it.generation() == streak.generation);
        let until = streak.backoff_until.map_or(0, left);
        (
            key,
            streak.length.min(3),
            age(streak.last, memory),
            until,
            newest,
        )
            .hash(&mut out);
    }
    // No token lives longer.
    let oldest = rules.scope.ticks(6);
    for task in &world.tasks {
        (rank(task.id), age(task.started, oldest)).hash(&mut out);
    }
    [world.routine, world.backoff].map(left).hash(&mut out);
    world.storm.map(left).hash(&mut out);
    let mut callers: Vec<[u64; 7]> = Vec::with_capacity(world.callers.len());
    for caller in &world.callers {
        callers.push(match caller {
            WaiterState::Away => [0; 7],
            WaiterState::Waits {
                purpose,
                waiter,
                look,
                woken,
            } => [
                1,
                u64::from(purpose.kind),
                u64::from(purpose.target),
                u64::from(purpose.refused),
                waiter.waited_for.map_or(0, |id| rank(id) as u64),
                waiter.fallback_at.map_or(0, |at| left(at) + 1),
                if *woken { 0 } else { left(*look) },
            ],
            WaiterState::Holds { purpose, token } => {
                let newest = current.is_some_and(|it| Arc::ptr_eq(it, token));
                let mut words = [2; 7];
                words[1] = u64::from(purpose.kind);
                words[2] = u64::from(purpose.target);
                words[3] = u64::from(purpose.refused);
                words[4] = u64::from(newest);
                words
            }
        });
    }
    // It does not matter which caller is which.
    callers.sort_unstable();
    callers.hash(&mut out);
    out.finish()
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
