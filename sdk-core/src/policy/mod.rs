//! The policies of calls and token requests: attempts, delays, budgets and limits.
//!
//! This module doesn't decide which failures are retried, and sends nothing.

pub(crate) mod budget;
pub(crate) mod concurrency;
pub(crate) mod random;
pub(crate) mod retry;
