//! The timeline of a person, oldest first.

use jiff::Timestamp;

use super::names::MOMENT;
use super::noise::{Noise, Stream, minutes_from};
use super::{Text, actors};

/// The number of entries of the first person.
pub(crate) const LONG: u64 = 250;

#[derive(Clone, Debug)]
pub(crate) struct Moment {
    pub(crate) kind: Text,
    pub(crate) summary: Text,
    pub(crate) reference: Option<String>,
    pub(crate) occurred_at: Timestamp,
    pub(crate) actor: u64,
}

/// Returns the number of entries of a person in the demo data.
pub(crate) fn generated(seed: u64, person: u64) -> u64 {
    if person == 0 {
        return LONG;
    }
    3 + Noise::new(seed, Stream::TimelineLengths, person).below(10)
}

pub(crate) fn generate(seed: u64, start: Timestamp, person: u64, position: u64) -> Moment {
    let mut noise = Noise::new(seed ^ person, Stream::Timelines, position);
    let (kind, summary) = noise.pick(&MOMENT);
    let count = generated(seed, person).max(1);
    // Entries are spread evenly over half a year, with a little jitter that preserves their order.
    let step = 260_000 / count;
    let minutes = position * step + noise.below(step.max(1));
    let before = i64::try_from(minutes).unwrap_or_default() - 262_000;
    Moment {
        kind: kind.into(),
        summary: summary.into(),
        reference: None,
        occurred_at: minutes_from(start, before),
        actor: noise.below(actors::COUNT),
    }
}
