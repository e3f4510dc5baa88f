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
            let same = *bodies.entry(at).or_insert(body) == body;
            found.hold("a key has one body", request.departed, same, || {
                format!("key {key} of call {call} came with another body before")
            });
        }
        if let (Some(_), Some((decided, _))) = (request.committed(), request.answer) {
            let earlier = commits.insert(at, request.id);
            found.hold("a key commits once", decided, earlier.is_none(), || {
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
                let sent = (call.id, attempt.sent, attempt.begun);
                format!("call {sent:?}, the error returned {command:?}")
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
        let (first, own) = (made[0].command(), attempt.command());
        let same = own == first && own.0.is_some() == (call.kind == Kind::Keyed);
        found.hold("a call keeps its key", attempt.departed, same, || {
            format!("call {id}: {first:?}, then {own:?}")
        });
    }
    let resent = made.iter().rev().skip(1).rev();
    for earlier in resent.filter(|_| call.kind == Kind::Unkeyed) {
        let law = "what has no key is sent again only if it had no effect";
        let without_effect = !earlier.is_open(call.kind) && !earlier.succeeded();
        found.hold(law, began, without_effect, || {
            format!("call {id}: request {} was followed by another", earlier.id)
        });
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
            let same_key = |it: &&Request<'_>| it.key() == key.as_deref();
            let read = facts.attempts(call).filter(same_key);
            let said = read.filter_map(Request::delivered).any(|it| {
                it.body == *body && matches!(it.done, Done::Replayed { .. }) == *replayed
            });
            found.hold("a receipt says what the server said", at, said, || {
                format!("call {id}: key {key:?}, replayed: {replayed}")
            });
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
            let (law, kept) = (
                "an error returns the command that was sent",
                sent.is_none() && own,
            );
            found.hold(law, at, kept, || {
                let sent = sent.map(|it| (it.sent, it.begun));
                format!("call {id} returns {command:?} after {sent:?}")
            });
        }
        Told::Error { .. } | Told::Reply { .. } | Told::Dropped => {}
    }
}
