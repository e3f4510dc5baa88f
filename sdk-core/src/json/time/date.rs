use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

use crate::json::time::kept::kept_text;
use crate::json::time::rfc3339::is_date;
use crate::json::time::text::Text;

/// A day of the calendar, by its text of RFC 3339 (`full-date`).
///
/// It is parsed strictly. Like a reference it is also made from any text with `from`, and then checked when it is sent.
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
/// With the feature `jiff-02`, which is on by default, it is made `from` a `jiff::civil::Date` and turns into one with
/// `try_from`.
#[derive(Clone)]
pub struct Date(pub(super) Text);

kept_text!(
    Date,
    rule: "be a date of RFC 3339, such as 2026-01-15",
    expected: "a date of RFC 3339",
    given: is_date,
    received: is_date
);

// The order of their texts is that of dates.

impl PartialEq for Date {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Date {}

impl PartialOrd for Date {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Date {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_str().cmp(other.as_str())
    }
}

impl Hash for Date {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}
