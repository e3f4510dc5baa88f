//! Pseudorandom numbers as a pure function of seed, stream and index (splitmix64).
//!
//! This is handwritten, because the same seed must give the same records, references and faults in every build. Crates
//! don't promise that: `fastrand` 2.1 changed its algorithm. None of these numbers is secret.

use jiff::{SignedDuration, Timestamp};

/// Each purpose has its own sequence.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stream {
    People = 1,
    Organizations,
    Opportunities,
    Tasks,
    Intake,
    Counterparties,
    TimelineLengths,
    Timelines,
    Faults,
}

const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// A short, repeatable sequence of numbers for one row.
#[derive(Clone, Debug)]
pub(crate) struct Noise(u64);

impl Noise {
    pub(crate) fn new(seed: u64, stream: Stream, index: u64) -> Noise {
        Noise(mix(
            seed ^ mix((stream as u64).wrapping_mul(STEP) ^ mix(index))
        ))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mix(self.0)
    }

    /// `bound` must not be zero.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }

    pub(super) fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    pub(super) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        let length = from.len() as u64;
        from[usize::try_from(self.below(length)).unwrap_or_default()]
    }

    pub(super) fn weighted<T: Copy>(&mut self, from: &[(T, u64)]) -> T {
        let total = from.iter().map(|(_, weight)| weight).sum();
        let mut left = self.below(total);
        for (value, weight) in from {
            if left < *weight {
                return *value;
            }
            left -= weight;
        }
        from[0].0
    }

    /// Returns an instant `from` to `to` minutes after the start of the server's clock, in whole minutes.
    pub(super) fn minutes(&mut self, start: Timestamp, from: i64, to: i64) -> Timestamp {
        let span = u64::try_from(to - from).unwrap_or(1);
        let minutes = from + i64::try_from(self.below(span)).unwrap_or_default();
        minutes_from(start, minutes)
    }
}

pub(super) fn minutes_from(start: Timestamp, minutes: i64) -> Timestamp {
    start
        .checked_add(SignedDuration::from_mins(minutes))
        .unwrap_or(start)
}

pub(super) const fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}
