//! Tokens: obtained once for all callers, kept while they live, renewed before they die. The guide says how they behave:
//! `docs/tokens.md`.
//!
//! Nothing here knows calls. Whether a call that met a 401 is sent again is decided in `call`.

pub(crate) mod bearer;
pub(crate) mod cache;
pub(crate) mod credentials;
pub(crate) mod entry;
pub(crate) mod error;
pub(crate) mod exchange;
pub(crate) mod flight;
pub(crate) mod form;
pub(crate) mod jwt;
pub(crate) mod lifetime;
pub(crate) mod policy;
pub(crate) mod rejection;
pub(crate) mod renewal;
pub(crate) mod reply;
pub(crate) mod source;
pub(crate) mod state;
pub(crate) mod transport;

#[cfg(test)]
mod tests;
