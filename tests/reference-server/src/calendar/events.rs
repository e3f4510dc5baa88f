//! What the Calendar remembers: events, holds, and when a collection is taken.

use std::collections::{BTreeSet, HashMap};

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

/// An event.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub(crate) collection: String,
    pub(crate) starts_at: Timestamp,
    pub(crate) ends_at: Timestamp,
    pub(crate) cancelled: bool,
    pub(crate) version: u64,
    /// The members of the command that made it, as later ones changed them.
    pub(crate) members: Value,
}

/// The times at which one collection is taken.
#[derive(Clone, Debug, Default)]
struct Times {
    taken: BTreeSet<(Timestamp, Timestamp, String)>,
    /// The longest that anything in it takes, which bounds how far back an overlap can begin.
    longest: SignedDuration,
}

/// The state of the Calendar.
#[derive(Clone, Debug, Default)]
pub(crate) struct Agenda {
    events: HashMap<String, Event>,
    times: HashMap<String, Times>,
    /// Versions of holds; those released are gone.
    pub(crate) holds: HashMap<String, u64>,
}

impl Agenda {
    pub(crate) fn event(&self, reference: &str) -> Option<&Event> {
        self.events.get(reference)
    }

    /// Puts an event in, in place of its former self.
    pub(crate) fn put(&mut self, reference: &str, event: Event) {
        if let Some(before) = self.events.get(reference)
            && let Some(times) = self.times.get_mut(&before.collection)
        {
            times
                .taken
                .remove(&(before.starts_at, before.ends_at, reference.to_owned()));
        }
        if !event.cancelled {
            let times = self.times.entry(event.collection.clone()).or_default();
            times
                .taken
                .insert((event.starts_at, event.ends_at, reference.to_owned()));
            times.longest = times
                .longest
                .max(event.ends_at.duration_since(event.starts_at));
        }
        self.events.insert(reference.to_owned(), event);
    }

    /// Another event of the collection that is on between two instants, if any.
    pub(crate) fn conflict(
        &self,
        collection: &str,
        from: Timestamp,
        to: Timestamp,
        except: Option<&str>,
    ) -> Option<&str> {
        let times = self.times.get(collection)?;
        let earliest = from.checked_sub(times.longest).unwrap_or(Timestamp::MIN);
        times
            .taken
            .range((earliest, Timestamp::MIN, String::new())..(to, Timestamp::MIN, String::new()))
            .find(|(_, end, reference)| *end > from && except != Some(reference.as_str()))
            .map(|(_, _, reference)| reference.as_str())
    }
}
