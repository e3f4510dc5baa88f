//! Token exchange and tokens.

mod basic;
pub(crate) mod discovery;
pub(crate) mod exchange;
pub(crate) mod jwt;
pub(crate) mod key;
pub(crate) mod registry;
