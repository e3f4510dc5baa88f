//! Obtains each token once for all callers, caches it, and renews it before it expires. See `docs/authentication.md`.
//!
//! This module doesn't know calls. The module `call` decides whether to resend after a 401.

pub(crate) mod bearer;
pub(crate) mod cache;
pub(crate) mod credentials;
pub(crate) mod entry;
pub(crate) mod error;
pub(crate) mod exchange;
pub(crate) mod lifetime;
pub(crate) mod policy;
pub(crate) mod rejection;
pub(crate) mod source;
pub(crate) mod state;
pub(crate) mod wire;

#[cfg(test)]
mod search;
#[cfg(test)]
mod tests;
