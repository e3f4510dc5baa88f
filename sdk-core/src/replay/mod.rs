//! Replay: sending a stored command again exactly, and the rule that says whether and when.
//!
//! The stored command itself belongs in `command`.

pub(crate) mod rule;
pub(crate) mod send;
pub(crate) mod state;
pub(crate) mod verify;
