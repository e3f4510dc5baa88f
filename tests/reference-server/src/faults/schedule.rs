//! When a fault strikes: after some, every so many, so often, with some probability.

/// A fault's schedule. By default it strikes every request.
#[derive(Clone, Debug, Default)]
pub(super) struct Schedule {
    skip: u64,
    every: Option<u64>,
    times: Option<u64>,
    /// In 2^-32, and the state of the sequence that decides.
    chance: Option<(u64, u64)>,
    seen: u64,
    struck: u64,
}

impl Schedule {
    pub(super) fn skip(&mut self, requests: u64) {
        self.skip = requests;
    }

    pub(super) fn every(&mut self, requests: u64) {
        self.every = Some(requests.max(1));
    }

    pub(super) fn times(&mut self, times: u64) {
        self.times = Some(times);
    }

    pub(super) fn probability(&mut self, probability: f64, seed: u64) {
        // Between 0 and 2^32, which every step of this conversion represents exactly enough.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let threshold = (probability.clamp(0.0, 1.0) * 4_294_967_296.0) as u64;
        self.chance = Some((threshold, seed));
    }

    pub(super) const fn struck(&self) -> u64 {
        self.struck
    }

    /// Whether the fault strikes this request; counts it either way.
    pub(super) fn due(&mut self) -> bool {
        self.seen += 1;
        if self.seen <= self.skip || self.times.is_some_and(|times| self.struck >= times) {
            return false;
        }
        if self
            .every
            .is_some_and(|every| !(self.seen - self.skip - 1).is_multiple_of(every))
        {
            return false;
        }
        if let Some((threshold, state)) = &mut self.chance {
            *state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            if (*state >> 32) >= *threshold {
                return false;
            }
        }
        self.struck += 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skip_every_and_times_combine() {
        let mut schedule = Schedule::default();
        schedule.skip(1);
        schedule.every(2);
        schedule.times(2);
        let struck: Vec<bool> = (0..8).map(|_| schedule.due()).collect();
        assert_eq!(
            struck,
            [false, true, false, true, false, false, false, false]
        );
    }

    #[test]
    fn a_probability_is_repeatable() {
        let run = |seed| {
            let mut schedule = Schedule::default();
            schedule.probability(0.3, seed);
            (0..1_000).filter(|_| schedule.due()).count()
        };
        assert_eq!(run(5), run(5));
        assert!((200..400).contains(&run(5)));
    }
}
