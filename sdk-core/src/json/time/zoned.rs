use crate::json::time::timestamp::Timestamp;

/// An instant together with the time zone in which it is meant.
///
/// `jiff::Zoned` is one with the feature `jiff-02`, which is on by default. Implement it for the type of another library
/// to hand in its values.
pub trait ZonedTime {
    /// The instant.
    fn timestamp(&self) -> Timestamp;

    /// The IANA name of the time zone, such as `Europe/Berlin`, if it has one.
    fn time_zone(&self) -> Option<&str>;
}
