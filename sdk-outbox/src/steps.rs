//! The steps at which the tests kill or stop a worker. Outside tests, this does nothing.

/// The worker has come so far.
#[cfg(not(all(test, feature = "sqlite", feature = "postgres")))]
pub(crate) fn reached(_step: &str) {}

#[cfg(all(test, feature = "sqlite", feature = "postgres"))]
pub(crate) use crate::tests::kills::reached;
