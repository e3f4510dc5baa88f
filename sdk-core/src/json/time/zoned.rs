use crate::json::time::timestamp::Timestamp;

/// An instant with its time zone.
///
/// The default feature `jiff-02` implements it for `jiff::Zoned`. Implement it to use the type of another library.
pub trait ZonedTime {
    /// The instant.
    fn timestamp(&self) -> Timestamp;

    /// The IANA name of the time zone, such as `Europe/Berlin`, if it has one.
    fn time_zone(&self) -> Option<&str>;
}
