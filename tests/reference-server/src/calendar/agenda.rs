//! The state of the Calendar: events, holds, and the busy times of each collection.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

/// The number of stored events. A server under load creates many, so only the most recent are stored.
const KEPT: usize = 100_000;

/// The parts of an event that can be read back.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub(crate) title: Box<str>,
    pub(crate) collection: Arc<str>,
    pub(crate) starts_at: Timestamp,
    pub(crate) ends_at: Timestamp,
    pub(crate) cancelled: bool,
    pub(crate) version: u64,
}

/// The busy times of one collection, with the event of each.
#[derive(Clone, Debug, Default)]
struct Times {
    taken: BTreeSet<(Timestamp, Timestamp, u64)>,
    /// The longest event, which limits how early an overlapping event can start.
    longest: SignedDuration,
}

/// Events are keyed by the index in their reference.
#[derive(Clone, Debug, Default)]
pub(crate) struct Agenda {
    events: BTreeMap<u64, Event>,
    times: HashMap<Arc<str>, Times>,
    /// The holds that are not released.
    pub(crate) holds: HashSet<u64>,
}

impl Agenda {
    pub(crate) fn event(&self, index: u64) -> Option<&Event> {
        self.events.get(&index)
    }

    pub(crate) fn put(&mut self, index: u64, event: Event) {
        self.clear(index);
        if !event.cancelled {
            let times = self.times.entry(Arc::clone(&event.collection)).or_default();
            times.taken.insert((event.starts_at, event.ends_at, index));
            times.longest = times
                .longest
                .max(event.ends_at.duration_since(event.starts_at));
        }
        self.events.insert(index, event);
        while self.events.len() > KEPT {
            if let Some(oldest) = self.events.keys().next().copied() {
                self.clear(oldest);
                self.events.remove(&oldest);
            }
        }
    }

    pub(crate) fn conflict(
        &self,
        collection: &str,
        from: Timestamp,
        to: Timestamp,
        except: Option<u64>,
    ) -> Option<u64> {
        let times = self.times.get(collection)?;
        let earliest = from.checked_sub(times.longest).unwrap_or(Timestamp::MIN);
        times
            .taken
            .range((earliest, Timestamp::MIN, 0)..(to, Timestamp::MIN, 0))
            .find(|(_, end, index)| *end > from && except != Some(*index))
            .map(|(_, _, index)| *index)
    }

    /// Removes an event from the busy times of its collection.
    fn clear(&mut self, index: u64) {
        let Some(event) = self.events.get(&index) else {
            return;
        };
        if let Some(times) = self.times.get_mut(&event.collection) {
            times.taken.remove(&(event.starts_at, event.ends_at, index));
            if times.taken.is_empty() {
                self.times.remove(&event.collection);
            }
        }
    }
}
