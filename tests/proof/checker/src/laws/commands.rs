//! A command commits at most once, and its caller is told the truth about it.

use std::collections::BTreeMap;

use crate::event::{Effect, Kind, Sent, Told};
use crate::facts::{Call, End, Facts, Request};
use crate::laws::Found;

pub(crate) fn hold(facts: &Facts<'_>, found: &mut Found) {
    keys(facts, found);
    for call in facts.calls.values() {
        if call.kind != Kind::Read {
            attempts(facts, call, found);
        }
        if let Some((at, told)) = call.told {
            truth(facts, call, at, told, found);
        }
    }
}

/// A key stands for one command of one installation.
fn keys(facts: &Facts<'_>, found: &mut Found) {
    let mut bodies = BTreeMap::new();
    let mut commits = BTreeMap::new();
    for request in facts.requests.values() {
        let (Some(key), Sent::Attempt { body, call, .. }) = (request.key(), request.sent) else {
            continue;
        };
        let at = (request.installation, key);
        let first = *bodies.entry(at).or_insert(*body);
        found.hold(
            "a key has one body",
            request.departed,
            first == *body,
            || format!("key {key} of call {call} came with another body before"),
        );
        if let Some(answer) = request.answer.filter(|_| request.committed().is_some()) {
            let earlier = commits.insert(at, request.id);
            found.hold("a key commits once", answer.at, earlier.is_none(), || {
                format!("key {key}: requests {earlier:?} and {}", request.id)
            });
        }
    }
}

/// All attempts of a command are the same, and one that must not be repeated is not.
fn attempts(facts: &Facts<'_>, call: &Call<'_>, found: &mut Found) {
    let made: Vec<_> = facts.attempts(call).collect();
    let commits = made.iter().filter(|it| it.committed().is_some()).count();
    let (id, began) = (call.id, call.began);
    found.hold("a call commits once", began, commits < 2, || {
        format!("call {id} of {} committed {commits} times", call.operation)
    });
    for attempt in &made {
        let keyed = attempt.key().is_some() == (call.kind == Kind::Keyed);
        let same = attempt.key() == made[0].key();
        found.hold(
            "a call keeps its key",
            attempt.departed,
            keyed && same,
            || format!("call {id}: {:?}, then {:?}", made[0].key(), attempt.key()),
        );
    }
    let resent = made.iter().rev().skip(1).rev();
    for earlier in resent.filter(|_| call.kind == Kind::Unkeyed) {
        found.hold(
            "what has no key is sent again only if it had no effect",
            began,
            had_no_effect(earlier),
            || format!("call {id}: request {} was followed by another", earlier.id),
        );
    }
}

/// Whether a suite can know that a request had no effect.
fn had_no_effect(request: &Request<'_>) -> bool {
    match (request.delivered(), request.end) {
        (Some(answer), _) => answer.status / 100 == 4,
        (None, Some((_, End::Broke | End::Abandoned))) => !request.begun && !request.arrived,
        _ => false,
    }
}

fn truth(facts: &Facts<'_>, call: &Call<'_>, at: u64, told: &Told, found: &mut Found) {
    let id = call.id;
    match told {
        Told::Receipt {
            key,
            reference,
            replayed,
            ..
        } => {
            let commits = |it: &Request<'_>| {
                it.committed() == Some(reference) && it.answer.is_some_and(|it| it.at <= at)
            };
            let same_key = |it: &Request<'_>| key.is_some() && it.key() == key.as_deref();
            let same_command = |it: &&Call<'_>| it.command.is_some() && it.command == call.command;
            let earlier = || {
                let calls = facts.calls.values().filter(same_command);
                facts
                    .requests
                    .values()
                    .any(|it| same_key(it) && commits(it))
                    || calls.flat_map(|it| facts.attempts(it)).any(commits)
            };
            let committed = facts.attempts(call).any(commits) || (*replayed && earlier());
            found.hold("a receipt has its commit", at, committed, || {
                format!("call {id}: nobody committed {reference}, replayed: {replayed}")
            });
        }
        Told::Error { effect, kind, .. } => {
            let arrived = facts.attempts(call).any(|it| it.arrived);
            let committed = facts.attempts(call).any(|it| it.committed().is_some());
            let true_ = match effect {
                Effect::NotSent => !arrived,
                Effect::Refused => !committed,
                Effect::Unknown => true,
            };
            found.hold("an error tells the effect", at, true_, || {
                format!(
                    "call {id}: {kind} says {effect:?}; arrived: {arrived}, committed: {committed}"
                )
            });
        }
        Told::Reply { .. } | Told::Dropped => {}
    }
}
