//! The one source of chance, for waits and margins.
//!
//! What nobody may guess does not come from here: idempotency keys come from the operating system.

/// A number from 0 to 1, 1 excluded, that differs each time.
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
        assert!(
            rolls.windows(2).any(|pair| pair[0] < pair[1])
                && rolls.windows(2).any(|pair| pair[0] > pair[1])
        );
    }
}
