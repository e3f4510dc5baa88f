//! The places where a caller's code takes part: transports, observers, test values, and several installations that share
//! one transport.

pub(crate) mod installations;
pub(crate) mod observe;
pub(crate) mod transport;
mod values;
