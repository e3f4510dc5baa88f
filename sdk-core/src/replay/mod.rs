//! Replay: sending a stored command again exactly.
//!
//! The stored command itself belongs in `command`; whether and when to send it, in the crate `sdk-outbox`.

pub(crate) mod send;
pub(crate) mod verify;
