//! Token exchange and tokens.

mod basic;
pub(crate) mod exchange;
mod form;
pub(crate) mod jwt;
mod refusal;
pub(crate) mod registry;
