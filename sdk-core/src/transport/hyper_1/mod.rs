//! A transport over the pool of hyper 1: what reqwest does around the same pool is left out. Nothing outside this room knows
//! it, nor does this room know suites.

mod builder;
mod client;
mod connector;
mod sending;

pub use builder::HyperClientBuilder;
pub use client::HyperClient;
pub(super) use client::HyperTransport;

/// Whether suites use it unless they are told otherwise.
pub(super) const IS_USUAL: bool =
    cfg!(feature = "hyper-1-default") || cfg!(not(feature = "reqwest-013"));
