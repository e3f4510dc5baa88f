//! A walk delivers every record that was there all along, once and in order, and ends only then.

use std::collections::{BTreeMap, BTreeSet};

use crate::event::Event;
use crate::facts::Facts;
use crate::laws::Found;

struct Walk<'a> {
    /// The list, and its installation.
    place: (u32, &'a str),
    /// How many of the list were taken.
    taken: usize,
    seen: BTreeSet<&'a str>,
}

pub(crate) fn hold(facts: &Facts<'_>, found: &mut Found) {
    let created = facts.requests.values();
    let created: BTreeSet<_> = created
        .filter_map(|it| Some((it.installation, it.committed()?)))
        .collect();
    let mut lists: BTreeMap<(u32, &str), Vec<&str>> = BTreeMap::new();
    let mut walks: BTreeMap<u64, Walk<'_>> = BTreeMap::new();
    for (at, event) in facts.events {
        match event {
            Event::Exists {
                installation,
                list,
                record,
            } => lists.entry((*installation, list)).or_default().push(record),
            Event::WalkBegan {
                walk,
                installation,
                list,
            } => {
                let place = (*installation, list.as_str());
                let (taken, seen) = (0, BTreeSet::new());
                walks.insert(*walk, Walk { place, taken, seen });
            }
            Event::Took { walk, record } => {
                let Some(state) = walks.get_mut(walk) else {
                    continue;
                };
                let record = record.as_str();
                let new = state.seen.insert(record);
                found.hold("a walk delivers once", *at, new, || {
                    format!("walk {walk} took {record} twice")
                });
                let list = lists.entry(state.place).or_default();
                let next = list.get(state.taken).copied();
                if next == Some(record) {
                    state.taken += 1;
                } else if list.contains(&record) {
                    found.hold("a walk keeps the order", *at, false, || {
                        format!("walk {walk} took {record} where {next:?} was next")
                    });
                } else {
                    let own = created.contains(&(state.place.0, record));
                    found.hold("a list delivers its own records", *at, own, || {
                        format!("walk {walk} took {record}")
                    });
                }
            }
            Event::WalkEnded { walk } => {
                let Some(state) = walks.remove(walk) else {
                    continue;
                };
                let (taken, all) = (state.taken, lists.get(&state.place).map_or(0, Vec::len));
                found.hold("a walk ends at the end", *at, taken == all, || {
                    format!("walk {walk} ended after {taken} of {all} records")
                });
            }
            Event::Ended => {
                for (walk, state) in &walks {
                    found.hold("a walk ends once the world is calm", *at, false, || {
                        format!("walk {walk} took {} records", state.taken)
                    });
                }
            }
            _ => {}
        }
    }
}
