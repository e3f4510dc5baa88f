//! Invariants of each step, and of every state: what a caller would get now, and how every wait ends.

use std::sync::Arc;

use tokio::time::Instant;

use crate::token::bearer::{BearerToken, Phase};
use crate::token::policy::TokenPolicy;
use crate::token::rejection::MAX_RENEWALS;
use crate::token::search::model::{Purpose, Step, WaiterState, World};
use crate::token::search::scope::{Event, Rules};
use crate::token::state::{Action, TokenResult, Waiter};

/// The invariant that does not hold.
pub(super) type Violation = &'static str;

fn invariant(holds: bool, name: Violation) -> Result<(), Violation> {
    if holds { Ok(()) } else { Err(name) }
}

/// The invariants of a step from one world to the next.
pub(super) fn of_step(
    before: &World,
    world: &World,
    step: &Step,
    policy: &TokenPolicy,
) -> Result<(), Violation> {
    match step {
        Step::None => Ok(()),
        Step::Poll {
            answered,
            after: waiter,
            action,
            start,
        } => {
            of_poll(before, world, waiter, start.is_some(), policy)?;
            of_action(before, world, waiter, *answered, action, policy)
        }
        Step::Settlement {
            outcome,
            expires_at,
        } => of_settlement(before, world, outcome, *expires_at),
        Step::Rejection {
            purpose,
            token,
            resends,
        } => of_rejection(before, world, token, *purpose, *resends),
    }
}

/// The invariants of a caller that asks what to do.
fn of_poll(
    before: &World,
    world: &World,
    waiter: &Waiter,
    starts: bool,
    policy: &TokenPolicy,
) -> Result<(), Violation> {
    let (state, now) = (&world.state, world.now);
    let same = world.generation() == before.generation();
    invariant(same, "2: a poll changes no token")?;
    let renewal = before.state.renewal;
    if let Some(renewal) = renewal.filter(|it| !state.is_current(it.id)) {
        let limit = if renewal.runtime == waiter.runtime {
            policy.renewal_timeout + policy.min_interval
        } else {
            policy.exchange_timeout
        };
        let hopeless = before.started + limit <= now;
        invariant(hopeless, "4: only a renewal without hope is abandoned")?;
    }
    let due = world.backoff <= now && world.routine <= now;
    invariant(due || !starts, "6: no renewal starts before its time")
}

/// The invariants of what a caller does next; `answered` says whether what it waited for has come.
fn of_action(
    before: &World,
    world: &World,
    waiter: &Waiter,
    answered: bool,
    action: &Action,
    policy: &TokenPolicy,
) -> Result<(), Violation> {
    let now = world.now;
    match action {
        Action::Use(token) => invariant(token.expires_at() > now, "3: no expired token is used"),
        Action::Fail(_) => {
            let live = before.state.live(now).is_some();
            invariant(!live, "7: no caller with a live token fails")?;
            let failed = world.state.failure.is_some();
            invariant(failed, "7: no failure without a reason")
        }
        Action::Wait(until) => {
            of_wait(world, waiter, *until, policy)?;
            of_reason_to_wait(before, world, answered, waiter, *until)
        }
    }
}

/// The invariants of a caller that waits from now on.
fn of_wait(
    world: &World,
    waiter: &Waiter,
    until: Instant,
    policy: &TokenPolicy,
) -> Result<(), Violation> {
    let now = world.now;
    let renewal = world.state.renewal.ok_or("5: no wait without a renewal")?;
    let limit = now + policy.renewal_timeout + policy.min_interval;
    let bound = until <= renewal.overdue && renewal.overdue <= limit;
    invariant(bound, "5: every wait has an end")?;
    invariant(until > now, "5: no waiter waits for what is over")?;
    let own = renewal.runtime == waiter.runtime;
    invariant(
        own || until <= world.started + policy.exchange_timeout,
        "5: another runtime's renewal is overtaken in time",
    )
}

/// Whether a caller that waits has a reason to.
fn of_reason_to_wait(
    before: &World,
    world: &World,
    answered: bool,
    waiter: &Waiter,
    until: Instant,
) -> Result<(), Violation> {
    let (state, now) = (&world.state, world.now);
    let shares = answered && state.failure.is_some();
    invariant(!shares, "6: who waited for a failed renewal gets its error")?;
    if let Some(token) = before.state.live(now) {
        invariant(!answered, "1: who waited for a token uses it")?;
        let rest = token.expires_at() - now;
        let due = token.phase(now) == Phase::RenewNow && rest < waiter.min_validity;
        let must = due && state.failure.is_none();
        invariant(must, "1: no caller waits although its token lasts")?;
        invariant(until <= now + rest / 2, "5: half of a live token is left")?;
    }
    Ok(())
}

