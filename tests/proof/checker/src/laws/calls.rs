//! Every call ends in time, with what the server said.

use crate::event::{Effect, Told};
use crate::facts::{Call, Facts};
use crate::laws::Found;

/// The timer of a runtime counts whole milliseconds.
const TICK: u64 = 2_000;

/// What retries, backoffs and tokens need until an outage is forgotten.
const AFTERMATH: u64 = 180_000_000;

pub(crate) fn hold(facts: &Facts<'_>, found: &mut Found) {
    for call in facts.calls.values() {
        let Some((at, told)) = call.told else {
            let (ended, id) = (facts.ended, call.id);
            found.hold("every call ends", call.began, ended.is_none(), || {
                format!("call {id} of {} never returned", call.operation)
            });
            continue;
        };
        if *told == Told::Dropped {
            continue;
        }
        let late = call.deadline.is_some_and(|deadline| at > deadline + TICK);
        found.hold("no call outlives its deadline", at, !late, || {
            format!(
                "call {} began at {}, deadline {:?}",
                call.id, call.began, call.deadline
            )
        });
        answered(facts, call, at, told, found);
    }
}

fn answered(facts: &Facts<'_>, call: &Call<'_>, at: u64, told: &Told, found: &mut Found) {
    let id = call.id;
    match told {
        Told::Reply { body } | Told::Receipt { body, .. } => {
            let said = facts.attempts(call).any(|attempt| {
                let delivered = attempt.delivered();
                delivered.is_some_and(|it| it.status / 100 == 2 && it.body == *body)
            });
            found.hold("a reply is what the server sent", at, said, || {
                format!(
                    "call {id} of {} got a body that no server sent whole",
                    call.operation
                )
            });
        }
        Told::Error {
            effect,
            kind,
            tokenless,
            attempts,
        } => {
            let made = call.attempts.len();
            found.hold(
                "an error counts its attempts",
                at,
                *attempts as usize == made,
                || format!("call {id} says {attempts}, the network took {made}; {kind}"),
            );
            let settled = facts.calm.is_none_or(|calm| call.began < calm + AFTERMATH);
            let fails = *effect != Effect::Refused || *tokenless;
            found.hold(
                "what begins in calm succeeds",
                at,
                settled || !fails,
                || format!("call {id} of {} failed: {kind}, {effect:?}", call.operation),
            );
        }
        Told::Dropped => {}
    }
}
