//! The contract through the public API: each operation, each rule, each documented failure. The tests check the
//! caller's result and the requests that the server received.

mod case;
mod every;
mod filters;
mod lists;
pub(crate) mod operations;
mod rules;
pub(crate) mod setup;
