//! The number of requests.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use sdk_core::Observer;
use sdk_core::observe::{ExtraHeaders, ObservedAttempt};

/// No examination sends more requests, token requests included.
pub(crate) const MOST: usize = 90;

/// Counts requests.
#[derive(Clone, Default)]
pub(crate) struct Meter(Arc<AtomicUsize>);

impl Meter {
    pub(crate) fn sent(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn count(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether another call stays within the limit. A call may need a token, and after a 401 both are sent again.
    pub(crate) fn may_send(&self) -> bool {
        self.sent() + 4 <= MOST
    }
}

impl Observer for Meter {
    fn attempt_started(&self, _: &ObservedAttempt<'_>, _: &mut ExtraHeaders<'_>) {
        self.count();
    }
}
