//! The time limit of a claim.

use std::time::{Duration, SystemTime};

use tokio::time::Instant;

/// A lease, measured from before the claim by both clocks of this machine. The monotonic clock stops while the machine
/// is suspended, and the system's clock can be set back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lease {
    since: (Instant, SystemTime),
    length: Duration,
}

impl Lease {
    pub(crate) fn begin(length: Duration) -> Self {
        Self {
            since: (Instant::now(), SystemTime::now()),
            length,
        }
    }

    /// Returns the time since the lease began, by the clock that is further ahead.
    pub(crate) fn elapsed(&self) -> Duration {
        let wall = self.since.1.elapsed().unwrap_or_default();
        self.since.0.elapsed().max(wall)
    }

    /// Returns the time limit for a response, so that it can still be recorded before the lease expires.
    pub(crate) fn left_for_sending(&self) -> Duration {
        (self.length / 4 * 3).saturating_sub(self.elapsed())
    }
}
