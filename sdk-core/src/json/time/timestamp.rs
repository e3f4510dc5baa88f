use std::cmp::Ordering;
use std::fmt::Write as _;
use std::hash::{Hash, Hasher};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::error::Error;
use crate::json::time::kept::{beyond, kept_text};
use crate::json::time::rfc3339::{Instant, civil, instant, is_instant};
use crate::json::time::text::Text;

/// An instant, by its text of RFC 3339 (`date-time`).
///
/// The text is kept and written back as it came, with its offset, with a leap second, with any number of digits, and up
/// to the end of the year 9999.
///
/// It is parsed strictly. Like a reference it is also made from any text with `from`, and then checked when it is sent.
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
/// They are those of the instants: two notations of one instant are equal, and have the same hash. A leap second lies
/// between the second before it and the one after it. A text that is not an instant is equal to the same text only, and
/// comes after all instants.
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
/// It is made `from` a [`SystemTime`] and turns into one with `try_from`; so it does with `jiff::Timestamp` if the feature
/// `jiff-02` is on, which it is by default. A leap second then becomes the second before it. What the other type cannot
/// hold, such as digits beyond its precision, is an error.
#[derive(Clone)]
pub struct Timestamp(pub(super) Text);

kept_text!(
    Timestamp,
    rule: "be a date-time of RFC 3339, such as 2026-01-15T09:00:00Z",
    expected: "a date-time of RFC 3339",
    given: is_instant,
    received: is_received
);

fn is_received(text: &[u8]) -> bool {
    instant(text).is_some()
}

/// What equality, order and hash go by.
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

    /// Seconds since the beginning of 1970 and nanoseconds; none if it is not an instant or a finer one.
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

impl PartialEq for Timestamp {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Timestamp {}

impl PartialOrd for Timestamp {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Timestamp {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl Hash for Timestamp {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

impl From<SystemTime> for Timestamp {
    /// In UTC. One outside of the years 0 to 9999 is refused when it is sent.
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

    /// Fails for a text that is not an instant, and for a fraction finer than a nanosecond.
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

impl TryFrom<Timestamp> for SystemTime {
    type Error = Error;

    fn try_from(timestamp: Timestamp) -> Result<Self, Error> {
        Self::try_from(&timestamp)
    }
}
