//! The one source of chance for waits and margins. It can be guessed: idempotency keys come from the operating system.

/// A random number from 0 to 1, 1 excluded.
pub(crate) fn roll() -> f64 {
    fastrand::f64()
}

#[cfg(test)]
mod tests {
    use super::roll;

    #[test]
    fn rolls_spread_over_their_range() {
        let rolls: Vec<f64> = (0..1_000).map(|_| roll()).collect();
        let mean = rolls.iter().sum::<f64>() / 1_000.0;
        assert!(rolls.iter().all(|roll| (0.0..1.0).contains(roll)));
        assert!((0.4..0.6).contains(&mean), "{mean}");
        assert!(!rolls.is_sorted() && !rolls.is_sorted_by(|one, next| one >= next));
    }
}
