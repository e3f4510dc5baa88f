//! The way to the network: the HTTP clients of a suite, and what is known of a request that got no reply.
//!
//! Nothing here knows operations, tokens or retries.

pub(crate) mod begun;
pub(crate) mod body;
pub(crate) mod cause;
pub(crate) mod clients;
pub(crate) mod loopback;
mod proxy;
