//! A stored command reaches its receipt once the world is calm, or a person, with a reason.

use std::collections::BTreeMap;

use crate::event::{Event, History};
use crate::facts::Facts;
use crate::laws::Found;
use crate::request::Request;

pub(crate) fn hold(history: &History, facts: &Facts<'_>, found: &mut Found) {
    let mut commits: BTreeMap<u64, Vec<&str>> = BTreeMap::new();
    for call in facts.calls.values() {
        if let Some(command) = call.command {
            let made = facts.attempts(call).filter_map(Request::committed);
            commits.entry(command).or_default().extend(made);
        }
    }
    let commits = |command: &u64| commits.get(command).map_or(&[][..], Vec::as_slice);
    let mut waiting = BTreeMap::new();
    for (at, event) in history.events() {
        match event {
            Event::Stored {
                command,
                form,
                installation,
            } => {
                let calls = facts.calls.values();
                let calls = calls.filter(|it| it.command == Some(*command));
                let mut sent = calls.flat_map(|it| facts.attempts(it));
                let same = sent.all(|it| it.installation == *installation && it.is(form));
                found.hold("a stored command is sent as it is", at, same, || {
                    format!("command {command}, stored for {installation}: {form:?}")
                });
                waiting.insert(*command, (at, form.key.is_some()));
            }
            Event::Settled { command, reference } => {
                waiting.remove(command);
                let kept = commits(command) == [reference.as_str()];
                found.hold("a stored receipt has its one commit", at, kept, || {
                    let commits = commits(command);
                    format!("command {command}: {reference}, commits {commits:?}")
                });
            }
            Event::Parked {
                command,
                was_sent,
                refused,
                reason,
            } => {
                let keyed = waiting.remove(command).is_some_and(|(_, keyed)| keyed);
                let kept = *refused || (*was_sent && !keyed);
                found.hold("a command is parked for a reason", at, kept, || {
                    format!("command {command}, keyed: {keyed}, sent: {was_sent}: {reason}")
                });
                let kept = !refused || commits(command).is_empty();
                found.hold("a refused command had no effect", at, kept, || {
                    let commits = commits(command);
                    format!("command {command} committed {commits:?}: {reason}")
                });
            }
            Event::Ended if facts.calm.is_some() => {
                for (command, (stored, _)) in &waiting {
                    found.hold("a stored command reaches its receipt", at, false, || {
                        format!("command {command}, stored at {stored}, still waits")
                    });
                }
            }
            _ => {}
        }
    }
}
