//! The invariants of each step and of each state: the next action of a caller, and the end of every wait.

use std::sync::Arc;

use tokio::time::Instant;

use crate::token::bearer::{BearerToken, Phase};
use crate::token::policy::TokenPolicy;
use crate::token::rejection::MAX_RENEWALS;
use crate::token::search::model::{Purpose, Simulation, Step, WaiterState};
use crate::token::search::scope::{Event, Rules};
use crate::token::state::{Action, TokenResult, Waiter};

pub(super) type Violation = &'static str;

fn invariant(holds: bool, name: Violation) -> Result<(), Violation> {
    if holds { Ok(()) } else { Err(name) }
}

pub(super) fn of_step(
    before: &Simulation,
    simulation: &Simulation,
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
            of_poll(before, simulation, waiter, start.is_some(), policy)?;
            of_action(before, simulation, waiter, *answered, action, policy)
        }
        Step::Settlement {
            outcome,
            expires_at,
        } => of_settlement(before, simulation, outcome, *expires_at),
        Step::Rejection {
            purpose,
            token,
            resends,
        } => of_rejection(before, simulation, token, *purpose, *resends),
    }
}

fn of_poll(
    before: &Simulation,
    simulation: &Simulation,
    waiter: &Waiter,
    starts: bool,
    policy: &TokenPolicy,
) -> Result<(), Violation> {
    let (state, now) = (&simulation.state, simulation.now);
    let same = simulation.generation() == before.generation();
    invariant(same, "2: a poll changes no token")?;
    let renewal = before.state.renewal;
    if let Some(renewal) = renewal.filter(|it| !state.is_current(it.id)) {
        let limit = if renewal.runtime == waiter.runtime {
            policy.renewal_timeout + policy.min_interval
        } else {
            policy.exchange_timeout
        };
        let overdue = before.started + limit <= now;
        invariant(overdue, "4: only an overdue renewal is abandoned")?;
    }
    let due = simulation.backoff <= now && simulation.routine <= now;
    invariant(due || !starts, "6: no renewal starts before its time")
}

/// The invariants of a caller's next action; `answered` states whether the renewal it waited for has ended.
fn of_action(
    before: &Simulation,
    simulation: &Simulation,
    waiter: &Waiter,
    answered: bool,
    action: &Action,
    policy: &TokenPolicy,
) -> Result<(), Violation> {
    let now = simulation.now;
    match action {
        Action::Use(token) => invariant(token.expires_at() > now, "3: no expired token is used"),
        Action::Fail(_) => {
            let live = before.state.live(now).is_some();
            invariant(!live, "7: no caller with a live token fails")?;
            let failed = simulation.state.failure.is_some();
            invariant(failed, "7: a caller fails only after a failed renewal")
        }
        Action::Wait(until) => {
            of_wait(simulation, waiter, *until, policy)?;
            of_reason_to_wait(before, simulation, answered, waiter, *until)
        }
    }
}

fn of_wait(
    simulation: &Simulation,
    waiter: &Waiter,
    until: Instant,
    policy: &TokenPolicy,
) -> Result<(), Violation> {
    let now = simulation.now;
    let renewal = simulation
        .state
        .renewal
        .ok_or("5: no wait without a renewal")?;
    let limit = now + policy.renewal_timeout + policy.min_interval;
    let bound = until <= renewal.overdue && renewal.overdue <= limit;
    invariant(bound, "5: every wait has a limit")?;
    invariant(until > now, "5: no wait ends in the past")?;
    let own = renewal.runtime == waiter.runtime;
    invariant(
        own || until <= simulation.started + policy.exchange_timeout,
        "5: another runtime's renewal is abandoned in time",
    )
}

fn of_reason_to_wait(
    before: &Simulation,
    simulation: &Simulation,
    answered: bool,
    waiter: &Waiter,
    until: Instant,
) -> Result<(), Violation> {
    let (state, now) = (&simulation.state, simulation.now);
    let shares = answered && state.failure.is_some();
    invariant(
        !shares,
        "6: a caller that waited for a failed renewal gets its error",
    )?;
    if let Some(token) = before.state.live(now) {
        invariant(!answered, "1: a caller that waited for a token uses it")?;
        let rest = token.expires_at() - now;
        let due = token.phase(now) == Phase::RenewNow && rest < waiter.min_validity;
        let must = due && state.failure.is_none();
        invariant(must, "1: no caller waits while its token lasts")?;
        invariant(
            until <= now + rest / 2,
            "5: half of a live token's lifetime is left",
        )?;
    }
    Ok(())
}

