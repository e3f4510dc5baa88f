//! A walk delivers every record that was there all along, once and in order, and ends only then.

use std::collections::{BTreeMap, BTreeSet};

use crate::event::{Event, History};
use crate::facts::Facts;
use crate::laws::Found;

struct Walk<'a> {
    installation: u32,
    list: &'a [&'a str],
    /// How many of the list were taken.
    taken: usize,
    seen: BTreeSet<&'a str>,
}

pub(crate) fn hold(history: &History, facts: &Facts<'_>, found: &mut Found) {
    let created = facts.requests.values();
    let created: BTreeSet<_> = created
        .filter_map(|it| Some((it.installation, it.committed()?)))
        .collect();
    let mut lists: BTreeMap<(u32, &str), Vec<&str>> = BTreeMap::new();
    for (_, event) in history.events() {
        if let Event::Exists {
            installation,
            list,
            record,
        } = event
        {
            lists.entry((*installation, list)).or_default().push(record);
        }
    }
    let mut walks: BTreeMap<u64, Walk<'_>> = BTreeMap::new();
    for (at, event) in history.events() {
        match event {
            Event::WalkBegan {
                walk,
                installation,
                list,
            } => {
                let list = lists.get(&(*installation, list.as_str()));
                let began = Walk {
                    installation: *installation,
                    list: list.map_or(&[], Vec::as_slice),
                    taken: 0,
                    seen: BTreeSet::new(),
                };
                walks.insert(*walk, began);
            }
            Event::Took { walk, record } => {
                let Some(state) = walks.get_mut(walk) else {
                    continue;
                };
                let record = record.as_str();
                let new = state.seen.insert(record);
                found.hold("a walk delivers once", at, new, || {
                    format!("walk {walk} took {record} twice")
                });
                let next = state.list.get(state.taken).copied();
                if next == Some(record) {
                    state.taken += 1;
                } else if state.list.contains(&record) {
                    found.hold("a walk keeps the order", at, false, || {
                        format!("walk {walk} took {record} where {next:?} was next")
                    });
                } else {
                    let own = created.contains(&(state.installation, record));
                    found.hold("a list delivers its own records", at, own, || {
                        format!("walk {walk} took {record}")
                    });
                }
            }
            Event::WalkEnded { walk } => {
                let Some(state) = walks.remove(walk) else {
                    continue;
                };
                let (taken, all) = (state.taken, state.list.len());
                found.hold("a walk ends at the end", at, taken == all, || {
                    format!("walk {walk} ended after {taken} of {all} records")
                });
            }
            Event::Ended => {
                for (walk, state) in &walks {
                    found.hold("a walk ends once the world is calm", at, false, || {
                        format!("walk {walk} took {} records", state.taken)
                    });
                }
            }
            _ => {}
        }
    }
}
