//! When and how long to wait before another attempt.

use std::time::Duration;

use crate::policy::backoff::Backoff;
use crate::policy::define::policy;

policy! {
    /// How often a call is attempted and how long it waits in between.
    ///
    /// Whether a failure may be repeated at all depends on the operation: see [`Safety`](crate::Safety).
    ///
    /// ```
    /// use std::time::Duration;
    /// use sdk_core::{Backoff, RetryPolicy};
    ///
    /// let backoff = Backoff::new(Duration::from_millis(200), Duration::from_secs(20));
    /// let patient = RetryPolicy::default().with_attempts(6).with_backoff(backoff);
    /// let once = RetryPolicy::none();
    /// # let _ = (patient, once);
    /// ```
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct RetryPolicy {
        /// Attempts in all, the first included; 0 counts as 1. By default 3: two repeats ride out a restart behind a load
        /// balancer, and more only prolong an outage.
        attempts: u32 = 3, with_attempts;
        /// The waits between attempts. By default from 200 ms, in which a connection is rebuilt while a person waits, to 5 s,
        /// beyond which a caller is better served by an error.
        backoff: Backoff = Backoff::new(Duration::from_millis(200), Duration::from_secs(5)), with_backoff;
    }
}

impl RetryPolicy {
    /// One attempt only.
    #[must_use]
    pub fn none() -> Self {
        Self::default().with_attempts(1)
    }
}
