//! What the Calendar remembers: events, holds, and when a collection is taken.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

/// How many events are kept, the latest ones: a server under load makes many, and nobody asks for the oldest.
const KEPT: usize = 100_000;

/// An event, as far as anything shows it again.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub(crate) title: Box<str>,
    pub(crate) collection: Arc<str>,
    pub(crate) starts_at: Timestamp,
    pub(crate) ends_at: Timestamp,
    pub(crate) cancelled: bool,
    pub(crate) version: u64,
}

/// The times at which one collection is taken, and by which event.
#[derive(Clone, Debug, Default)]
struct Times {
    taken: BTreeSet<(Timestamp, Timestamp, u64)>,
    /// The longest that anything in it takes, which bounds how far back an overlap can begin.
    longest: SignedDuration,
}

/// The state of the Calendar; events go by the index behind their reference.
#[derive(Clone, Debug, Default)]
pub(crate) struct Agenda {
    events: BTreeMap<u64, Event>,
    times: HashMap<Arc<str>, Times>,
    /// Versions of holds; those released are gone.
    pub(crate) holds: HashMap<u64, u64>,
}

impl Agenda {
    pub(crate) fn event(&self, index: u64) -> Option<&Event> {
        self.events.get(&index)
    }

    /// Puts an event in, in place of its former self.
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

    /// Another event of the collection that is on between two instants, if any.
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

    /// Takes an event out of the times of its collection.
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