/// The invariants of the end of a renewal. `expires_at` is the expiry of its token, if any.
fn of_settlement(
    before: &Simulation,
    simulation: &Simulation,
    outcome: &TokenResult,
    expires_at: Option<Instant>,
) -> Result<(), Violation> {
    let now = simulation.now;
    let changed = simulation.generation() != before.generation();
    let (held, live) = (before.state.live(now), simulation.state.live(now));
    let lost = held.is_some() && live.is_none();
    invariant(!lost, "2: no live token is lost")?;
    invariant(live.is_some() || !changed, "3: no expired token is cached")?;
    if let (Some(held), Some(live)) = (&held, &live) {
        let longer = !changed || live.expires_at() > held.expires_at();
        invariant(longer, "2: no token replaces a longer-lived token")?;
    }
    let held = held.map(|held| held.expires_at());
    let best = expires_at.into_iter().chain(held).max();
    if let Some(best) = best.filter(|best| *best > now) {
        let cached = live.is_some_and(|live| live.expires_at() == best);
        invariant(cached, "2: the longer-lived token is cached")?;
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

/// The invariants of a call that gets a 401 for `token`; `resends` states whether it is resent.
fn of_rejection(
    before: &Simulation,
    simulation: &Simulation,
    token: &Arc<BearerToken>,
    purpose: Purpose,
    resends: bool,
) -> Result<(), Violation> {
    let is_cached = |simulation: &Simulation| {
        let cached = simulation.state.token.as_ref();
        cached.is_some_and(|cached| Arc::ptr_eq(cached, token))
    };
    if simulation.generation() != before.generation() {
        let dropped = is_cached(before) && simulation.state.token.is_none();
        invariant(dropped, "8: only the rejected token is dropped")?;
        let storm = before.storm[usize::from(purpose.operation)];
        invariant(
            token.was_accepted() || storm <= simulation.now,
            "8: an operation that rejects tokens doesn't cause a renewal per call",
        )?;
    }
    let repeats = resends && is_cached(simulation);
    invariant(!repeats, "8: no token is sent again after its 401")?;
    let few = purpose.rejected <= MAX_RENEWALS;
    invariant(few, "8: a call requests few tokens")
}

pub(super) fn of_state(simulation: &Simulation, rules: &Rules) -> Result<(), Violation> {
    let (state, now, policy) = (&simulation.state, simulation.now, &rules.policy);
    if state.is_idle(now, policy) {
        let unused =
            state.live(now).is_none() && state.renewal.is_none() && simulation.backoff <= now;
        invariant(unused, "9: no state in use is idle")?;
    }
    if let Some(renewal) = state.renewal {
        let runs = simulation.tasks.iter().any(|task| task.id == renewal.id);
        invariant(runs, "4: a renewal that counts is in flight")?;
    }
    for caller in &simulation.callers {
        let WaiterState::Waits { waiter, .. } = caller else {
            continue;
        };
        if !caller.is_runnable(now) {
            let (action, start) = state.clone().next(now, &mut waiter.clone(), policy);
            let rests = matches!(action, Action::Wait(_)) && start.is_none();
            invariant(rests, "1: no caller waits for an available result")?;
        }
    }
    if simulation.callers.iter().any(WaiterState::waits) {
        all_waits_end(simulation.clone(), rules)?;
    }
    Ok(())
}

/// Checks that every wait for a renewal ends if only time passes. By then, its callers have started a new renewal.
fn all_waits_end(mut simulation: Simulation, rules: &Rules) -> Result<(), Violation> {
    let started = simulation.state.last_id;
    let mut waits: Vec<bool> = simulation.callers.iter().map(WaiterState::waits).collect();
    // A renewal is overdue after four ticks.
    for _ in 0..=4 {
        // A new renewal may end the oldest renewal, which wakes the callers that have polled.
        for _ in 0..2 {
            for (slot, waits) in waits.iter_mut().enumerate() {
                if simulation.callers[slot].is_runnable(simulation.now) {
                    let poll = Event::Polls(u8::try_from(slot).map_err(|_| "few callers")?);
                    let (after, step) = simulation.after(poll, rules);
                    of_step(&simulation, &after, &step, &rules.policy)?;
                    simulation = after;
                    let same = (simulation.state.renewal).is_some_and(|it| it.id <= started);
                    *waits = same && simulation.callers[slot].waits();
                }
            }
        }
        let runnable = |caller: &WaiterState| caller.is_runnable(simulation.now);
        invariant(
            !simulation.callers.iter().any(runnable),
            "5: no waiter spins",
        )?;
        if !waits.contains(&true) {
            return Ok(());
        }
        simulation = simulation.after(Event::TimePasses, rules).0;
    }
    Err("5: every wait ends")
}
