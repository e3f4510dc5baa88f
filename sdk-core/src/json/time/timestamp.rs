use std::fmt::Write as _;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::error::Error;
use crate::json::time::kept::{beyond, kept_text, try_from_value};
use crate::json::time::rfc3339::{Instant, civil, instant, is_instant};
use crate::json::time::text::Text;

/// An instant, kept as its RFC 3339 text (`date-time`).
///
/// The text is written back unchanged: offset, leap second, any number of digits, up to the end of the year 9999.
///
/// Parsing is strict. `from` takes any text, which is checked when it is sent.
///
/// ```
/// use sdk_core::Timestamp;
///
/// let start: Timestamp = "2026-03-02T09:00:00+01:00".parse()?;
/// assert_eq!(start.as_str(), "2026-03-02T09:00:00+01:00");
/// assert!("2026-03-02T09:00:00".parse::<Timestamp>().is_err());
/// # Ok::<(), sdk_core::Error>(())
/// ```
///
/// # Equality and order
/// Two notations of one instant are equal and have the same hash. A leap second sorts between the seconds around it. A text
/// that is not an instant equals only the same text and sorts after all instants.
///
/// ```
/// # use sdk_core::Timestamp;
/// let start: Timestamp = "2026-03-02T09:00:00+01:00".parse()?;
/// assert_eq!(start, "2026-03-02T08:00:00.000Z".parse()?);
/// assert!(start < "2026-03-02T09:00:00Z".parse()?);
/// # Ok::<(), sdk_core::Error>(())
/// ```
///
/// # Other types
/// [The guide](crate::guide::reading#dates-and-times) lists what converts into it.
///
/// `from` takes a [`SystemTime`], and `try_from` converts to one; the feature `jiff-02` adds the same for
/// `jiff::Timestamp`. A leap second becomes the second before it. A value that the other type cannot represent, such as one
/// with more digits, is an error.
#[derive(Clone)]
pub struct Timestamp(pub(super) Text);

kept_text!(
    Timestamp,
    rule: "be an RFC 3339 date-time, such as 2026-01-15T09:00:00Z",
    expected: "an RFC 3339 date-time",
    given: is_instant,
    received: is_received
);

fn is_received(text: &[u8]) -> bool {
    instant(text).is_some()
}

/// Determines equality, order and hash.
#[derive(PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Key<'a> {
    Instant(Instant<'a>),
    Other(&'a [u8]),
}

impl Timestamp {
    fn key(&self) -> Key<'_> {
        let text = self.0.as_bytes();
        instant(text).map_or(Key::Other(text), Key::Instant)
    }

    /// Seconds and nanoseconds since the beginning of 1970; `None` if it is not an instant, or finer than a nanosecond.
    pub(super) fn since_epoch(&self) -> Option<(i64, u32)> {
        let Instant {
            minute,
            second,
            fraction,
        } = instant(self.0.as_bytes())?;
        let missing = 9_usize.checked_sub(fraction.len())?;
        let digits = fraction.iter().chain(&[b'0'; 9][..missing]);
        let nanos = digits.fold(0, |nanos, digit| nanos * 10 + u32::from(digit - b'0'));
        Some((minute * 60 + i64::from(second.min(59)), nanos))
    }
}

impl From<SystemTime> for Timestamp {
    /// In UTC. An instant outside the years 0 to 9999 is refused when it is sent.
    fn from(time: SystemTime) -> Self {
        let whole = |duration: Duration| i64::try_from(duration.as_secs()).unwrap_or(i64::MAX);
        let (seconds, nanos) = match time.duration_since(UNIX_EPOCH) {
            Ok(since) => (whole(since), since.subsec_nanos()),
            Err(before) => match (whole(before.duration()), before.duration().subsec_nanos()) {
                (seconds, 0) => (-seconds, 0),
                (seconds, nanos) => (-seconds - 1, 1_000_000_000 - nanos),
            },
        };
        let (year, month, day) = civil(seconds.div_euclid(86_400));
        let second = seconds.rem_euclid(86_400);
        let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
        let mut text = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}");
        if nanos > 0 {
            let fraction = format!("{nanos:09}");
            let _ = write!(text, ".{}", fraction.trim_end_matches('0'));
        }
        text.push('Z');
        text.into()
    }
}

impl TryFrom<&Timestamp> for SystemTime {
    type Error = Error;

    /// Fails if the text is not an instant, or has a fraction finer than a nanosecond.
    fn try_from(timestamp: &Timestamp) -> Result<Self, Error> {
        let converted = || {
            let (seconds, nanos) = timestamp.since_epoch()?;
            let whole = Duration::from_secs(seconds.unsigned_abs());
            let second = if seconds < 0 {
                UNIX_EPOCH.checked_sub(whole)?
            } else {
                UNIX_EPOCH.checked_add(whole)?
            };
            second.checked_add(Duration::from_nanos(nanos.into()))
        };
        converted().ok_or_else(|| beyond(timestamp.as_str(), "SystemTime"))
    }
}

try_from_value!(Timestamp => SystemTime);
