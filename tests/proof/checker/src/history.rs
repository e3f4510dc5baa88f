//! What happened in a world, in order.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use crate::event::{Event, Micros};

/// The records of one world. Equal seeds must give equal histories.
#[derive(Clone, Debug, Default)]
pub struct History(Vec<(Micros, Event)>);

impl History {
    /// Adds a record; times never go back.
    pub fn record(&mut self, at: Micros, event: Event) {
        self.0.push((at, event));
    }

    /// All records.
    pub fn events(&self) -> impl Iterator<Item = (Micros, &Event)> {
        self.0.iter().map(|(at, event)| (*at, event))
    }

    /// A digest of everything that happened, by which two runs of one seed are compared.
    pub fn digest(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.0.hash(&mut hasher);
        hasher.finish()
    }
}
