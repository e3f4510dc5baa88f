//! Every call ends in time, with what the server said.

use crate::event::{Effect, Told};
use crate::facts::{Call, Facts, TICK};
use crate::laws::Found;
use crate::request::{End, Request};

/// How many attempts in a row may get a 401: the first, and one for each token that died early.
const MOST: u32 = 4;

/// What retries, backoffs and tokens need until an outage is forgotten.
const AFTERMATH: u64 = 180_000_000;

pub(crate) fn hold(facts: &Facts<'_>, found: &mut Found) {
    for call in facts.calls.values() {
        made(facts, call, found);
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

/// The attempts of a call are its own, no more than its policy allows, and none is sooner than the server asks.
fn made(facts: &Facts<'_>, call: &Call<'_>, found: &mut Found) {
    let (mut counted, mut earliest, mut rejected) = (0, 0, None);
    let (mut ended, mut unauthenticated) = (0, 0);
    for attempt in facts.attempts(call) {
        let (now, id) = (attempt.departed, attempt.id);
        let own = attempt.suite == call.suite && call.told.is_none_or(|(end, _)| now <= end);
        found.hold("an attempt belongs to its call", now, own, || {
            format!("call {}: request {id} of suite {}", call.id, attempt.suite)
        });
        found.hold(
            "no attempt is sooner than asked",
            now,
            earliest <= now + TICK,
            || {
                format!(
                    "call {}: request {id}, asked to wait until {earliest}",
                    call.id
                )
            },
        );
        found.hold(
            "a rejected call is not sent again",
            now,
            rejected.is_none(),
            || format!("call {}: request {id} after a status {rejected:?}", call.id),
        );
        rejected = attempt
            .status()
            .filter(|_| attempt.is_final() && !attempt.succeeded());
        let asked = attempt.is_asked(call.asked);
        found.hold("a call sends what its caller asked for", now, asked, || {
            format!(
                "call {}: {:?}, asked for was {:?}",
                call.id, attempt.sent, call.asked
            )
        });
        let alone = call.most.is_none() || ended <= now;
        found.hold(
            "the attempts of a call follow each other",
            now,
            alone,
            || format!("call {}: request {id} before {ended}", call.id),
        );
        ended = attempt.end.map_or(u64::MAX, |(end, _)| end);
        unauthenticated = if attempt.status() == Some(401) {
            unauthenticated + 1
        } else {
            0
        };
        found.hold(
            "a call stops after a few 401s",
            now,
            unauthenticated <= MOST,
            || format!("call {}: {unauthenticated} in a row", call.id),
        );
        timed(call, attempt, found);
        let answer = attempt.delivered();
        if let (Some(wait), Some((read, _))) = (answer.and_then(|it| it.wait), attempt.end) {
            earliest = read + wait;
        }
        counted += u32::from(answer.is_none_or(|it| it.status != 401));
    }
    let allowed = call.most.is_none_or(|most| counted <= most.max(1));
    found.hold(
        "a call makes no more attempts than allowed",
        call.began,
        allowed,
        || {
            format!(
                "call {} of {}: {counted} of {:?}",
                call.id, call.operation, call.most
            )
        },
    );
}

/// An attempt takes no longer than its timeout, and is given up no sooner, unless the call itself ends.
fn timed(call: &Call<'_>, attempt: &Request<'_>, found: &mut Found) {
    let (Some((end, how)), Some(deadline)) = (attempt.end, call.deadline) else {
        return;
    };
    let took = end - attempt.departed;
    let dropped = call
        .told
        .is_none_or(|(at, told)| *told == Told::Dropped && at <= end + TICK);
    let given_up = how == End::Abandoned && end + TICK < deadline && !dropped;
    let kept = took <= call.timeout + TICK && !(given_up && took + TICK < call.timeout);
    found.hold("an attempt has its timeout", end, kept, || {
        format!(
            "call {}: request {} took {took} of {}",
            call.id, attempt.id, call.timeout
        )
    });
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
            command: _,
        } => {
            let made = call.attempts.len();
            found.hold(
                "an error counts its attempts",
                at,
                *attempts as usize == made,
                || format!("call {id} says {attempts}, the network took {made}; {kind}"),
            );
            let whole = facts.attempts(call).find(|it| it.succeeded());
            found.hold("a whole response is a result", at, whole.is_none(), || {
                let request = whole.map(|it| it.id);
                format!("call {id} read the response to request {request:?}; {kind}")
            });
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
