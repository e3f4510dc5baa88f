//! A command commits at most once, and its caller is told the truth about it.

use std::collections::BTreeMap;

use crate::event::{Done, Effect, Kind, Sent, Told};
use crate::facts::{Call, Facts};
use crate::laws::Found;
use crate::request::Request;

pub(crate) fn hold(facts: &Facts<'_>, found: &mut Found) {
    keys(facts, found);
    for call in facts.calls.values() {
        if call.kind != Kind::Read {
            attempts(facts, call, found);
        }
        if let Some((at, told)) = call.told {
            truth(facts, call, at, told, found);
        }
        resent(facts, call, found);
    }
}

/// A key stands for one command of one installation.
fn keys(facts: &Facts<'_>, found: &mut Found) {
    let mut bodies = BTreeMap::new();
    let mut commits = BTreeMap::new();
    for request in facts.requests.values() {
        let Sent::Attempt { call, audience, .. } = request.sent else {
            continue;
        };
        let Some(key) = request.key() else { continue };
        let at = (request.installation, audience, key);
        if let Some(body) = request.begun {
            let first = *bodies.entry(at).or_insert(body);
            found.hold(
                "a key has one body",
                request.departed,
                first == body,
                || format!("key {key} of call {call} came with another body before"),
            );
        }
        if let Some(answer) = request.answer.filter(|_| request.committed().is_some()) {
            let earlier = commits.insert(at, request.id);
            found.hold("a key commits once", answer.at, earlier.is_none(), || {
                format!("key {key}: requests {earlier:?} and {}", request.id)
            });
        }
    }
}

/// A command that an error returned is sent as it was, whatever process sends it.
fn resent(facts: &Facts<'_>, call: &Call<'_>, found: &mut Found) {
    let earlier = call.resends.and_then(|it| facts.calls.get(&it));
    let Some((_, Told::Error { command, .. })) = earlier.and_then(|it| it.told) else {
        return;
    };
    for attempt in facts.attempts(call) {
        let same = command.as_ref().is_some_and(|it| attempt.is(it));
        found.hold(
            "a resend is the same command",
            attempt.departed,
            same,
            || {
                let sent = (attempt.sent, attempt.begun);
                format!(
                    "call {} sent {sent:?}, the error returned {command:?}",
                    call.id
                )
            },
        );
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
        let same = attempt.command() == made[0].command();
        found.hold(
            "a call keeps its key",
            attempt.departed,
            keyed && same,
            || {
                format!(
                    "call {id}: {:?}, then {:?}",
                    made[0].command(),
                    attempt.command()
                )
            },
        );
    }
    let resent = made.iter().rev().skip(1).rev();
    for earlier in resent.filter(|_| call.kind == Kind::Unkeyed) {
        found.hold(
            "what has no key is sent again only if it had no effect",
            began,
            !earlier.is_open(call.kind) && !earlier.succeeded(),
            || format!("call {id}: request {} was followed by another", earlier.id),
        );
    }
}

fn truth(facts: &Facts<'_>, call: &Call<'_>, at: u64, told: &Told, found: &mut Found) {
    let id = call.id;
    match told {
        Told::Receipt {
            key,
            reference,
            replayed,
            body,
        } => {
            let mut read = facts.attempts(call).filter(|it| it.key() == key.as_deref());
            let said = read.any(|it| {
                let answer = it.delivered().filter(|answer| answer.body == *body);
                answer.is_some_and(|it| matches!(it.done, Done::Replayed { .. }) == *replayed)
            });
            found.hold("a receipt says what the server said", at, said, || {
                format!("call {id}: key {key:?}, replayed: {replayed}")
            });
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
        Told::Error {
            effect, command, ..
        } if call.kind != Kind::Read => {
            let sent = facts.attempts(call).find(|it| match command {
                Some(command) => !it.is(command),
                None => *effect != Effect::Refused,
            });
            let key = call.asked.key.as_ref();
            let own = key.is_none() || command.as_ref().is_none_or(|it| it.key.as_ref() == key);
            found.hold(
                "an error returns the command that was sent",
                at,
                sent.is_none() && own,
                || {
                    let sent = sent.map(|it| (it.sent, it.begun));
                    format!("call {id} returns {command:?} after {sent:?}")
                },
            );
        }
        Told::Error { .. } | Told::Reply { .. } | Told::Dropped => {}
    }
}
