//! A command commits at most once, and its caller is told the truth about it and about its effect.

use std::collections::BTreeMap;

use crate::event::{Done, Effect, Failed, Kind, Told};
use crate::facts::{Call, Facts};
use crate::laws::Found;
use crate::request::Request;

pub(crate) fn hold(facts: &Facts<'_>, found: &mut Found) {
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

/// A key stands for one command of one installation.
fn keys(facts: &Facts<'_>, found: &mut Found) {
    let mut bodies = BTreeMap::new();
    let mut commits = BTreeMap::new();
    for (request, attempt) in facts.all_attempts() {
        let Some(key) = request.key() else { continue };
        let at = (request.installation, &attempt.audience, key);
        if let Some(body) = request.begun {
            let same = *bodies.entry(at).or_insert(body) == body;
            found.hold("a key has one body", request.departed, same, || {
                format!(
                    "key {key} of call {} came with another body before",
                    attempt.call
                )
            });
        }
        if let (Some(_), Some((decided, _))) = (request.committed(), request.answer) {
            let earlier = commits.insert(at, request.id);
            found.hold("a key commits once", decided, earlier.is_none(), || {
                format!("key {key}: {request}, committed before by {earlier:?}")
            });
        }
    }
}

/// A command that an error returned is sent as it was, whatever process sends it.
fn resent(facts: &Facts<'_>, call: &Call<'_>, found: &mut Found) {
    let earlier = call.resends.and_then(|it| facts.calls.get(&it));
    let Some((_, failed)) = earlier.and_then(Call::failed) else {
        return;
    };
    for attempt in facts.attempts(call) {
        let (law, command) = ("a resend is the same command", &failed.command);
        let same = command.as_ref().is_some_and(|it| attempt.is(it));
        found.hold(law, attempt.departed, same, || {
            let sent = (attempt.sent, attempt.begun);
            format!("{call}: {sent:?}, the error returned {command:?}")
        });
    }
}

/// All attempts of a command are the same, and one that must not be repeated is not.
fn attempts(facts: &Facts<'_>, call: &Call<'_>, found: &mut Found) {
    let made: Vec<_> = facts.attempts(call).collect();
    let commits = made.iter().filter(|it| it.committed().is_some()).count();
    found.hold("a call commits once", call.began, commits < 2, || {
        format!("{call} committed {commits} times")
    });
    for (at, attempt) in made.iter().enumerate() {
        let (first, own) = (made[0].command(), attempt.command());
        let same = own == first && own.0.is_some() == (call.kind == Kind::Keyed);
        found.hold("a call keeps its key", attempt.departed, same, || {
            format!("{call}: {first:?}, then {own:?}")
        });
        let law = "what has no key is sent again only if it had no effect";
        let without_effect = !attempt.is_open(call.kind) && !attempt.succeeded();
        let kept = call.kind != Kind::Unkeyed || at + 1 == made.len() || without_effect;
        found.hold(law, call.began, kept, || {
            format!("{call}: {attempt} was followed by another")
        });
    }
}

/// A receipt is that of the server, and there is a commit for it.
fn receipt(facts: &Facts<'_>, call: &Call<'_>, found: &mut Found) {
    let Some((
        at,
        Told::Receipt {
            key,
            reference,
            replayed,
            body,
        },
    )) = call.told
    else {
        return;
    };
    let same_key = |it: &&Request<'_>| it.key() == key.as_deref();
    let read = facts.attempts(call).filter(same_key);
    let said = read
        .filter_map(Request::delivered)
        .any(|it| it.body == *body && matches!(it.done, Done::Replayed { .. }) == *replayed);
    found.hold("a receipt says what the server said", at, said, || {
        format!("{call}: key {key:?}, replayed: {replayed}")
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
        format!("{call}: nobody committed {reference}, replayed: {replayed}")
    });
}

/// An error returns the command as it was sent, and with its caller's key.
fn returned(facts: &Facts<'_>, call: &Call<'_>, at: u64, failed: &Failed, found: &mut Found) {
    let command = &failed.command;
    let sent = facts.attempts(call).find(|it| match command {
        Some(command) => !it.is(command),
        None => failed.effect != Effect::Refused,
    });
    let key = call.asked.key.as_ref();
    let own = key.is_none() || command.as_ref().is_none_or(|it| it.key.as_ref() == key);
    let law = "an error returns the command that was sent";
    found.hold(law, at, sent.is_none() && own, || {
        let sent = sent.map(|it| (it.sent, it.begun));
        format!("{call} returns {command:?} after {sent:?}")
    });
}

/// An error states the effect of its call, as the network and the service saw it.
fn effect<'a>(facts: &Facts<'a>, call: &Call<'a>, at: u64, failed: &Failed, found: &mut Found) {
    let any = |is: fn(&Request<'a>) -> bool| facts.attempts(call).any(is);
    let (law, kept) = match failed.effect {
        Effect::NotSent => (
            "not sent: the service saw nothing",
            !any(Request::was_sent) && !facts.resends_open(call),
        ),
        Effect::Refused => (
            "refused: the service said so",
            any(Request::was_rejected) && !any(Request::succeeded) && !facts.is_open(call),
        ),
        Effect::Unknown => ("unknown: an attempt is open", facts.is_open(call)),
    };
    found.hold(law, at, kept, || {
        let seen = facts.attempts(call).map(|it| (it.id, it.status(), it.end));
        let (kind, effect, seen) = (&failed.kind, failed.effect, seen.collect::<Vec<_>>());
        format!("{call}: {kind} says {effect:?} after {seen:?}")
    });
}
