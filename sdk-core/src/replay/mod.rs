//! Sending a stored command again, and the rule that says whether and when.
//!
//! The values themselves are in `command`.

pub(crate) mod rule;
pub(crate) mod send;
pub(crate) mod verify;
