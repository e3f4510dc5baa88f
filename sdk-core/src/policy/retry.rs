//! How often a call is attempted.

use std::time::Duration;

use crate::policy::backoff::Backoff;
use crate::policy::define::policy;

policy! {
    /// How often a call is attempted, and how long it waits in between.
    ///
    /// Whether a failure may be retried at all depends on the operation: see [`Safety`](crate::Safety), and
    /// [the guide](crate::guide::time_and_retries) for what is retried.
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
        /// Attempts in all, the first included; 0 counts as 1. 3 by default: two retries outlast a restart behind a load
        /// balancer, and more only prolong an outage.
        attempts: u32 = 3, with_attempts;
        /// The waits between attempts. By default they grow from 200 ms, enough to rebuild a connection while a person waits,
        /// to 5 s, beyond which an error serves the caller better.
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
