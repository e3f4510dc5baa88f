//! RFC 3339 instants and dates, which keep their text, and their conversions to types of other libraries.
//!
//! Calendar arithmetic does not belong here.

pub(crate) mod date;
#[cfg(feature = "jiff-02")]
pub(crate) mod jiff_02;
pub(crate) mod kept;
pub(crate) mod rfc3339;
pub(crate) mod text;
pub(crate) mod timestamp;
pub(crate) mod zoned;
