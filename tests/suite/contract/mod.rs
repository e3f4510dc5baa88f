//! The contract through the public face: each operation, each rule, each documented failure. What the caller gets
//! counts as much as what the server saw.

mod both;
mod bypass;
mod case;
mod conflicts;
mod cursors;
mod defaults;
mod every;
mod filters;
mod keys;
mod listing;
pub(crate) mod operations;
mod rules;
mod tokens;
mod walks;
pub(crate) mod world;
