//! Durations in JSON: a number of seconds, fractions allowed.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A duration whose JSON form is a number of seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub(crate) struct Seconds(pub(crate) Duration);

impl From<Seconds> for f64 {
    fn from(seconds: Seconds) -> f64 {
        seconds.0.as_secs_f64()
    }
}

impl TryFrom<f64> for Seconds {
    type Error = String;

    /// Refuses a negative duration, or one too long for the clock.
    fn try_from(seconds: f64) -> Result<Seconds, String> {
        Duration::try_from_secs_f64(seconds)
            .ok()
            .filter(|duration| i64::try_from(duration.as_millis()).is_ok())
            .map(Seconds)
            .ok_or_else(|| format!("{seconds} is not a duration in seconds"))
    }
}
