//! Attempts, waits, budgets and caps: the rules that calls and token exchanges follow.
//!
//! Nothing here knows what is retried, or sends anything.

pub(crate) mod budget;
pub(crate) mod concurrency;
pub(crate) mod random;
pub(crate) mod retry;
