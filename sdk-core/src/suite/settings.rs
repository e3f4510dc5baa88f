//! Limits and policies, with the reason of each default.

use std::time::Duration;

use crate::options::{ExactReplay, SchemaPolicy, ScopePolicy};
use crate::policy::retry::RetryPolicy;

/// Limits and policies of a suite. Each can be set on the builder, most of them per call too.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) attempt_timeout: Duration,
    pub(crate) deadline: Duration,
    pub(crate) retry: RetryPolicy,
    pub(crate) max_response_bytes: usize,
    pub(crate) max_response_elements: usize,
    pub(crate) schema_policy: SchemaPolicy,
    /// What the caller said, if anything.
    pub(crate) exact_replay: Option<ExactReplay>,
    pub(crate) scope_policy: ScopePolicy,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            // A bounded page or one command answers in far less; a connection that hangs is given up in time to retry.
            attempt_timeout: Duration::from_secs(10),
            // Three attempts with their waits fit, and a caller's own request limit (commonly 60 s) is not exceeded.
            deadline: Duration::from_secs(30),
            retry: RetryPolicy::default(),
            // The largest documented reply, 200 timeline entries, stays far below.
            max_response_bytes: 16 * 1024 * 1024,
            // Many times what the largest documented reply may have; in memory a few tens of mebibytes at the very worst.
            max_response_elements: 100_000,
            schema_policy: SchemaPolicy::Refuse,
            exact_replay: None,
            scope_policy: ScopePolicy::Send,
        }
    }
}
