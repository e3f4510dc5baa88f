//! Attempts, waits, budgets and caps: the rules that calls and token exchanges follow.
//!
//! Nothing here knows what is retried, or sends anything.

pub(crate) mod backoff;
pub(crate) mod budget;
pub(crate) mod chance;
pub(crate) mod define;
pub(crate) mod in_flight;
pub(crate) mod retry;
pub(crate) mod retry_after;
