//! A simulation ends within its limits, only rejected calls fail without faults, and no line contains a secret.

use std::collections::BTreeMap;

use crate::event::{Effect, Event, Micros, Outcome};
use crate::facts::Facts;
use crate::invariants::Found;

/// The number of stuck callers to name.
const NAMED: usize = 3;

pub(crate) fn check(facts: &Facts<'_>, found: &mut Found) {
    let secrets = facts.events.iter().filter_map(|(_, event)| match event {
        Event::Secret { text } => Some(text.as_str()),
        _ => None,
    });
    let secrets: Vec<&str> = secrets.collect();
    let mut faultless = false;
    for (at, event) in facts.events {
        match event {
            Event::Faultless => faultless = true,
            Event::Returned { call, outcome } if faultless => {
                let invariant = "without faults only rejected calls fail";
                let satisfied =
                    !matches!(outcome, Outcome::Error(it) if it.effect != Effect::Refused);
                found.require(invariant, *at, satisfied, || {
                    format!("call {call}: {outcome:?}")
                });
            }
            Event::Stuck { limit } => {
                found.require("a simulation ends within its limits", *at, false, || {
                    format!("{limit}; {}", stuck(facts, *at))
                });
            }
            Event::Logged { line } => {
                let shows = secrets.iter().position(|secret| line.contains(secret));
                found.require("no line contains a secret", *at, shows.is_none(), || {
                    // Printing the complete line would print the secret.
                    let start: String = line.chars().take(40).collect();
                    format!("secret {shows:?} in a line that begins with {start:?}")
                });
            }
            _ => {}
        }
    }
}

/// Returns the callers with the most calls since their last response. The call that does not end counts too.
fn stuck(facts: &Facts<'_>, now: Micros) -> String {
    let mut callers = BTreeMap::new();
    for call in facts.calls.values() {
        let (made, operation) = callers.entry(call.caller).or_insert((0, ""));
        let ended = call.outcome.is_some_and(|(at, _)| at < now);
        let answered = ended && facts.attempts(call).any(|it| it.delivered().is_some());
        *made = if answered { 0 } else { *made + 1 };
        *operation = call.operation.as_str();
    }
    let mut callers: Vec<_> = callers.into_iter().filter(|(_, it)| it.0 > 0).collect();
    callers.sort_by_key(|(_, (made, _))| std::cmp::Reverse(*made));
    let named = callers
        .iter()
        .take(NAMED)
        .map(|(caller, (made, operation))| {
            format!("caller {caller} made {made} calls of {operation} without a response")
        });
    named.collect::<Vec<_>>().join("; ")
}
