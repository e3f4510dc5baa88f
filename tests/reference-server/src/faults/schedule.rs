//! When a fault strikes: skip, every, times, probability.

use serde::{Deserialize, Serialize};

use super::effects;
use crate::data::noise::{Noise, Stream};

/// A fault's schedule. By default it strikes every request.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Schedule {
    pub(super) skip: u64,
    pub(super) every: Option<u64>,
    pub(super) times: Option<u64>,
    pub(super) probability: Option<f64>,
    pub(super) seed: u64,
    #[serde(skip)]
    seen: u64,
    #[serde(skip)]
    struck: u64,
}

impl Schedule {
    pub(super) const fn struck(&self) -> u64 {
        self.struck
    }

    /// The schedule in one readable line, such as `skip=1, times=2`.
    pub(super) fn summary(&self) -> String {
        match effects::summary(self) {
            none if none.is_empty() => "always".to_owned(),
            given => given,
        }
    }

    /// Whether it has struck as often as it may.
    pub(super) fn is_spent(&self) -> bool {
        self.times.is_some_and(|times| self.struck >= times)
    }

    /// Whether the fault strikes this request; counts it either way.
    pub(super) fn due(&mut self) -> bool {
        self.seen += 1;
        if self.seen <= self.skip || self.is_spent() {
            return false;
        }
        let turn = self.seen - self.skip - 1;
        if self
            .every
            .is_some_and(|every| !turn.is_multiple_of(every.max(1)))
        {
            return false;
        }
        if self
            .probability
            .is_some_and(|probability| !self.chance(probability))
        {
            return false;
        }
        self.struck += 1;
        true
    }

    fn chance(&self, probability: f64) -> bool {
        // Between 0 and 2^32, which every step of this conversion represents exactly enough.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let threshold = (probability.clamp(0.0, 1.0) * 4_294_967_296.0) as u64;
        Noise::new(self.seed, Stream::Faults, self.seen).below(1 << 32) < threshold
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skip_every_and_times_combine() {
        let mut schedule = Schedule {
            skip: 1,
            every: Some(2),
            times: Some(2),
            ..Schedule::default()
        };
        let struck: Vec<bool> = (0..8).map(|_| schedule.due()).collect();
        assert_eq!(
            struck,
            [false, true, false, true, false, false, false, false]
        );
    }

    #[test]
    fn a_probability_is_repeatable() {
        let run = |seed| {
            let mut schedule = Schedule {
                probability: Some(0.3),
                seed,
                ..Schedule::default()
            };
            (0..1_000).filter(|_| schedule.due()).count()
        };
        assert_eq!(run(5), run(5));
        assert!((200..400).contains(&run(5)));
    }
}
