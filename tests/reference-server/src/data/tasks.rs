//! Tasks.

use jiff::Timestamp;

use super::names::CHORE;
use super::noise::{Noise, Stream};
use super::reference::Kind;
use super::table::{Record, World};
use super::{Text, actors};

#[derive(Clone, Debug)]
pub(crate) struct Task {
    pub(crate) title: Text,
    pub(crate) status: Text,
    pub(crate) owner: Option<u64>,
    pub(crate) opportunity: Option<u64>,
    pub(crate) due_at: Option<Timestamp>,
    pub(crate) created_at: Timestamp,
    pub(crate) updated_at: Timestamp,
    pub(crate) version: u64,
}

impl Record for Task {
    const KIND: Kind = Kind::Task;
    const NOUN: &'static str = "task";

    fn generate(world: &World, index: u64) -> Task {
        let mut noise = Noise::new(world.seed, Stream::Tasks, index);
        let opportunities = world.sizes.opportunities;
        Task {
            title: noise.pick(&CHORE).into(),
            status: noise
                .weighted(&[
                    ("open", 45),
                    ("in_progress", 15),
                    ("waiting", 10),
                    ("completed", 24),
                    ("cancelled", 6),
                ])
                .into(),
            // The default client acts for the first actor, who owns enough tasks for several pages.
            owner: Some(if noise.chance(25) {
                0
            } else {
                noise.below(actors::COUNT)
            }),
            opportunity: (opportunities > 0).then(|| noise.below(opportunities)),
            due_at: Some(noise.minutes(world.start, -10_000, 30_000)),
            created_at: noise.minutes(world.start, -60_000, -12_000),
            updated_at: noise.minutes(world.start, -12_000, -10),
            version: 1 + noise.below(4),
        }
    }
}

impl Task {
    pub(crate) fn is_final(&self) -> bool {
        matches!(self.status.as_ref(), "completed" | "cancelled")
    }
}
