//! What operations do with the tokens that callers hold.

use std::sync::Arc;

use crate::token::rejection::{MOST_RENEWALS, Rejection};
use crate::token::search::scope::Rules;
use crate::token::search::world::{Broken, Errand, Place, World, law};
use crate::token::state::State;

impl World {
    /// An operation accepts the token of a caller. Other worlds share this token, so here a copy takes its place.
    pub(super) fn accept(&mut self, slot: usize) {
        let Place::Holds { token, .. } = std::mem::replace(&mut self.callers[slot], Place::Away)
        else {
            unreachable!("only a token that is held is accepted");
        };
        let copy = Arc::new(token.fork());
        copy.mark_accepted();
        let holders = self.callers.iter_mut().filter_map(|place| match place {
            Place::Holds { token, .. } => Some(token),
            _ => None,
        });
        for held in holders.chain(&mut self.state.token) {
            if Arc::ptr_eq(held, &token) {
                *held = Arc::clone(&copy);
            }
        }
    }

    /// An operation refuses the token of a caller.
    pub(super) fn refuse(&mut self, slot: usize, roll: f64, rules: &Rules) -> Result<(), Broken> {
        let (now, policy) = (self.now, &rules.policy);
        let Place::Holds { errand, token } = self.callers[slot].clone() else {
            unreachable!("only a token that is held is refused");
        };
        let number = usize::from(errand.target);
        let target = rules.targets[number];
        let is_held = |state: &State| {
            let held = state.token.as_ref();
            held.is_some_and(|held| Arc::ptr_eq(held, &token))
        };
        let (held, generation) = (is_held(&self.state), self.generation());
        let rejection = self
            .state
            .reject(&token, target, errand.refused, now, policy, roll);
        if rejection == Rejection::Dropped {
            law!(held, "8: only the token that was refused is dropped");
            law!(self.state.token.is_none(), "8: what is dropped is gone");
            let paid = token.was_accepted() || self.storm[number] <= now;
            law!(
                paid,
                "8: an operation that refuses tokens causes no storm, whatever else it accepts"
            );
            if !token.was_accepted() {
                self.storm[number] = now + policy.renewal_backoff.base / 2;
            }
            self.routine = now;
        } else {
            law!(self.generation() == generation, "8: what is kept stays");
        }
        let again = rejection.allows_resend();
        law!(
            !again || !is_held(&self.state),
            "8: no token is sent again after its 401"
        );
        law!(
            errand.refused <= MOST_RENEWALS,
            "8: a call asks for few tokens"
        );
        self.callers[slot] = if again {
            let refused = errand.refused + 1;
            self.arrival(Errand { refused, ..errand }, rules)
        } else {
            Place::Away
        };
        Ok(())
    }
}
