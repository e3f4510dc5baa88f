use crate::json::time::kept::kept_text;
use crate::json::time::rfc3339::is_date;
use crate::json::time::text::Text;

/// A calendar date, kept as its RFC 3339 text (`full-date`).
///
/// Parsing is strict. `from` takes any text, which is checked when it is sent.
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
/// [The guide](crate::guide::reading#dates-and-times) lists what converts into it.
///
/// The feature `jiff-02` adds `From<jiff::civil::Date>`, and `TryFrom` in the other direction.
#[derive(Clone)]
pub struct Date(pub(super) Text);

kept_text!(
    Date,
    rule: "be an RFC 3339 date, such as 2026-01-15",
    expected: "an RFC 3339 date",
    given: is_date,
    received: is_date
);

impl Date {
    /// Texts of dates sort like the dates.
    fn key(&self) -> &str {
        self.as_str()
    }
}
