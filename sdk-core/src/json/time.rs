//! RFC 3339 timestamps and dates, which preserve their notation, and their conversions to `SystemTime`.
//!
//! Calendar arithmetic doesn't belong here.

use std::cmp::Ordering;
use std::fmt::{self, Write as _};
use std::hash::{Hash, Hasher};
use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Deserializer};

use crate::error::Error;
use crate::json::rfc3339::{Instant, civil, instant, is_date, is_instant};
use crate::json::text::{Text, impl_text, sliced};
use crate::text::one_line;

/// A type that stores an RFC 3339 string, which may be malformed if it was converted with `from`.
pub trait Rfc3339: AsRef<str> {
    /// The rule for the string, as error messages print it.
    const RULE: &'static str;

    /// Whether the string follows the rule.
    fn is_well_formed(&self) -> bool;
}

/// A point in time, stored as its RFC 3339 string (`date-time`).
///
/// The string is written back unchanged, including its offset, a leap second and any number of digits. Years go up to
/// 9999.
///
/// Parsing is strict. `from` accepts any string, which is checked when it is sent.
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
/// A received timestamp shares the memory of its response, like a [`Text`](crate::Text).
/// `Timestamp::from(timestamp.as_str())` copies it.
///
/// # Equality and order
/// Two notations of the same point in time are equal and have the same hash. A leap second equals the second before it.
/// A malformed string equals only the same string and sorts after all valid timestamps.
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
/// [The guide](crate::guide::records#dates-and-times) lists the types that convert into `Timestamp`.
///
/// `from` converts a [`SystemTime`], and `try_from` converts into a `SystemTime`. The `jiff-02` feature adds the same
/// conversions for `jiff::Timestamp`. A leap second becomes the second before it. A timestamp that the other type
/// cannot represent, for example because of its number of digits, is an error.
#[derive(Clone)]
pub struct Timestamp(Text);

impl Timestamp {
    /// The string as in JSON.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Whether the string follows RFC 3339 strictly. A parsed timestamp always does. A timestamp that was received or
    /// converted with `from` might not, and is then rejected when it is sent.
    #[must_use]
    pub fn is_well_formed(&self) -> bool {
        is_instant(self.as_str().as_bytes())
    }

    /// The key for equality, order and hash. Malformed strings come last.
    fn key(&self) -> Result<Instant<'_>, &[u8]> {
        let text = self.as_str().as_bytes();
        instant(text).ok_or(text)
    }

    /// Seconds and nanoseconds since the epoch. `None` if the string is malformed or more precise than nanoseconds.
    pub(super) fn since_epoch(&self) -> Option<(i64, u32)> {
        let Instant { second, fraction } = instant(self.as_str().as_bytes())?;
        let missing = 9_usize.checked_sub(fraction.len())?;
        let digits = fraction.iter().chain(&[b'0'; 9][..missing]);
        let nanos = digits.fold(0, |nanos, digit| nanos * 10 + u32::from(digit - b'0'));
        Some((second, nanos))
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

impl Rfc3339 for Timestamp {
    const RULE: &'static str = "be an RFC 3339 date-time, such as 2026-01-15T09:00:00Z";

    fn is_well_formed(&self) -> bool {
        self.is_well_formed()
    }
}

impl FromStr for Timestamp {
    type Err = Error;

    /// Parses strictly. The error names the rule and the string.
    fn from_str(text: &str) -> Result<Self, Error> {
        strict(Self::from(text), "Timestamp")
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl_text!(Timestamp: AsRef Debug FromReference FromText Serialize);

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        sliced(deserializer, "an RFC 3339 date-time", |text| {
            instant(text.as_bytes()).is_some()
        })
        .map(Self)
    }
}

impl From<SystemTime> for Timestamp {
    /// Converts to UTC. A time outside the years 0 to 9999 is rejected when it is sent.
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

    /// Fails if the string is malformed or has a fraction finer than a nanosecond.
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

/// A calendar date, stored as its RFC 3339 string (`full-date`).
///
/// Parsing is strict. `from` accepts any string, which is checked when it is sent.
///
/// ```
/// use sdk_core::Date;
///
/// let due: Date = "2026-02-28".parse()?;
/// assert!(due < "2026-03-01".parse()?);
/// assert!("2026-02-29".parse::<Date>().is_err());
/// # Ok::<(), sdk_core::Error>(())
/// ```
///
/// [The guide](crate::guide::records#dates-and-times) lists the types that convert into `Date`.
///
/// The `jiff-02` feature adds `From<jiff::civil::Date>`, and `TryFrom` in the other direction.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date(Text);

impl Date {
    /// The string as in JSON.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Whether the string follows RFC 3339 strictly. A parsed date always does. A date that was received or converted
    /// with `from` might not, and is then rejected when it is sent.
    #[must_use]
    pub fn is_well_formed(&self) -> bool {
        is_date(self.as_str().as_bytes())
    }
}

impl Rfc3339 for Date {
    const RULE: &'static str = "be an RFC 3339 date, such as 2026-01-15";

    fn is_well_formed(&self) -> bool {
        self.is_well_formed()
    }
}

impl FromStr for Date {
    type Err = Error;

    /// Parses strictly. The error names the rule and the string.
    fn from_str(text: &str) -> Result<Self, Error> {
        strict(Self::from(text), "Date")
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl_text!(Date: AsRef Debug FromReference FromText Serialize);

impl<'de> Deserialize<'de> for Date {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        sliced(deserializer, "an RFC 3339 date", |text| {
            is_date(text.as_bytes())
        })
        .map(Self)
    }
}

fn strict<T: Rfc3339>(parsed: T, name: &str) -> Result<T, Error> {
    if parsed.is_well_formed() {
        return Ok(parsed);
    }
    let text = format!("{:?}", parsed.as_ref());
    Err(Error::invalid(name, T::RULE, &text))
}

/// Returns the error for a conversion into a type that cannot represent the string.
pub(super) fn beyond(text: &str, other: &str) -> Error {
    let text = one_line(&format!("{text:?}"));
    Error::value(format!("cannot convert {text} to {other}"))
}

/// A timestamp with its time zone.
///
/// With the `jiff-02` feature, `jiff::Zoned` implements this trait. Without jiff, implement it for your own type:
///
/// ```
/// use sdk_calendar::types::EventCommand;
/// use sdk_core::{Timestamp, ZonedTime};
///
/// /// A local time and the name of its time zone.
/// struct Local(&'static str, &'static str);
///
/// impl ZonedTime for Local {
///     fn timestamp(&self) -> Timestamp {
///         self.0.into()
///     }
///
///     fn time_zone(&self) -> Option<&str> {
///         Some(self.1)
///     }
/// }
///
/// let [start, end] = ["2026-03-02T09:00:00+01:00", "2026-03-02T09:45:00+01:00"];
/// let [start, end] = [start, end].map(|at| Local(at, "Europe/Vienna"));
/// let command = EventCommand::create().between(&start, &end);
/// assert_eq!(command.starts_at, Some("2026-03-02T09:00:00+01:00".into()));
/// assert_eq!(command.timezone.as_deref(), Some("Europe/Vienna"));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a time with a zone",
    label = "not a zoned time",
    note = "jiff 0.2's `Zoned` implements it with the client's feature `jiff-02`, which is off by default"
)]
pub trait ZonedTime {
    /// The timestamp.
    fn timestamp(&self) -> Timestamp;

    /// The IANA name of the time zone, such as `Europe/Berlin`, if it has a name.
    fn time_zone(&self) -> Option<&str>;
}
