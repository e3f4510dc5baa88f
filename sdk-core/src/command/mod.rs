//! Idempotency keys and prepared commands, which make a command safe to resend.
//!
//! Nothing here sends. Module `replay` sends stored commands.

pub(crate) mod key;
pub(crate) mod prepared;
