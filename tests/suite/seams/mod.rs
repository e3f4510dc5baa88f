//! Extension points: transports, observers, test values, and several installations that share a transport.

pub(crate) mod installations;
pub(crate) mod observe;
pub(crate) mod transport;
mod values;
