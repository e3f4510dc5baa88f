//! What is about to be sent: parameters and bodies, checked against the contract and written for the wire.
//!
//! Sending belongs in `call`, reading the response in `reply`.

pub(crate) mod body;
pub(crate) mod check;
pub(crate) mod draft;
pub(crate) mod form;
pub(crate) mod key;
pub(crate) mod reference;
