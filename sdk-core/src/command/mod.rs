//! The values that make a command safe to repeat: its key, and the form in which it can be stored.
//!
//! Nothing here sends. Sending a stored command again is the business of `replay`.

pub(crate) mod key;
pub(crate) mod prepared;
