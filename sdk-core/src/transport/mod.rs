//! The way to the network: the HTTP clients of a suite, and what is known of a request that got no reply.
//!
//! Nothing here knows operations, tokens or retries.

mod clients;
mod connecting;
mod proxy;

pub(crate) use clients::{Clients, Pings};
pub(crate) use connecting::Sending;
