//! What is about to be sent: its parameters and body, checked against the contract and written for the wire.
//!
//! Nothing here sends, and nothing here reads what came back.

pub(crate) mod body;
pub(crate) mod check;
pub(crate) mod draft;
pub(crate) mod form;
pub(crate) mod key;
pub(crate) mod reference;
