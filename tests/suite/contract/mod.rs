//! The contract through the public face: each operation, each rule, each documented failure. What the caller gets
//! counts as much as what the server saw.

mod both;
mod bypass;
mod case;
mod every;
mod filters;
mod lists;
pub(crate) mod operations;
mod rules;
pub(crate) mod world;
