//! Invariants that hold in every state: what a caller would be told now, and how every wait ends.

use crate::token::search::scope::Rules;
use crate::token::search::world::{Broken, Event, WaiterState, World, invariant};
use crate::token::waiter::Action;

pub(super) fn check(world: &World, rules: &Rules) -> Result<(), Broken> {
    let (state, now, policy) = (&world.state, world.now, &rules.policy);
    if state.is_idle(now, policy) {
        let nothing = state.live(now).is_none() && state.renewal.is_none() && world.backoff <= now;
        invariant(nothing, "10: nothing that counts is idle")?;
    }
    if let Some(renewal) = state.renewal {
        let runs = world.tasks.iter().any(|task| task.id == renewal.id);
        invariant(runs, "4: a renewal that counts is under way")?;
    }
    let mut waits = false;
    for caller in &world.callers {
        let WaiterState::Waits { waiter, .. } = caller else {
            continue;
        };
        waits = true;
        if !caller.is_runnable(now) {
            let (action, start) = state.clone().next(now, &mut waiter.clone(), policy);
            let rests = matches!(action, Action::Wait(_)) && start.is_none();
            invariant(rests, "1: no waiter waits for what is there")?;
        }
    }
    if waits {
        calms_down(world.clone(), rules)?;
    }
    Ok(())
}

/// Every wait for a renewal ends although nothing happens but time: then its callers have started another.
fn calms_down(mut world: World, rules: &Rules) -> Result<(), Broken> {
    let begun = world.state.renewals_started();
    // A renewal is overdue after four ticks.
    for _ in 0..=4 {
        // A renewal that starts may end the oldest one, which wakes those that have looked.
        for _ in 0..2 {
            for slot in 0..world.callers.len() {
                if world.callers[slot].is_runnable(world.now) {
                    let slot = u8::try_from(slot).map_err(|_| "few callers")?;
                    world = world.after(Event::Looks(slot), rules)?;
                }
            }
        }
        let runnable = |caller: &WaiterState| caller.is_runnable(world.now);
        invariant(!world.callers.iter().any(runnable), "5: no waiter spins")?;
        let waits = |caller: &WaiterState| match caller {
            WaiterState::Waits { waiter, .. } => waiter.waited_for.is_none_or(|id| id <= begun),
            _ => false,
        };
        if !world.callers.iter().any(waits) {
            return Ok(());
        }
        world = world.after(Event::TimePasses, rules)?;
    }
    Err("5: every wait ends")
}
