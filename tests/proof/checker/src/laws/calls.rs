//! Every call ends in time, with what the server said.

use crate::event::{Effect, Failed, Told};
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
            let ended = facts.ended.is_some();
            found.hold("every call ends", call.began, !ended, || {
                format!("{call} never returned")
            });
            continue;
        };
        if *told == Told::Dropped {
            continue;
        }
        let late = call.deadline.is_some_and(|deadline| at > deadline + TICK);
        found.hold("no call outlives its deadline", at, !late, || {
            format!(
                "{call} began at {}, deadline {:?}",
                call.began, call.deadline
            )
        });
        match told {
            Told::Reply { body } | Told::Receipt { body, .. } => {
                let mut read = facts.attempts(call).filter_map(Request::delivered);
                let said = read.any(|it| it.status / 100 == 2 && it.body == *body);
                found.hold("a reply is what the server sent", at, said, || {
                    format!("{call} got a body that no server sent whole")
                });
            }
            Told::Error(failed) => fails(facts, call, at, failed, found),
            Told::Dropped => {}
        }
    }
}

/// The attempts of a call are its own, no more than its policy allows, and none is sooner than the server asks.
fn made(facts: &Facts<'_>, call: &Call<'_>, found: &mut Found) {
    let most = call.most;
    let (mut counted, mut earliest, mut rejected) = (0, 0, None);
    let (mut ended, mut unauthenticated) = (0, 0);
    for attempt in facts.attempts(call) {
        let now = attempt.departed;
        let own = attempt.suite == call.suite && call.told.is_none_or(|(end, _)| now <= end);
        found.hold("an attempt belongs to its call", now, own, || {
            format!("{call}: {attempt}")
        });
        let waited = earliest <= now + TICK;
        found.hold("no attempt is sooner than asked", now, waited, || {
            format!("{call}: {attempt}, asked to wait until {earliest}")
        });
        let first = rejected.is_none();
        found.hold("a rejected call is not sent again", now, first, || {
            format!("{call}: {attempt} after a status {rejected:?}")
        });
        let is_rejected = attempt.is_final() && !attempt.succeeded();
        rejected = attempt.status().filter(|_| is_rejected);
        let asked = attempt.is_asked(&call.asked);
        found.hold("a call sends what its caller asked for", now, asked, || {
            format!("{call}: {:?}, asked for was {:?}", attempt.sent, call.asked)
        });
        let alone = most.is_none() || ended <= now;
        let law = "the attempts of a call follow each other";
        found.hold(law, now, alone, || {
            format!("{call}: {attempt} before {ended}")
        });
        ended = attempt.ended();
        let is_unauthenticated = attempt.status() == Some(401);
        unauthenticated = u32::from(is_unauthenticated) * (unauthenticated + 1);
        let few = unauthenticated <= MOST;
        found.hold("a call stops after a few 401s", now, few, || {
            format!("{call}: {unauthenticated} in a row")
        });
        timed(call, attempt, found);
        if let (Some(wait), Some((read, _))) = (attempt.wait(), attempt.end) {
            earliest = read + wait;
        }
        counted += u32::from(!is_unauthenticated);
    }
    let allowed = most.is_none_or(|most| counted <= most.max(1));
    let law = "a call makes no more attempts than allowed";
    found.hold(law, call.began, allowed, || {
        format!("{call}: {counted} of {most:?}")
    });
}

/// An attempt takes no longer than its timeout, and is given up no sooner, unless the call itself ends.
fn timed(call: &Call<'_>, attempt: &Request<'_>, found: &mut Found) {
    let (Some((end, how)), Some(deadline)) = (attempt.end, call.deadline) else {
        return;
    };
    let (took, timeout) = (end - attempt.departed, call.timeout);
    let is_drop = |(at, told): (u64, &Told)| *told == Told::Dropped && at <= end + TICK;
    let dropped = call.told.is_none_or(is_drop);
    let given_up = how == End::Abandoned && end + TICK < deadline && !dropped;
    let kept = took <= timeout + TICK && !(given_up && took + TICK < timeout);
    found.hold("an attempt has its timeout", end, kept, || {
        format!("{call}: {attempt} took {took} of {timeout}")
    });
}

fn fails(facts: &Facts<'_>, call: &Call<'_>, at: u64, failed: &Failed, found: &mut Found) {
    let (kind, made) = (&failed.kind, call.attempts.len());
    let counts = failed.attempts as usize == made;
    found.hold("an error counts its attempts", at, counts, || {
        format!(
            "{call} says {}, the network took {made}; {kind}",
            failed.attempts
        )
    });
    let whole = facts.attempts(call).find(|it| it.succeeded());
    found.hold("a whole response is a result", at, whole.is_none(), || {
        format!(
            "{call} read the response to request {:?}; {kind}",
            whole.map(|it| it.id)
        )
    });
    let settled = facts.calm.is_none_or(|calm| call.began < calm + AFTERMATH);
    let kept = settled || failed.effect == Effect::Refused && !failed.tokenless;
    found.hold("what begins in calm succeeds", at, kept, || {
        format!("{call} failed: {kind}, {:?}", failed.effect)
    });
}
