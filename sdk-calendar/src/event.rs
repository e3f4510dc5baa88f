//! Handwritten methods of the generated event command, for zoned times and an explicit null.

use sdk_core::{RawJson, Record, ZonedTime};

use crate::types::{EventCommand, EventOperation};

impl EventCommand {
    /// Returns a command that creates an event. The other methods set its fields.
    ///
    /// ```
    /// use sdk_calendar::types::EventCommand;
    ///
    /// let command = EventCommand::create()
    ///     .title("Kick-off")
    ///     .starts_at("2026-03-02T09:00:00+01:00")
    ///     .ends_at("2026-03-02T09:45:00+01:00")
    ///     .timezone("Europe/Vienna");
    /// # let text = sdk_calendar::RawJson::encode(&command)?;
    /// # assert_eq!(text.as_str(), r#"{"operation":"create","title":"Kick-off","startsAt":"2026-03-02T09:00:00+01:00","endsAt":"2026-03-02T09:45:00+01:00","timezone":"Europe/Vienna"}"#);
    /// # Ok::<(), sdk_calendar::Error>(())
    /// ```
    ///
    /// # Updates and cancellations
    /// Updates and cancellations share this body, but the contract documents neither their value of `operation` nor the
    /// field that identifies the event. If you know both, set them:
    ///
    /// ```
    /// use sdk_calendar::types::EventCommand;
    ///
    /// let update = EventCommand::new()
    ///     .operation("update".into())
    ///     .member("publicReference", "EVT-0123456789AB")
    ///     .member("expectedRecordVersion", 3)
    ///     .title("Kick-off, moved");
    /// # let text = sdk_calendar::RawJson::encode(&update)?;
    /// # assert_eq!(text.as_str(), r#"{"operation":"update","title":"Kick-off, moved","publicReference":"EVT-0123456789AB","expectedRecordVersion":3}"#);
    /// # Ok::<(), sdk_calendar::Error>(())
    /// ```
    #[must_use]
    pub fn create() -> Self {
        Self::new().operation(EventOperation::Create)
    }

    /// Sets start and end, and the time zone of the start.
    ///
    /// Accepts `jiff::Zoned` (feature `jiff-02`) or your own type that implements [`ZonedTime`].
    ///
    /// ```
    /// use sdk_calendar::types::EventCommand;
    ///
    /// let start = "2026-03-02T09:00:00Z".parse::<jiff::Timestamp>()?.to_zoned(jiff::tz::TimeZone::UTC);
    /// let end = start.checked_add(jiff::SignedDuration::from_mins(45))?;
    /// let command = EventCommand::create().title("Kick-off").between(&start, &end);
    /// assert_eq!(command.timezone.as_deref(), Some("UTC"));
    /// # Ok::<(), jiff::Error>(())
    /// ```
    ///
    /// Jiff's times are sent in UTC, and the zone as an IANA name such as `Europe/Berlin`. The contract doesn't
    /// document the format of `timezone` (assumption A45). A start without a named zone leaves `timezone` unset.
    #[must_use]
    pub fn between(mut self, start: &impl ZonedTime, end: &impl ZonedTime) -> Self {
        self.starts_at = Some(start.timestamp());
        self.ends_at = Some(end.timestamp());
        if let Some(name) = start.time_zone() {
            self.timezone = Some(name.to_owned());
        }
        self
    }

    /// Sends `recurrence` as an explicit null, for an event that occurs once.
    ///
    /// An unset `recurrence` is not sent. The contract doesn't document whether an update then clears it.
    #[must_use]
    pub fn no_recurrence(mut self) -> Self {
        self.recurrence = Some(Record::from(RawJson::null()));
        self
    }
}
