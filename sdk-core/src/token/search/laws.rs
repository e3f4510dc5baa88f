//! Laws that hold in every state: what a caller would be told now, and how every wait ends.

use crate::token::caller::Step;
use crate::token::search::scope::Rules;
use crate::token::search::world::{Broken, Event, Place, World, law};

pub(super) fn check(world: &World, rules: &Rules) -> Result<(), Broken> {
    let (state, now, policy) = (&world.state, world.now, &rules.policy);
    if state.is_idle(now, policy) {
        let nothing = state.live(now).is_none() && state.flight.is_none() && world.backoff <= now;
        law!(nothing, "10: nothing that counts is idle");
    }
    if let Some(flight) = state.flight {
        let runs = world.tasks.iter().any(|task| task.id == flight.id);
        law!(runs, "4: a renewal that counts is under way");
    }
    let mut waits = false;
    for place in &world.callers {
        let Place::Waits { caller, .. } = place else {
            continue;
        };
        waits = true;
        if !place.is_runnable(now) {
            let decision = state.clone().next(now, &mut caller.clone(), policy);
            let rests = matches!(decision.step, Step::Wait(_)) && decision.start.is_none();
            law!(rests, "1: no caller waits for what is there");
        }
    }
    if waits {
        calms_down(world.clone(), rules)?;
    }
    Ok(())
}

/// Every wait for a renewal ends although nothing happens but time: then its callers have started another.
fn calms_down(mut world: World, rules: &Rules) -> Result<(), Broken> {
    let begun = world.state.flights();
    // A renewal is overdue after four ticks.
    for _ in 0..=4 {
        // Those that wake each other look a second time.
        for _ in 0..2 + world.callers.len() {
            for slot in 0..world.callers.len() {
                if world.callers[slot].is_runnable(world.now) {
                    let slot = u8::try_from(slot).map_err(|_| "few callers")?;
                    world = world.after(Event::Looks(slot), rules)?;
                }
            }
        }
        let runnable = |place: &Place| place.is_runnable(world.now);
        law!(!world.callers.iter().any(runnable), "5: no caller spins");
        let waits = |place: &Place| match place {
            Place::Waits { caller, .. } => caller.waited().is_none_or(|id| id <= begun),
            _ => false,
        };
        if !world.callers.iter().any(waits) {
            return Ok(());
        }
        world = world.after(Event::TimePasses, rules)?;
    }
    Err("5: every wait ends")
}
