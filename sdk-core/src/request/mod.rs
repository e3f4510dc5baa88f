//! Requests: parameters and bodies, checked against the contract and serialized.
//!
//! Module `call` sends them, and module `reply` reads the response.

pub(crate) mod body;
pub(crate) mod check;
pub(crate) mod draft;
pub(crate) mod form;
pub(crate) mod key;
pub(crate) mod reference;
