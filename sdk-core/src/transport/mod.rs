//! The way to the network: the HTTP clients of a suite, and what is known of a request that got no reply.
//!
//! Nothing here knows operations, tokens or retries.

mod begun;
mod clients;
mod proxy;

pub(crate) use begun::Begun;
pub(crate) use clients::{Clients, Waits};
