//! Conversions between the SDK's and jiff 0.2's types.

use crate::error::Error;
use crate::json::time::{Date, Timestamp, ZonedTime, beyond};

impl From<jiff::Timestamp> for Timestamp {
    /// Converts to UTC. A timestamp before the year 0 is rejected when it is sent.
    fn from(timestamp: jiff::Timestamp) -> Self {
        timestamp.to_string().into()
    }
}

impl TryFrom<&Timestamp> for jiff::Timestamp {
    type Error = Error;

    /// Fails if the string is malformed, has a fraction finer than a nanosecond, or is on the last day of 9999.
    fn try_from(timestamp: &Timestamp) -> Result<Self, Error> {
        let converted = || {
            let (seconds, nanos) = timestamp.since_epoch()?;
            Self::new(seconds, nanos.try_into().ok()?).ok()
        };
        converted().ok_or_else(|| beyond(timestamp.as_str(), "jiff::Timestamp"))
    }
}

impl From<jiff::civil::Date> for Date {
    /// A date before the year 0 is rejected when it is sent.
    fn from(date: jiff::civil::Date) -> Self {
        date.to_string().into()
    }
}

impl TryFrom<&Date> for jiff::civil::Date {
    type Error = Error;

    /// Fails if the string is not a date.
    fn try_from(date: &Date) -> Result<Self, Error> {
        let parsed = date.is_well_formed().then(|| date.as_str().parse().ok());
        parsed
            .flatten()
            .ok_or_else(|| beyond(date.as_str(), "jiff::civil::Date"))
    }
}

impl ZonedTime for jiff::Zoned {
    fn timestamp(&self) -> Timestamp {
        self.timestamp().into()
    }

    fn time_zone(&self) -> Option<&str> {
        self.time_zone().iana_name()
    }
}
