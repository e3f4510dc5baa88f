//! After all faults have ended, a stored command gets its receipt or is parked for a person with a reason.

use std::collections::BTreeMap;

use crate::event::Event;
use crate::facts::Facts;
use crate::invariants::Found;
use crate::request::Request;

pub(crate) fn check(facts: &Facts<'_>, found: &mut Found) {
    let mut attempts: BTreeMap<u64, Vec<&Request<'_>>> = BTreeMap::new();
    for call in facts.calls.values() {
        if let Some(command) = call.command {
            let made = attempts.entry(command).or_default();
            made.extend(facts.attempts(call));
        }
    }
    let attempts = |command: &u64| attempts.get(command).into_iter().flatten();
    let commits = |command: &u64| -> Vec<&str> {
        attempts(command).filter_map(|it| it.committed()).collect()
    };
    let mut waiting = BTreeMap::new();
    for (at, event) in facts.events {
        match event {
            Event::Stored {
                command,
                form,
                installation,
            } => {
                let is_same = |it: &&Request<'_>| it.installation == *installation && it.is(form);
                let same = attempts(command).all(is_same);
                found.require("a stored command is sent unchanged", *at, same, || {
                    format!("command {command}, stored for {installation}: {form:?}")
                });
                waiting.insert(*command, (at, form.key.is_some()));
            }
            Event::Settled { command, reference } => {
                waiting.remove(command);
                let commits = commits(command);
                let satisfied = commits == [reference];
                found.require(
                    "a stored receipt has exactly one commit",
                    *at,
                    satisfied,
                    || format!("command {command}: {reference}, commits {commits:?}"),
                );
            }
            Event::Parked {
                command,
                was_sent,
                refused,
                reason,
            } => {
                let keyed = waiting.remove(command).is_some_and(|(_, keyed)| keyed);
                let satisfied = *refused || (*was_sent && !keyed);
                found.require("a command is parked for a reason", *at, satisfied, || {
                    format!("command {command}, keyed: {keyed}, sent: {was_sent}: {reason}")
                });
                let commits = commits(command);
                let satisfied = !refused || commits.is_empty();
                found.require("a rejected command had no effect", *at, satisfied, || {
                    format!("command {command} committed {commits:?}: {reason}")
                });
            }
            Event::Ended if facts.calm.is_some() => {
                for (command, (stored, _)) in &waiting {
                    found.require("a stored command gets its receipt", *at, false, || {
                        format!("command {command}, stored at {stored}, is still waiting")
                    });
                }
            }
            _ => {}
        }
    }
}