/// The invariants of the end of a renewal whose token, if it has one, expires at `expires_at`.
fn of_settlement(
    before: &World,
    world: &World,
    outcome: &TokenResult,
    expires_at: Option<Instant>,
) -> Result<(), Violation> {
    let now = world.now;
    let changed = world.generation() != before.generation();
    let (held, live) = (before.state.live(now), world.state.live(now));
    let lost = held.is_some() && live.is_none();
    invariant(!lost, "2: no live token is lost")?;
    invariant(live.is_some() || !changed, "3: no expired token is cached")?;
    if let (Some(held), Some(live)) = (&held, &live) {
        let longer = !changed || live.expires_at() > held.expires_at();
        invariant(longer, "2: no token replaces one that lives longer")?;
    }
    let held = held.map(|held| held.expires_at());
    let best = expires_at.into_iter().chain(held).max();
    if let Some(best) = best.filter(|best| *best > now) {
        let cached = live.is_some_and(|live| live.expires_at() == best);
        invariant(cached, "2: the token that lives longer is cached")?;
    }
    match outcome {
        Ok(token) => {
            let lives = token.expires_at() > now;
            invariant(lives, "3: no expired token is reported")?;
            let delivered = expires_at.is_some();
            invariant(delivered, "6: no failure is reported as a success")
        }
        Err(_) => invariant(!changed, "2: a failure changes no token"),
    }
}

/// The invariants of a call that gets a 401 for `token`; `resends` says whether it is resent.
fn of_rejection(
    before: &World,
    world: &World,
    token: &Arc<BearerToken>,
    purpose: Purpose,
    resends: bool,
) -> Result<(), Violation> {
    let is_cached = |world: &World| {
        let cached = world.state.token.as_ref();
        cached.is_some_and(|cached| Arc::ptr_eq(cached, token))
    };
    if world.generation() != before.generation() {
        let dropped = is_cached(before) && world.state.token.is_none();
        invariant(dropped, "8: only the token that was rejected is dropped")?;
        let storm = before.storm[usize::from(purpose.operation)];
        invariant(
            token.was_accepted() || storm <= world.now,
            "8: an operation that rejects tokens causes no storm, whatever else it accepts",
        )?;
    }
    let repeats = resends && is_cached(world);
    invariant(!repeats, "8: no token is sent again after its 401")?;
    let few = purpose.rejected <= MAX_RENEWALS;
    invariant(few, "8: a call asks for few tokens")
}

/// The invariants of a state.
pub(super) fn of_state(world: &World, rules: &Rules) -> Result<(), Violation> {
    let (state, now, policy) = (&world.state, world.now, &rules.policy);
    if state.is_idle(now, policy) {
        let nothing = state.live(now).is_none() && state.renewal.is_none() && world.backoff <= now;
        invariant(nothing, "9: nothing that counts is idle")?;
    }
    if let Some(renewal) = state.renewal {
        let runs = world.tasks.iter().any(|task| task.id == renewal.id);
        invariant(runs, "4: a renewal that counts is in flight")?;
    }
    for caller in &world.callers {
        let WaiterState::Waits { waiter, .. } = caller else {
            continue;
        };
        if !caller.is_runnable(now) {
            let (action, start) = state.clone().next(now, &mut waiter.clone(), policy);
            let rests = matches!(action, Action::Wait(_)) && start.is_none();
            invariant(rests, "1: no waiter waits for what is there")?;
        }
    }
    if world.callers.iter().any(WaiterState::waits) {
        all_waits_end(world.clone(), rules)?;
    }
    Ok(())
}

/// Every wait for a renewal ends although nothing happens but time: then its callers have started another.
fn all_waits_end(mut world: World, rules: &Rules) -> Result<(), Violation> {
    let started = world.state.last_id;
    let mut waits: Vec<bool> = world.callers.iter().map(WaiterState::waits).collect();
    // A renewal is overdue after four ticks.
    for _ in 0..=4 {
        // A renewal that starts may end the oldest one, which wakes those that have polled.
        for _ in 0..2 {
            for (slot, waits) in waits.iter_mut().enumerate() {
                if world.callers[slot].is_runnable(world.now) {
                    let poll = Event::Polls(u8::try_from(slot).map_err(|_| "few callers")?);
                    let (after, step) = world.after(poll, rules);
                    of_step(&world, &after, &step, &rules.policy)?;
                    world = after;
                    let same = (world.state.renewal).is_some_and(|it| it.id <= started);
                    *waits = same && world.callers[slot].waits();
                }
            }
        }
        let runnable = |caller: &WaiterState| caller.is_runnable(world.now);
        invariant(!world.callers.iter().any(runnable), "5: no waiter spins")?;
        if !waits.contains(&true) {
            return Ok(());
        }
        world = world.after(Event::TimePasses, rules).0;
    }
    Err("5: every wait ends")
}
