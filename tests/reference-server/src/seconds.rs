//! Durations in JSON: a number of seconds, fractions allowed.

use std::time::Duration;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Writes a duration.
pub(crate) fn serialize<S: Serializer>(duration: &Duration, to: S) -> Result<S::Ok, S::Error> {
    duration.as_secs_f64().serialize(to)
}

/// Reads a duration; one that is negative, or longer than a clock counts, is refused.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
    let seconds = f64::deserialize(from)?;
    Duration::try_from_secs_f64(seconds)
        .ok()
        .filter(|duration| i64::try_from(duration.as_millis()).is_ok())
        .ok_or_else(|| D::Error::custom(format!("{seconds} is no number of seconds")))
}

/// The same for a duration that may be left out.
pub(crate) mod optional {
    use std::time::Duration;

    use serde::{Deserializer, Serialize, Serializer};

    #[allow(clippy::ref_option, reason = "serde passes a reference")]
    pub(crate) fn serialize<S: Serializer>(
        duration: &Option<Duration>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        duration
            .map(|duration| duration.as_secs_f64())
            .serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Duration>, D::Error> {
        super::deserialize(from).map(Some)
    }
}
