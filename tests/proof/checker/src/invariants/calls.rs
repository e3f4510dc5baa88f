//! Every call ends in time, with the server's result.

use crate::event::{Effect, Failed, Outcome};
use crate::facts::{Call, Facts, TICK};
use crate::invariants::Found;
use crate::request::{End, Request};

/// The number of consecutive attempts that may get a 401: the first attempt, and one for each token that ended early.
const MOST: u32 = 4;

/// The time after the last fault that retries, backoffs and tokens need to recover.
const AFTERMATH: u64 = 180_000_000;

pub(crate) fn check(facts: &Facts<'_>, found: &mut Found) {
    for call in facts.calls.values() {
        made(facts, call, found);
        let Some((at, outcome)) = call.outcome else {
            let ended = facts.ended.is_some();
            found.require("every call ends", call.began, !ended, || {
                format!("{call} never returned")
            });
            continue;
        };
        if *outcome == Outcome::Dropped {
            continue;
        }
        let late = call.deadline.is_some_and(|deadline| at > deadline + TICK);
        found.require("no call outlives its deadline", at, !late, || {
            format!(
                "{call} began at {}, deadline {:?}",
                call.began, call.deadline
            )
        });
        match outcome {
            Outcome::Response { body } | Outcome::Receipt { body, .. } => {
                let mut read = facts.attempts(call).filter_map(Request::delivered);
                let matches = read.any(|it| it.status / 100 == 2 && it.body == *body);
                found.require(
                    "a result matches the server's response",
                    at,
                    matches,
                    || format!("{call} got a body that no server sent completely"),
                );
            }
            Outcome::Error(failed) => fails(facts, call, at, failed, found),
            Outcome::Dropped => {}
        }
    }
}

/// Checks that attempts belong to their call, stay within its policy, and are not earlier than the server asks.
fn made(facts: &Facts<'_>, call: &Call<'_>, found: &mut Found) {
    let most = call.most;
    let (mut counted, mut earliest, mut rejected) = (0, 0, None);
    let (mut ended, mut unauthenticated) = (0, 0);
    for attempt in facts.attempts(call) {
        let now = attempt.departed;
        let own = attempt.suite == call.suite && call.outcome.is_none_or(|(end, _)| now <= end);
        found.require("an attempt belongs to its call", now, own, || {
            format!("{call}: {attempt}")
        });
        let waited = earliest <= now + TICK;
        found.require(
            "no attempt is earlier than the server asked",
            now,
            waited,
            || format!("{call}: {attempt}, asked to wait until {earliest}"),
        );
        let first = rejected.is_none();
        found.require("a rejected call is not retried", now, first, || {
            format!("{call}: {attempt} after a status {rejected:?}")
        });
        let is_rejected = attempt.is_final() && !attempt.succeeded();
        rejected = attempt.status().filter(|_| is_rejected);
        let asked = attempt.is_asked(&call.asked);
        found.require("a call sends its caller's request", now, asked, || {
            format!("{call}: {:?}, requested: {:?}", attempt.sent, call.asked)
        });
        let alone = most.is_none() || ended <= now;
        let invariant = "a call's attempts don't overlap";
        found.require(invariant, now, alone, || {
            format!("{call}: {attempt} before {ended}")
        });
        ended = attempt.ended();
        let is_unauthenticated = attempt.status() == Some(401);
        unauthenticated = u32::from(is_unauthenticated) * (unauthenticated + 1);
        let few = unauthenticated <= MOST;
        found.require("a call stops after a few 401s", now, few, || {
            format!("{call}: {unauthenticated} in a row")
        });
        timed(call, attempt, found);
        if let (Some(wait), Some((read, _))) = (attempt.wait(), attempt.end) {
            earliest = read + wait;
        }
        counted += u32::from(!is_unauthenticated);
    }
    let allowed = most.is_none_or(|most| counted <= most.max(1));
    let invariant = "a call makes no more attempts than allowed";
    found.require(invariant, call.began, allowed, || {
        format!("{call}: {counted} of {most:?}")
    });
}

/// Checks that an attempt takes no longer than its timeout, and is not abandoned earlier unless the call itself ends.
fn timed(call: &Call<'_>, attempt: &Request<'_>, found: &mut Found) {
    let (Some((end, how)), Some(deadline)) = (attempt.end, call.deadline) else {
        return;
    };
    let (took, timeout) = (end - attempt.departed, call.timeout);
    let is_drop = |(at, outcome): (u64, &Outcome)| *outcome == Outcome::Dropped && at <= end + TICK;
    let dropped = call.outcome.is_none_or(is_drop);
    let given_up = how == End::Abandoned && end + TICK < deadline && !dropped;
    let satisfied = took <= timeout + TICK && !(given_up && took + TICK < timeout);
    found.require("an attempt respects its timeout", end, satisfied, || {
        format!("{call}: {attempt} took {took} of {timeout}")
    });
}

fn fails(facts: &Facts<'_>, call: &Call<'_>, at: u64, failed: &Failed, found: &mut Found) {
    let (kind, made) = (&failed.kind, call.attempts.len());
    let counts = failed.attempts as usize == made;
    found.require("an error reports its attempts", at, counts, || {
        format!(
            "{call} says {}, the network took {made}; {kind}",
            failed.attempts
        )
    });
    let whole = facts.attempts(call).find(|it| it.succeeded());
    found.require(
        "a complete success is returned as a result",
        at,
        whole.is_none(),
        || {
            format!(
                "{call} read the response to request {:?}; {kind}",
                whole.map(|it| it.id)
            )
        },
    );
    let settled = facts.calm.is_none_or(|calm| call.began < calm + AFTERMATH);
    let satisfied = settled || failed.effect == Effect::Refused && !failed.tokenless;
    found.require(
        "calls succeed after all faults have ended",
        at,
        satisfied,
        || format!("{call} failed: {kind}, {:?}", failed.effect),
    );
}
