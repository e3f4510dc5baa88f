//! What operations do with the tokens that callers hold.

use std::sync::Arc;

use crate::token::rejection::MAX_RENEWALS;
use crate::token::search::scope::Rules;
use crate::token::search::world::{Broken, Purpose, WaiterState, World, invariant};
use crate::token::state::State;

impl World {
    /// An operation accepts the token of a caller. Other worlds share this token, so here a copy takes its place.
    pub(super) fn accept(&mut self, slot: usize) {
        let WaiterState::Holds { token, .. } =
            std::mem::replace(&mut self.callers[slot], WaiterState::Away)
        else {
            unreachable!("only a token that is held is accepted");
        };
        let copy = Arc::new(token.fork());
        copy.mark_accepted();
        let holders = self.callers.iter_mut().filter_map(|caller| match caller {
            WaiterState::Holds { token, .. } => Some(token),
            _ => None,
        });
        for held in holders.chain(&mut self.state.token) {
            if Arc::ptr_eq(held, &token) {
                *held = Arc::clone(&copy);
            }
        }
    }

    /// An operation refuses the token of a caller.
    pub(super) fn refuse(&mut self, slot: usize, random: f64, rules: &Rules) -> Result<(), Broken> {
        let (now, policy) = (self.now, &rules.policy);
        let WaiterState::Holds { purpose, token } = self.callers[slot].clone() else {
            unreachable!("only a token that is held is refused");
        };
        let number = usize::from(purpose.target);
        let target = rules.targets[number];
        let is_held = |state: &State| {
            let held = state.token.as_ref();
            held.is_some_and(|held| Arc::ptr_eq(held, &token))
        };
        let (held, generation) = (is_held(&self.state), self.generation());
        let again = self
            .state
            .reject(&token, target, purpose.refused, now, policy, random);
        if self.generation() != generation {
            let dropped = held && self.state.token.is_none();
            invariant(dropped, "8: only the token that was rejected is dropped")?;
            let paid = token.was_accepted() || self.storm[number] <= now;
            invariant(
                paid,
                "8: an operation that refuses tokens causes no storm, whatever else it accepts",
            )?;
            if !token.was_accepted() {
                self.storm[number] = now + policy.renewal_backoff.base / 2;
            }
            self.routine = now;
        }
        invariant(
            !again || !is_held(&self.state),
            "8: no token is sent again after its 401",
        )?;
        invariant(
            purpose.refused <= MAX_RENEWALS,
            "8: a call asks for few tokens",
        )?;
        self.callers[slot] = if again {
            let refused = purpose.refused + 1;
            self.arrival(Purpose { refused, ..purpose }, rules)
        } else {
            WaiterState::Away
        };
        Ok(())
    }
}
