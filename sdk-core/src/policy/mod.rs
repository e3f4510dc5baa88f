//! Attempts, waits and budgets: the rules of retrying that calls and token exchanges share.
//!
//! Nothing here knows what is retried, or sends anything.

pub(crate) mod backoff;
pub(crate) mod budget;
pub(crate) mod chance;
pub(crate) mod define;
pub(crate) mod retry;
pub(crate) mod retry_after;
