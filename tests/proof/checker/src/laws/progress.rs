//! A simulation ends within its limits, and without faults only rejected calls fail.

use std::collections::BTreeMap;

use crate::event::{Effect, Event, History, Micros, Told};
use crate::facts::Facts;
use crate::laws::Found;

/// How many of the callers that make no progress are named.
const NAMED: usize = 3;

pub(crate) fn hold(history: &History, facts: &Facts<'_>, found: &mut Found) {
    let mut faultless = false;
    for (at, event) in history.events() {
        match event {
            Event::Faultless => faultless = true,
            Event::Returned { call, told } if faultless => {
                let law = "without faults only rejected calls fail";
                let rejected = |effect: &Effect| *effect == Effect::Refused;
                let kept = !matches!(told, Told::Error { effect, .. } if !rejected(effect));
                found.hold(law, at, kept, || format!("call {call}: {told:?}"));
            }
            Event::Stuck { limit } => {
                found.hold("a simulation ends within its limits", at, false, || {
                    format!("{limit}; {}", stuck(facts, at))
                });
            }
            _ => {}
        }
    }
}

/// The callers that made the most calls since one of theirs got a response, the call that does not end included.
fn stuck(facts: &Facts<'_>, now: Micros) -> String {
    let mut callers = BTreeMap::new();
    for call in facts.calls.values() {
        let (made, operation) = callers.entry(call.caller).or_insert((0, ""));
        let ended = call.told.is_some_and(|(at, _)| at < now);
        let answered = ended && facts.attempts(call).any(|it| it.delivered().is_some());
        *made = if answered { 0 } else { *made + 1 };
        *operation = call.operation.as_str();
    }
    callers.retain(|_, (made, _)| *made > 0);
    let mut callers: Vec<_> = callers.into_iter().collect();
    callers.sort_by_key(|(_, (made, _))| std::cmp::Reverse(*made));
    callers.truncate(NAMED);
    let named = callers.iter().map(|(caller, (made, operation))| {
        format!("caller {caller} made {made} calls of {operation} without a response")
    });
    named.collect::<Vec<_>>().join("; ")
}
