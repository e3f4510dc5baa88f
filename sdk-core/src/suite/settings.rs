//! Limits and policies, with the reason for each default.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use crate::options::{ExactReplay, SchemaPolicy, ScopePolicy};
use crate::policy::retry::RetryPolicy;

/// Limits and policies of a suite. The builder sets each, and most can be set per call too.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Settings {
    pub(crate) attempt_timeout: Duration,
    pub(crate) deadline: Duration,
    pub(crate) retry: RetryPolicy,
    pub(crate) max_response_bytes: usize,
    pub(crate) max_response_elements: usize,
    pub(crate) schema_policy: SchemaPolicy,
    /// `None` unless the caller sets it.
    pub(crate) exact_replay: Option<ExactReplay>,
    pub(crate) scope_policy: ScopePolicy,
    /// How many attempts of an application may be in flight at once; `None` for any number.
    pub(crate) max_in_flight: Option<usize>,
}

impl Settings {
    /// Shares the defaults, because a process may have many suites.
    pub(crate) fn shared(self) -> Arc<Self> {
        static DEFAULT: LazyLock<Arc<Settings>> = LazyLock::new(Arc::default);
        if self == **DEFAULT {
            return Arc::clone(&DEFAULT);
        }
        Arc::new(self)
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            // A page or a command takes far less, and a connection that hangs is given up in time for a retry.
            attempt_timeout: Duration::from_secs(10),
            // Enough for three attempts with their waits, within the usual request limit of a caller (60 s).
            deadline: Duration::from_secs(30),
            retry: RetryPolicy::default(),
            // Far above the largest documented reply, 200 timeline entries.
            max_response_bytes: 16 * 1024 * 1024,
            // Many times those of the largest documented reply, and at worst a few tens of mebibytes in memory.
            max_response_elements: 100_000,
            schema_policy: SchemaPolicy::Refuse,
            exact_replay: None,
            scope_policy: ScopePolicy::Send,
            max_in_flight: None,
        }
    }
}
