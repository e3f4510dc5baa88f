//! An error states the effect of its call, as the network and the service saw it.

use crate::event::{Effect, Told};
use crate::facts::{Call, Facts};
use crate::laws::Found;
use crate::request::Request;

pub(crate) fn hold(facts: &Facts<'_>, found: &mut Found) {
    for call in facts.calls.values() {
        let Some((at, Told::Error { effect, kind, .. })) = call.told else {
            continue;
        };
        let (law, kept) = match effect {
            Effect::NotSent => ("not sent: the service saw nothing", not_sent(facts, call)),
            Effect::Refused => ("refused: the service said so", refused(facts, call)),
            Effect::Unknown => ("unknown: an attempt is open", facts.is_open(call)),
        };
        found.hold(law, at, kept, || {
            let seen = facts.attempts(call).map(|it| (it.id, it.status(), it.end));
            let seen: Vec<_> = seen.collect();
            let (id, operation) = (call.id, &call.operation);
            format!("call {id} of {operation}: {kind} says {effect:?} after {seen:?}")
        });
    }
}

/// No attempt was sent, and no earlier call with the same command is open.
fn not_sent(facts: &Facts<'_>, call: &Call<'_>) -> bool {
    !facts.attempts(call).any(Request::was_sent) && !facts.resends_open(call)
}

/// An attempt of this call was rejected, none succeeded, and none is open.
fn refused(facts: &Facts<'_>, call: &Call<'_>) -> bool {
    let rejected = facts.attempts(call).any(Request::was_rejected);
    let succeeded = facts.attempts(call).any(Request::succeeded);
    rejected && !succeeded && !facts.is_open(call)
}
