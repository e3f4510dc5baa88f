use crate::json::time::timestamp::Timestamp;

/// An instant with its time zone.
///
/// The feature `jiff-02` implements it for `jiff::Zoned`. Without jiff, implement it for a type of yours:
///
/// ```
/// use sdk_calendar::types::EventCommand;
/// use sdk_core::{Timestamp, ZonedTime};
///
/// /// An instant, and where its clock hangs.
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
    message = "`{Self}` is no time with a zone",
    label = "not a zoned time",
    note = "`Zoned` of jiff 0.2 is one with the feature `jiff-02` of the client, which is off by default"
)]
pub trait ZonedTime {
    /// The instant.
    fn timestamp(&self) -> Timestamp;

    /// The IANA name of the time zone, such as `Europe/Berlin`, if it has one.
    fn time_zone(&self) -> Option<&str>;
}
