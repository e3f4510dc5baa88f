//! How often, how long, and when again: the rules that calls and token exchanges share.
//!
//! Nothing here knows what is repeated, or sends anything.

pub(crate) mod backoff;
pub(crate) mod budget;
pub(crate) mod chance;
pub(crate) mod define;
pub(crate) mod retry;
pub(crate) mod retry_after;
