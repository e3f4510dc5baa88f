//! A listing delivers every record that existed all along, once and in order, and ends only after the last record.

use std::collections::{BTreeMap, BTreeSet};

use crate::event::Event;
use crate::facts::Facts;
use crate::invariants::Found;

struct Listing<'a> {
    /// The installation and the list.
    place: (u32, &'a str),
    /// The number of delivered records that existed all along.
    taken: usize,
    seen: BTreeSet<&'a str>,
}

pub(crate) fn check(facts: &Facts<'_>, found: &mut Found) {
    let created = facts.requests.values();
    let created: BTreeSet<_> = created
        .filter_map(|it| Some((it.installation, it.committed()?)))
        .collect();
    let mut lists: BTreeMap<(u32, &str), Vec<&str>> = BTreeMap::new();
    let mut listings: BTreeMap<u64, Listing<'_>> = BTreeMap::new();
    for (at, event) in facts.events {
        match event {
            Event::Exists {
                installation,
                list,
                record,
            } => lists.entry((*installation, list)).or_default().push(record),
            Event::ListingBegan {
                listing,
                installation,
                list,
            } => {
                let place = (*installation, list.as_str());
                let (taken, seen) = (0, BTreeSet::new());
                listings.insert(*listing, Listing { place, taken, seen });
            }
            Event::Took { listing, record } => {
                let Some(state) = listings.get_mut(listing) else {
                    continue;
                };
                let record = record.as_str();
                let new = state.seen.insert(record);
                found.require("a listing delivers no record twice", *at, new, || {
                    format!("listing {listing} took {record} twice")
                });
                let list = lists.entry(state.place).or_default();
                let next = list.get(state.taken).copied();
                if next == Some(record) {
                    state.taken += 1;
                } else if list.contains(&record) {
                    found.require("a listing keeps the order", *at, false, || {
                        format!("listing {listing} took {record} where {next:?} was next")
                    });
                } else {
                    let own = created.contains(&(state.place.0, record));
                    found.require("a list delivers its own records", *at, own, || {
                        format!("listing {listing} took {record}")
                    });
                }
            }
            Event::ListingEnded { listing } => {
                let Some(state) = listings.remove(listing) else {
                    continue;
                };
                let (taken, all) = (state.taken, lists.get(&state.place).map_or(0, Vec::len));
                found.require(
                    "a listing ends only after the last record",
                    *at,
                    taken == all,
                    || format!("listing {listing} ended after {taken} of {all} records"),
                );
            }
            Event::Ended => {
                for (listing, state) in &listings {
                    found.require(
                        "a listing ends after all faults have ended",
                        *at,
                        false,
                        || format!("listing {listing} took {} records", state.taken),
                    );
                }
            }
            _ => {}
        }
    }
}
