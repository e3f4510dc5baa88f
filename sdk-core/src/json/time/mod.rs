//! Instants and dates as RFC 3339 writes them: each keeps its text, and no arithmetic is done with it.
//!
//! A calendar does not belong here; the conversions to types that have one do.

pub(crate) mod date;
#[cfg(feature = "jiff-02")]
pub(crate) mod jiff_02;
pub(crate) mod kept;
pub(crate) mod rfc3339;
pub(crate) mod text;
pub(crate) mod timestamp;
pub(crate) mod zoned;
