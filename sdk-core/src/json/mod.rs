//! JSON types that preserve undocumented data: every digit, in the order received, without floating-point conversion.
//!
//! Module `request` checks values before they are sent.

pub(crate) mod decode_context;
pub(crate) mod explain;
pub(crate) mod fast;
pub(crate) mod members;
pub(crate) mod number;
pub(crate) mod object;
pub(crate) mod raw;
pub(crate) mod record;
mod rfc3339;
pub(crate) mod text;
pub(crate) mod time;
#[cfg(feature = "jiff-02")]
mod time_jiff;
