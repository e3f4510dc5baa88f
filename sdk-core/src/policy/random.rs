//! The only source of randomness, for delays, margins and random keys.

use std::sync::{Arc, Mutex, PoisonError};

use fastrand::Rng;

/// By default, delays and margins come from a thread-local generator, which is predictable, and keys come from the
/// operating system. With a seed, all values come from a single generator, so that a run can be repeated.
#[derive(Clone, Debug, Default)]
pub(crate) struct RandomSource(Option<Arc<Mutex<Rng>>>);

impl RandomSource {
    #[cfg(any(test, feature = "test-util"))]
    pub(crate) fn seeded(seed: u64) -> Self {
        Self(Some(Arc::new(Mutex::new(Rng::with_seed(seed)))))
    }

    /// Returns a random number from 0 (inclusive) to 1 (exclusive).
    pub(crate) fn fraction(&self) -> f64 {
        self.draw(Rng::f64).unwrap_or_else(fastrand::f64)
    }

    /// Returns 128 random bits. They are unpredictable unless there is a seed.
    ///
    /// # Panics
    /// If the operating system provides no random bytes.
    pub(crate) fn bits(&self) -> [u8; 16] {
        self.draw(|rng| rng.u128(..).to_be_bytes())
            .unwrap_or_else(|| {
                let mut bytes = [0_u8; 16];
                getrandom::fill(&mut bytes).expect("the operating system must provide randomness");
                bytes
            })
    }

    fn draw<T>(&self, draw: impl FnOnce(&mut Rng) -> T) -> Option<T> {
        let rng = self.0.as_ref()?;
        let mut rng = rng.lock().unwrap_or_else(PoisonError::into_inner);
        Some(draw(&mut rng))
    }
}

#[cfg(test)]
mod tests {
    use super::RandomSource;

    #[test]
    fn fractions_spread_over_their_range() {
        for source in [RandomSource::default(), RandomSource::seeded(7)] {
            let fractions: Vec<f64> = (0..1_000).map(|_| source.fraction()).collect();
            let mean = fractions.iter().sum::<f64>() / 1_000.0;
            assert!(
                fractions
                    .iter()
                    .all(|fraction| (0.0..1.0).contains(fraction))
            );
            assert!((0.4..0.6).contains(&mean), "{mean}");
            assert!(!fractions.is_sorted() && !fractions.is_sorted_by(|one, next| one >= next));
        }
    }
}
