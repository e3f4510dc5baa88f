//! A command commits at most once, and its caller gets the correct result and effect.

use std::collections::BTreeMap;

use crate::event::{Done, Effect, Failed, Kind, Outcome};
use crate::facts::{Call, Facts};
use crate::invariants::Found;
use crate::request::Request;

pub(crate) fn check(facts: &Facts<'_>, found: &mut Found) {
    keys(facts, found);
    for call in facts.calls.values() {
        if call.kind != Kind::Read {
            attempts(facts, call, found);
        }
        receipt(facts, call, found);
        if let Some((at, failed)) = call.failed() {
            effect(facts, call, at, failed, found);
            if call.kind != Kind::Read {
                returned(facts, call, at, failed, found);
            }
        }
        resent(facts, call, found);
    }
}

/// Checks that a key is used for one command of one installation.
fn keys(facts: &Facts<'_>, found: &mut Found) {
    let mut bodies = BTreeMap::new();
    let mut commits = BTreeMap::new();
    for (request, attempt) in facts.all_attempts() {
        let Some(key) = request.key() else { continue };
        let at = (request.installation, &attempt.audience, key);
        if let Some(body) = request.begun {
            let same = *bodies.entry(at).or_insert(body) == body;
            found.require("a key has one body", request.departed, same, || {
                format!(
                    "key {key} of call {} came with another body before",
                    attempt.call
                )
            });
        }
        if let (Some(_), Some((decided, _))) = (request.committed(), request.answer) {
            let earlier = commits.insert(at, request.id);
            found.require("a key commits once", decided, earlier.is_none(), || {
                format!("key {key}: {request}, committed before by {earlier:?}")
            });
        }
    }
}

/// Checks that a command returned by an error is resent unchanged, even from another process.
fn resent(facts: &Facts<'_>, call: &Call<'_>, found: &mut Found) {
    let earlier = call.resends.and_then(|it| facts.calls.get(&it));
    let Some((_, failed)) = earlier.and_then(Call::failed) else {
        return;
    };
    for attempt in facts.attempts(call) {
        let (invariant, command) = ("a resend is the same command", &failed.command);
        let same = command.as_ref().is_some_and(|it| attempt.is(it));
        found.require(invariant, attempt.departed, same, || {
            let sent = (attempt.sent, attempt.begun);
            format!("{call}: {sent:?}, the error returned {command:?}")
        });
    }
}

/// Checks that all attempts of a command are equal, and that a command that must not be repeated is sent once.
fn attempts(facts: &Facts<'_>, call: &Call<'_>, found: &mut Found) {
    let made: Vec<_> = facts.attempts(call).collect();
    let commits = made.iter().filter(|it| it.committed().is_some()).count();
    found.require("a call commits once", call.began, commits < 2, || {
        format!("{call} committed {commits} times")
    });
    for (at, attempt) in made.iter().enumerate() {
        let (first, own) = (made[0].command(), attempt.command());
        let same = own == first && own.0.is_some() == (call.kind == Kind::Keyed);
        found.require("a call keeps its key", attempt.departed, same, || {
            format!("{call}: {first:?}, then {own:?}")
        });
        let invariant = "a command without a key is resent only if it had no effect";
        let without_effect = !attempt.is_open(call.kind) && !attempt.succeeded();
        let satisfied = call.kind != Kind::Unkeyed || at + 1 == made.len() || without_effect;
        found.require(invariant, call.began, satisfied, || {
            format!("{call}: {attempt} was followed by another")
        });
    }
}

/// Checks that a receipt comes from the server and has a commit.
fn receipt(facts: &Facts<'_>, call: &Call<'_>, found: &mut Found) {
    let Some((
        at,
        Outcome::Receipt {
            key,
            reference,
            replayed,
            body,
        },
    )) = call.outcome
    else {
        return;
    };
    let same_key = |it: &&Request<'_>| it.key() == key.as_deref();
    let read = facts.attempts(call).filter(same_key);
    let matches = read
        .filter_map(Request::delivered)
        .any(|it| it.body == *body && matches!(it.done, Done::Replayed { .. }) == *replayed);
    found.require(
        "a receipt matches the server's response",
        at,
        matches,
        || format!("{call}: key {key:?}, replayed: {replayed}"),
    );
    let commits = |it: &Request<'_>| {
        let decided = it.answer.is_some_and(|(decided, _)| decided <= at);
        decided && it.committed() == Some(reference)
    };
    let same_command = |it: &&Call<'_>| it.command.is_some() && it.command == call.command;
    let earlier = || {
        let mut requests = facts.requests.values().filter(|_| key.is_some());
        let calls = facts.calls.values().filter(same_command);
        requests.any(|it| same_key(&it) && commits(it))
            || calls.flat_map(|it| facts.attempts(it)).any(commits)
    };
    let committed = facts.attempts(call).any(commits) || (*replayed && earlier());
    found.require("a receipt has a commit", at, committed, || {
        format!("{call}: no commit of {reference}, replayed: {replayed}")
    });
}

/// Checks that an error returns the command as sent, with its caller's key.
fn returned(facts: &Facts<'_>, call: &Call<'_>, at: u64, failed: &Failed, found: &mut Found) {
    let command = &failed.command;
    let sent = facts.attempts(call).find(|it| match command {
        Some(command) => !it.is(command),
        None => failed.effect != Effect::Refused,
    });
    let key = call.asked.key.as_ref();
    let own = key.is_none() || command.as_ref().is_none_or(|it| it.key.as_ref() == key);
    let invariant = "an error returns the command that was sent";
    found.require(invariant, at, sent.is_none() && own, || {
        let sent = sent.map(|it| (it.sent, it.begun));
        format!("{call} returns {command:?} after {sent:?}")
    });
}

/// Checks that an error reports the effect of its call as the network and the service observed it.
fn effect<'a>(facts: &Facts<'a>, call: &Call<'a>, at: u64, failed: &Failed, found: &mut Found) {
    let any = |is: fn(&Request<'a>) -> bool| facts.attempts(call).any(is);
    let (invariant, satisfied) = match failed.effect {
        Effect::NotSent => (
            "not sent: the service received nothing",
            !any(Request::was_sent) && !facts.resends_open(call),
        ),
        Effect::Refused => (
            "refused: the service rejected the call",
            any(Request::was_rejected) && !any(Request::succeeded) && !facts.is_open(call),
        ),
        Effect::Unknown => (
            "unknown: an attempt may have taken effect",
            facts.is_open(call),
        ),
    };
    found.require(invariant, at, satisfied, || {
        let seen = facts.attempts(call).map(|it| (it.id, it.status(), it.end));
        let (kind, effect, seen) = (&failed.kind, failed.effect, seen.collect::<Vec<_>>());
        format!("{call}: {kind} says {effect:?} after {seen:?}")
    });
}
